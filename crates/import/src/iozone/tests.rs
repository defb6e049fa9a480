//! Samples of what iozone prints, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;
use crate::run::{Pattern, Run, Way};

fn sample(text: &str) -> Imported {
    assert!(is(text));
    let imported = read(text).unwrap();
    assert_eq!(imported.version.as_deref(), Some("3.492"));
    imported
}

fn rate(run: &Run) -> f64 {
    run.directions[0].bytes_per_s.unwrap().value
}

#[test]
fn the_place_of_a_number_says_the_test() {
    let imported = sample(include_str!("../../tests/files/iozone/table.txt"));
    let names: Vec<_> = imported.runs.iter().map(|run| run.name).collect();
    let tests = ["write", "rewrite", "random read", "random write", "stride read"];
    assert_eq!(names, [tests, tests].concat());
    let run = &imported.runs.get(7).unwrap();
    assert_eq!(run.target.as_deref(), Some("/mnt/disk/test.tmp"));
    assert_eq!(run.load.request_bytes, Some(128 << 10));
    assert_eq!(run.load.working_set_bytes, Some(64 << 20));
    assert_eq!(run.load.pattern, Some(Pattern::Random));
    assert_eq!((run.load.direct, run.load.outstanding), (Some(true), Some(1)));
    assert_eq!(run.load.durability.as_deref(), Some("fsync at the end, in the time (-e)"));
    assert_eq!(run.directions[0].way, Way::Read);
    let figure = run.directions[0].bytes_per_s.unwrap();
    assert_eq!((figure.value, figure.half), (280_017.0 * 1024.0, 1024.0));
}

#[test]
fn operations_are_not_bytes_and_the_report_does_not_count_twice() {
    let imported = sample(include_str!("../../tests/files/iozone/operations.txt"));
    assert_eq!(imported.runs.len(), 12);
    let last = &imported.runs.get(11).unwrap();
    assert_eq!(last.directions[0].iops.unwrap().value, 3085.0);
    assert_eq!(last.directions[0].bytes_per_s, None);
    assert_eq!(last.load.direct, Some(false));
}

#[test]
fn a_report_without_a_table_in_microseconds() {
    let imported = sample(include_str!("../../tests/files/iozone/report.txt"));
    assert_eq!(imported.runs.len(), 6);
    let run = &imported.runs.get(4).unwrap();
    assert_eq!((run.name.as_str(), run.load.request_bytes), ("random read", Some(4096)));
    assert_eq!(run.directions[0].latency.mean.unwrap().bounds(), (47_000.0, 49_000.0));
}

#[test]
fn processes_are_summed() {
    let imported = sample(include_str!("../../tests/files/iozone/throughput.txt"));
    assert_eq!(imported.runs.len(), 5);
    let run = &imported.runs.get(3).unwrap();
    assert_eq!((run.name.as_str(), run.directions[0].way), ("mixed workload", Way::Both));
    assert_eq!(rate(run), 132_000.0 * 1024.0);
    assert_eq!((run.load.workers, run.load.working_set_bytes), (Some(4), Some(512 << 20)));
    assert_eq!(run.load.durability.as_deref(), Some("O_SYNC (-o)"));
}

#[test]
fn what_is_cut_is_refused() {
    let text = include_str!("../../tests/files/iozone/throughput.txt");
    let cut = &text[..text.find("Max throughput").unwrap()];
    assert!(matches!(read(cut), Err(ImportError::Truncated { .. })));
    let wrong = text.replace(" kB/sec", " MB/sec");
    let message = read(&wrong).unwrap_err().to_string();
    assert!(message.starts_with("iozone, line 20, column 63: the unit"), "{message}");
}

#[test]
fn a_number_between_columns_is_refused() {
    let text = include_str!("../../tests/files/iozone/table.txt");
    let moved = text.replace("                     30125", "                30125     ");
    assert_ne!(text, moved);
    assert!(read(&moved).unwrap_err().to_string().contains("is not below one column"));
}
