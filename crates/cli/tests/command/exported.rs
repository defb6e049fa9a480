//! Results exported and read by programs of others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::place::{Place, STEADY, not_run};
use crate::results::rows;

/// Two loads, far below what any storage can do, on two datastores, in two blocks.
pub(crate) const STUDY: &str = "\
study: Is b as quick as a?
datastores: {a: a, b: b}
workloads:
- {name: reading, request-size: 4KiB, read: 100%, random: 100%, outstanding: 2, burst: {length: 2, delay: 2ms}}
- {name: mixed, request-size: 8KiB, read: 50%, random: 100%, rate: 400}
load: {vms: 1}
disk: {size: 4MiB}
measure: {ramp: 20ms, duration: 200ms, interval: 50ms}
design: {blocks: 3, metric: latency-mean}
seed: 4711
questions:
- a must be within 1000% of b in iops on reading
";

/// A place with the results of [`STUDY`] in `night.db`, which are measured once for all tests.
pub(crate) fn measured() -> Place {
    static NIGHT: OnceLock<Vec<u8>> = OnceLock::new();
    let place = Place::new();
    let night = NIGHT.get_or_init(|| {
        std::fs::write(place.path("night.yaml"), STUDY).unwrap();
        place.run_until(&[0], "run night.yaml --output night.db");
        std::fs::read(place.path("night.db")).unwrap()
    });
    std::fs::write(place.path("night.db"), night).unwrap();
    place
}

/// Debian's Python, which has the modules of Debian's packages; `None` where there is none.
pub(crate) fn python() -> Option<Command> {
    let python = Path::new("/usr/bin/python3");
    python.is_file().then(|| Command::new(python))
}

/// Where `cargo xtask readers` has put what comes from no package of Debian's; `None` where that chore does not run.
pub(crate) fn readers() -> Option<PathBuf> {
    let directory = std::env::var_os("STORMETER_READERS").map(PathBuf::from);
    if directory.is_none() {
        use std::io::Write;
        let _ =
            writeln!(std::io::stderr(), "NOT RUN: needs programs of others; cargo xtask readers");
        let elsewhere =
            ["CI", "STORMETER_READERS_LATER"].map(|name| std::env::var_os(name).is_some());
        assert!(elsewhere != [true, false], "CI must run this test, or leave it to that chore");
    }
    directory
}

/// What a command prints; it must succeed.
#[track_caller]
pub(crate) fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// fio's script that makes tables of JSON+, to be run by Python; `None` where it or its module is missing.
fn clat2csv(place: &Place, arguments: &[&str]) -> Option<Command> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let script = std::env::split_paths(&path)
        .map(|directory| directory.join("fio_jsonplus_clat2csv"))
        .find(|script| script.is_file());
    let (Some(script), Some(mut command)) = (script, python()) else {
        not_run("fio_jsonplus_clat2csv (fio) or python3 is not installed");
        return None;
    };
    let has_six = python()?.args(["-c", "import six"]).output().unwrap().status.success();
    if !has_six {
        not_run("python3-six, which fio's script needs, is not installed");
        return None;
    }
    command.arg(script).args(arguments).current_dir(place.root());
    Some(command)
}

/// A row of fio's table: the bin's count, the count up to it, and its share.
type Row = (u64, u64, f64);

/// The rows of a direction, by bin.
fn table(path: PathBuf, direction: &str) -> BTreeMap<u64, Row> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::trim).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let first = format!("{direction}_lat_ns_count");
    let at = head.iter().position(|name| **name == first).unwrap();
    let rows = lines.filter(|cells| !cells[at].is_empty()).map(|cells| {
        let row =
            (cells[at].parse().unwrap(), cells[at + 1].parse().unwrap(), cells[at + 2].parse());
        (cells[0].parse().unwrap(), (row.0, row.1, row.2.unwrap()))
    });
    rows.collect()
}

