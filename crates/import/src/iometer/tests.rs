//! Samples of Iometer's results, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;
use crate::run::Way;

const NEW: &str = include_str!("../../tests/files/iometer/results-1.1.csv");
const OLD: &str = include_str!("../../tests/files/iometer/results-2006.csv");

#[test]
fn the_rows_of_the_whole_are_the_runs() {
    assert!(is(NEW));
    let imported = read(NEW).unwrap();
    assert_eq!(imported.version.as_deref(), Some("1.1.0-rc1"));
    assert_eq!(imported.runs.len(), 2);
    let run = &imported.runs.get(0).unwrap();
    assert_eq!(run.name, "4 KiB; 70% read; 100% random");
    assert_eq!((run.load.request_bytes, run.load.read_share), (Some(4096), Some(0.7)));
    assert_eq!(run.load.pattern, Some(Pattern::Random));
    // 16 per target, and 4 targets of all workers.
    assert_eq!((run.load.outstanding, run.load.workers), (Some(64), Some(2)));
    assert_eq!(run.cpu_busy.unwrap().value, 0.125);
    assert_eq!(run.errors, Some(2));
    let both = &run.directions[0];
    assert_eq!(both.iops.unwrap().value, 10_000.0);
    // The binary column: 39.0625 MiB/s.
    assert!((both.bytes_per_s.unwrap().value - 40_960_000.0).abs() < 1.0);
    assert_eq!(both.latency.mean.unwrap().value, 6.4e6);
    assert_eq!(both.latency.max.unwrap().value, 57.6e6);
    let counts: u64 = both.latency.histogram.iter().map(|bucket| bucket.count).sum();
    assert_eq!(counts, 600_000);
    let write = &run.directions[2];
    assert_eq!((write.way, write.operations.unwrap().value), (Way::Write, 180_000.0));
    assert_eq!(write.bytes.unwrap().value, 180_000.0 * 4096.0);
    let mixed = &imported.runs.get(1).unwrap().load;
    assert_eq!((mixed.request_bytes, mixed.read_share), (None, Some(0.5)));
    assert_eq!(mixed.pattern, Some(Pattern::Mixed(0.5)));
    assert_eq!(imported.left_out, [WAITS]);
}

#[test]
fn megabytes_of_old_versions_are_binary() {
    let run = &read(OLD).unwrap().runs.get(0).unwrap();
    let figure = run.directions[0].bytes_per_s.unwrap();
    assert_eq!(figure.value, 3200.0 * 65536.0);
    assert_eq!(run.load.working_set_bytes, Some(1 << 30));
    // No writes.
    assert_eq!(run.directions.len(), 2);
    assert!(run.directions[0].latency.histogram.is_empty());
}

#[test]
fn what_is_cut_is_refused() {
    let cut = &OLD[..OLD.rfind("'Time Stamp").unwrap()];
    assert!(matches!(read(cut), Err(ImportError::Truncated { line: 16, .. })), "{:?}", read(cut));
    let at = NEW.find("ALL,").unwrap() + 200;
    let cut = format!("{}\n'Time Stamp\n1:2:3\n", &NEW[..at]);
    let message = read(&cut).unwrap_err().to_string();
    assert!(message.contains("fewer fields than the line of headings"), "{message}");
    let comma = OLD.replace("64K; 100% Read; 0% random,1", "64K, 100% Read; 0% random,1");
    let message = read(&comma).unwrap_err().to_string();
    assert!(message.contains("more fields than the line of headings"), "{message}");
}
