//! The figures of the `virtual-physical` study, one by one: everything that its authors print about
//! the two comparisons follows from Table 3 alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_replicate::{
    Agreement, How, Published, ReplicateTable, Row, Soundness, embedded, replicate,
};

fn table() -> ReplicateTable {
    replicate(&Published::read(embedded("virtual-physical").unwrap()).unwrap(), None, None).unwrap()
}

fn row<'a>(table: &'a ReplicateTable, id: &str) -> &'a Row {
    table.findings.iter().chain(&table.checks).find(|row| row.id == id).unwrap()
}

#[test]
fn the_two_intervals_come_out_to_the_printed_digits() {
    let table = table();
    // What is printed, what the tables give with two more digits, and how the one becomes the other.
    let expected = [
        ("vp-4k-ratio", "1.75", "1.7503", How::Rounded),
        ("vp-4k-ss", "682016 IOPS^2", "682016.03", How::Rounded),
        ("vp-4k-sp", "26.14 IOPS", "26.1416", How::Rounded),
        ("vp-4k-se", "1.653 IOPS", "1.65334", How::Rounded),
        ("vp-4k-df", "998", "998", How::Rounded),
        ("vp-4k-t", "2.581", "2.58076", How::Rounded),
        ("vp-4k-diff", "-184.05 IOPS", "-184.0500", How::Rounded),
        ("vp-4k-margin", "4.266 IOPS", "4.26688", How::IntermediateRounding),
        ("vp-4k-ci-lo", "-188.316 IOPS", "-188.31688", How::IntermediateRounding),
        ("vp-4k-ci-hi", "-179.784 IOPS", "-179.78312", How::IntermediateRounding),
        ("vp-32k-ratio", "3.014", "3.01393", How::Rounded),
        ("vp-32k-diff", "583.9 IOPS", "583.900", How::Rounded),
        ("vp-32k-df", "499", "499", How::Rounded),
        ("vp-32k-t", "2.586", "2.58572", How::Rounded),
        ("vp-32k-varsum", "0.842 IOPS^2", "0.84162", How::Rounded),
        ("vp-32k-margin", "2.372 IOPS", "2.37214", How::Rounded),
        ("vp-32k-ci-lo", "581.528 IOPS", "581.52786", How::Rounded),
        ("vp-32k-ci-hi", "586.27 IOPS", "586.2721", How::Rounded),
        ("vp-duration", "41.6 min", "41.667", How::Truncated),
        ("vp-samples", "2000 samples", "2000", How::Rounded),
    ];
    for (id, published, value, how) in expected {
        let row = row(&table, id);
        assert_eq!(row.published.as_deref(), Some(published), "{id}");
        assert_eq!(row.recomputed.value.as_deref(), Some(value), "{id}");
        assert_eq!(row.recomputed.agreement, Agreement::Agrees, "{id}");
        assert_eq!(row.recomputed.how, Some(how), "{id}");
    }
}

#[test]
fn the_ratio_rule_chooses_as_the_authors_did() {
    let table = table();
    assert!(row(&table, "vp-4k-ratio").recomputed.reason.contains("pooled: true"));
    assert!(row(&table, "vp-32k-ratio").recomputed.reason.contains("pooled: false"));
}

#[test]
fn the_effect_sizes_are_stated() {
    let table = table();
    assert!(
        row(&table, "vp-4k-diff").recomputed.reason.contains("Cohen's d -7.04, Hedges' g -7.04")
    );
    assert!(
        row(&table, "vp-32k-diff").recomputed.reason.contains("Cohen's d 40.25, Hedges' g 40.22")
    );
}

#[test]
fn only_the_rounding_of_the_sds_separates_three_variances_from_their_squares() {
    let table = table();
    for id in ["vp-t3-phys4-var", "vp-t3-virt4-var", "vp-t3-virt32-var"] {
        assert_eq!(row(&table, id).recomputed.agreement, Agreement::AgreesWithinRounding, "{id}");
    }
    // 19.47² = 379.08 is printed as 379 without decimals.
    assert_eq!(row(&table, "vp-t3-phys32-var").recomputed.agreement, Agreement::Agrees);
}

#[test]
fn what_does_not_follow_is_named_and_nothing_else() {
    let table = table();
    let missing: Vec<&str> = table
        .findings
        .iter()
        .chain(&table.checks)
        .filter(|row| row.recomputed.agreement == Agreement::DoesNotFollow)
        .map(|row| row.id.as_str())
        .collect();
    let expected = ["vp-q3", "vp-law-mbps-phys4", "vp-law-mbps-sd-phys4", "vp-law-range"];
    assert_eq!(missing, expected);
    // The printed 27.4 MB/s are those of 32 KB requests.
    let reason = &row(&table, "vp-law-mbps-phys4").recomputed.reason;
    assert!(reason.contains("requests of 32.0 KB"), "{reason}");
}

#[test]
fn samples_of_one_run_are_not_taken_for_trials() {
    let table = table();
    let sound = |id: &str| row(&table, id).sound.clone().unwrap();
    assert_eq!(sound("vp-4k-df").verdict, Soundness::DoesNotHold);
    assert_eq!(sound("vp-32k-df").verdict, Soundness::DoesNotHold);
    assert_eq!(sound("vp-h1").verdict, Soundness::CannotBeTold);
    // 500 (1 − 0.5) / (1 + 0.5) = 166.7.
    let text = sound("vp-4k-ci-lo").text;
    assert!(text.contains("worth 167 and the interval -191.5 to -176.6"), "{text}");
}