#[test]
fn fios_own_script_reads_an_export_and_finds_the_same_counts_and_percentiles() {
    let place = measured();
    place.run("export night.db --to fio -o night.json").expect(&[0]);
    let text = std::fs::read_to_string(place.path("night.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let Some(mut make) = clat2csv(&place, &["night.json", "night.csv"]) else { return };
    printed(&mut make);
    let mut check = clat2csv(&place, &["night.json", "night.csv", "--validate"]).unwrap();
    let jobs = json["jobs"].as_array().unwrap();
    assert_eq!(printed(&mut check).matches(" validated\n").count(), jobs.len());
    let stored = rows(
        &place.path("night.db"),
        "SELECT r.operations, w.operations, latency_p99_ns FROM trial \
         JOIN total r ON r.trial_id = trial.id AND r.kind = 'read' \
         JOIN total w ON w.trial_id = trial.id AND w.kind = 'write' \
         WHERE phase = 'main' ORDER BY trial.id",
        |row| Ok([row.get::<_, f64>(0)?, row.get(1)?, row.get(2)?]),
    );
    assert_eq!((jobs.len(), stored.len()), (12, 12));
    for (number, (job, [reads, writes, p99_ns])) in jobs.iter().zip(stored).enumerate() {
        let csv = place.path(&format!("night_job{number}.csv"));
        let read = table(csv.clone(), "read");
        let write = table(csv, "write");
        let counted = |table: &BTreeMap<u64, Row>| table.values().last().map_or(0, |row| row.1);
        assert_eq!((counted(&read) as f64, counted(&write) as f64), (reads, writes), "{number}");
        for (name, table) in [("read", &read), ("write", &write)] {
            for (percent, value) in
                job[name]["lat_ns"]["percentile"].as_object().into_iter().flatten()
            {
                let share = percent.parse::<f64>().unwrap() / 100.0;
                let found = table.iter().find(|(_, row)| row.2 >= share - 1e-9).unwrap();
                assert_eq!(value.as_u64().unwrap(), *found.0, "{number}: {name} {percent}");
            }
        }
        if job["jobname"] == "reading" {
            // The bin is as wide as fio's: a 64th of its power of two.
            let found = read.iter().find(|(_, row)| row.2 >= 0.99).unwrap();
            let ratio = *found.0 as f64 / p99_ns;
            assert!((ratio - 1.0).abs() <= 1.0 / 128.0, "{number}: {ratio}");
        }
    }
}

#[test]
fn a_log_of_hdrhistogram_has_each_trial_and_is_read_by_the_audit() {
    let place = measured();
    place.run("export night.db --to hdr -o night.hlog").expect(&[0]);
    let text = std::fs::read_to_string(place.path("night.hlog")).unwrap();
    let tagged = |tag: &str| text.lines().filter(|line| line.starts_with(tag)).count();
    for tag in ["a/reading", "b/reading", "a/mixed", "b/mixed"] {
        assert_eq!(tagged(&format!("Tag={tag}/vms=1,")), 3, "{text}");
    }
    let audit = place.run("audit night.hlog").expect(&[0]).stdout;
    assert!(audit.contains("0 broken"), "{audit}");
}

/// What the report has to say of a question, as a test report says it.
fn test_report(place: &Place, file: &str) -> String {
    let xml = place.run(&format!("export {file} --to junit")).expect(&[0]).stdout;
    let name = format!("{file}.xml");
    std::fs::write(place.path(&name), &xml).unwrap();
    if Command::new("xmllint").arg("--version").output().is_err() {
        not_run("xmllint (libxml2-utils) is not installed");
        return xml;
    }
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/junit.xsd");
    let mut lint = Command::new("xmllint");
    printed(lint.args(["--noout", "--schema", schema, &name]).current_dir(place.root()));
    xml
}

#[test]
fn a_test_report_fails_where_a_demand_is_not_met() {
    let place = measured();
    let xml = test_report(&place, "night.db");
    assert!(xml.contains("<testsuite name=\"Is b as quick as a?\""), "{xml}");
    assert!(xml.contains("failures=\"0\" skipped=\"0\" errors=\"0\""), "{xml}");
    assert!(xml.contains("classname=\"stormeter.cells\" name=\"reading on a, 1 VM\">"), "{xml}");
    let wanted = "- a must be within 1000% of b in iops on reading";
    let demanding = STUDY.replace(wanted, "- iops of a must be at least 1000000 on mixed");
    std::fs::write(place.path("demanding.yaml"), demanding).unwrap();
    place.run_until(&[3], "run demanding.yaml --output demanding.db");
    let xml = test_report(&place, "demanding.db");
    assert!(xml.contains("failures=\"1\""), "{xml}");
    assert!(xml.contains("name=\"iops of a must be at least 1000000 on mixed\"><failure"), "{xml}");
}

#[test]
fn a_test_report_has_errors_where_results_are_invalid() {
    let place = Place::new();
    let command = format!("compare a b {STEADY} --max-blocks 5 --seed 1 --read 100% --output r.db");
    let mut running = place.start(&command);
    let disk = place.wait_for_disk(&mut running, "a");
    std::fs::OpenOptions::new().write(true).open(&disk).unwrap().set_len(0).unwrap();
    running.wait().expect(&[5]);
    let xml = test_report(&place, "r.db");
    let broken = |class: &str| {
        let of = xml.lines().filter(|line| line.contains(class));
        of.filter(|line| line.contains("<error message=")).count()
    };
    assert!(broken("stormeter.findings") >= 1, "{xml}");
    assert_eq!(broken("stormeter.cells"), 1, "{xml}");
    assert!(xml.contains("0 bytes moved"), "{xml}");
}
