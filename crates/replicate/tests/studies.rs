//! All five studies: complete, every finding computed or given a reason, wrong figures noticed, and
//! more tables without more code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_replicate::{
    Agreement, Cell, Check, Claim, How, Published, ReplicateTable, STUDIES, Value, embedded,
    replicate,
};

fn study(name: &str) -> Published {
    Published::read(embedded(name).unwrap()).unwrap()
}

fn tables(study: &Published) -> ReplicateTable {
    replicate(study, None, None).unwrap()
}

fn agreement(table: &ReplicateTable, id: &str) -> Agreement {
    table
        .findings
        .iter()
        .chain(&table.checks)
        .find(|row| row.id == id)
        .unwrap()
        .recomputed
        .agreement
}

#[test]
fn every_finding_is_there_and_computed_or_says_why_not() {
    // Number of claims collected from each publication.
    let claims = [
        ("nfs-datastore", 53),
        ("tr3808", 56),
        ("vsan", 59),
        ("virtual-physical", 50),
        ("mpls-servers", 48),
    ];
    assert_eq!(claims.len(), STUDIES.len());
    for (name, count) in claims {
        let table = tables(&study(name));
        assert_eq!(table.study.name, name);
        assert_eq!(table.findings.len(), count, "{name}");
        let tally = table.summary;
        let sum =
            tally.agree + tally.agree_within_rounding + tally.do_not_follow + tally.not_testable;
        assert_eq!(sum, count, "{name}");
        for row in table.findings.iter().chain(&table.checks) {
            let recomputed = &row.recomputed;
            match recomputed.agreement {
                Agreement::NotTestable => {
                    assert!(
                        recomputed.value.is_none() && recomputed.reason.len() > 8,
                        "{}",
                        row.id
                    );
                }
                Agreement::DoesNotFollow => assert!(!recomputed.reason.is_empty(), "{}", row.id),
                _ => assert!(recomputed.value.is_some() && recomputed.how.is_some(), "{}", row.id),
            }
        }
        assert!(table.study.weak.is_some() && table.study.sound.is_some(), "{name}");
    }
}

#[test]
fn what_does_not_follow_in_each_study() {
    let expected: [(&str, &[&str]); 5] = [
        (
            "nfs-datastore",
            &[
                "nfs-c-small-nfs-large-local",
                "nfs-law-network",
                "nfs-law-network-1mb",
                "nfs-law-nas-ports",
                "nfs-law-memory",
                "nfs-law-first-row",
            ],
        ),
        ("tr3808", &["tr3808-1.1-a", "tr3808-law-drives"]),
        (
            "vsan",
            &[
                "vsan-4.1.3-c",
                "vsan-law-little",
                "vsan-law-size-order",
                "vsan-law-unit",
                "vsan-law-disks",
            ],
        ),
        (
            "virtual-physical",
            &["vp-q3", "vp-law-mbps-phys4", "vp-law-mbps-sd-phys4", "vp-law-range"],
        ),
        ("mpls-servers", &["mpls-law-ftp-size", "mpls-law-ftp-rate", "mpls-law-link"]),
    ];
    for (name, ids) in expected {
        let table = tables(&study(name));
        let missing: Vec<&str> = table
            .findings
            .iter()
            .chain(&table.checks)
            .filter(|row| row.recomputed.agreement == Agreement::DoesNotFollow)
            .map(|row| row.id.as_str())
            .collect();
        assert_eq!(missing, ids, "{name}");
    }
}

#[test]
fn the_percentages_of_the_nfs_study_are_cut() {
    let table = tables(&study("nfs-datastore"));
    let how = |id: &str| table.findings.iter().find(|row| row.id == id).unwrap().recomputed.how;
    // 2.1257 would be 2.13, 285.1292 would be 285.13 and 45.0193 would be 45.02.
    assert_eq!(how("nfs-t05-pct"), Some(How::Truncated));
    assert_eq!(how("nfs-t10-pct"), Some(How::Truncated));
    assert_eq!(how("nfs-t04-pct"), Some(How::Truncated));
    assert_eq!(how("nfs-t01-pct"), Some(How::Rounded));
}

/// Corrupts each printed measurement of a study in turn by changing one digit. Returns the cells
/// whose change made no difference to any row of the table.
fn unnoticed(name: &str, tables_of_data: &[&str]) -> Vec<String> {
    let original = study(name);
    let before = tables(&original);
    let mut unnoticed = Vec::new();
    for table in 0..original.tables.0.len() {
        let table_name = original.tables.0[table].name.clone();
        if !tables_of_data.contains(&table_name.as_str()) {
            continue;
        }
        for row in 0..original.tables.0[table].rows.len() {
            for column in 0..original.tables.0[table].columns.len() {
                let mut study = original.clone();
                let column_name = study.tables.0[table].columns[column].name.clone();
                if original.tables.0[table].columns[column].exact {
                    // Counts and settings are not measurements.
                    continue;
                }
                let Cell::Number(printed) = &mut study.tables.0[table].rows[row][column] else {
                    continue;
                };
                // A misprint in the first digit.
                printed.value = if printed.value == 0.0 { 1.0 } else { printed.value * 1.1 };
                let noticed = match replicate(&study, None, None) {
                    Ok(after) => before
                        .findings
                        .iter()
                        .chain(&before.checks)
                        .zip(after.findings.iter().chain(&after.checks))
                        .any(|(before, after)| {
                            before.recomputed.agreement != after.recomputed.agreement
                        }),
                    Err(_) => true,
                };
                if !noticed {
                    unnoticed.push(format!("{table_name}.{column_name} row {}", row + 1));
                }
            }
        }
    }
    unnoticed
}

#[test]
fn a_wrong_figure_in_a_table_is_noticed() {
    // Every time of the NFS study is in an average with eight printed digits.
    let tables =
        ["T01", "T02", "T03", "T04", "T05", "T06", "T09", "T10", "T11", "T12", "T13", "T14"];
    assert_eq!(unnoticed("nfs-datastore", &tables), [] as [&str; 0]);
    // Table 3 has medians and standard errors that enter nothing else, and ranges with room.
    let missed = unnoticed("virtual-physical", &["table3"]);
    let expected = |cell: &String| {
        ["median", "range", "se ", "variance"].iter().any(|part| cell.contains(part))
    };
    assert!(missed.iter().all(expected), "{missed:?}");
    assert_eq!(unnoticed("vsan", &["baseline", "table6", "table7"]), [] as [&str; 0]);
}

#[test]
fn a_wrong_claim_is_noticed() {
    for (name, _) in STUDIES {
        let original = study(name);
        for index in 0..original.findings.len() {
            let mut study = original.clone();
            let finding = &mut study.findings[index];
            let Check::Compute(computation) = &finding.check else { continue };
            let Claim::Number(printed) = &mut finding.claim else { continue };
            let computed = {
                let mut scope = stormeter_replicate::Scope::new(&original.tables);
                computation.exact.evaluate(&mut scope).unwrap()
            };
            // Two units in the last place, which neither rounding nor truncation gives, away from what is computed: rounded
            // inputs can be as far off.
            let is_below = matches!(computed, Value::Number(computed) if printed.value < computed);
            let units = if is_below { -2.0 } else { 2.0 };
            printed.value += units * printed.last_unit();
            let id = finding.id.clone();
            let after = agreement(&tables(&study), &id);
            let is_exact = matches!(computed, Value::Truth(_));
            assert!(
                after == Agreement::DoesNotFollow
                    || after == Agreement::AgreesWithinRounding
                    || is_exact,
                "{id}"
            );
        }
    }
}

#[test]
fn more_tables_rows_and_findings_need_no_code() {
    let text = embedded("nfs-datastore").unwrap();
    let tables_more = "tables:\n  - name: T07\n    label: Table VII\n    about: 100 MB write\n    unit: ms\n    \
                       columns: [local, nfs]\n    rows:\n      - [2.0, 1.0]\n      - [4.0, 3.0]\n";
    let findings_more = "findings:\n  - id: nfs-t07-pct\n    source: Table VII\n    statement: More.\n    \
                         published: \"50.0\"\n    unit: \"%\"\n    compute: pct_faster(T07.local, T07.nfs)\n";
    let more = text.replace("tables:\n", tables_more).replace("findings:\n", findings_more);
    let before = tables(&Published::read(text).unwrap());
    let after = tables(&Published::read(&more).unwrap());
    assert_eq!(after.findings.len(), before.findings.len() + 1);
    assert_eq!(agreement(&after, "nfs-t07-pct"), Agreement::Agrees);
    assert_eq!(after.study.given.numbers, before.study.given.numbers + 4);
    // Adding a row changes the mean: (2 + 4 + 12) / 3 against (1 + 3 + 2) / 3.
    let row = more.replace("      - [4.0, 3.0]\n", "      - [4.0, 3.0]\n      - [12.0, 2.0]\n");
    let after = tables(&Published::read(&row).unwrap());
    assert_eq!(agreement(&after, "nfs-t07-pct"), Agreement::DoesNotFollow);
}
