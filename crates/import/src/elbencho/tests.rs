//! Samples of elbencho's JSON and CSV, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;
use crate::run::{Pattern, Way};

const JSON: &str = include_str!("../../tests/files/elbencho/results.json");
const CSV: &str = include_str!("../../tests/files/elbencho/results.csv");

#[test]
fn an_object_is_a_phase() {
    assert!(is(JSON));
    let imported = read(JSON).unwrap();
    assert_eq!(imported.version.as_deref(), Some("3.0-34"));
    assert_eq!(imported.runs.len(), 3);
    let write = &imported.runs.get(0).unwrap();
    assert_eq!((write.name.as_str(), write.place.as_str()), ("night: WRITE", "line 2"));
    assert_eq!(write.began_s, Some(1_772_543_109.123));
    assert_eq!((write.load.outstanding, write.load.workers), (Some(128), Some(8)));
    assert_eq!(write.load.pattern, Some(Pattern::Sequential));
    assert_eq!((write.load.direct, write.load.request_bytes), (Some(true), Some(1 << 20)));
    let window = write.window_s.unwrap();
    assert_eq!((window.value, window.half), (10.001, 0.001));
    assert_eq!(write.cpu_busy.unwrap().value, 0.07);
    let direction = &write.directions[0];
    assert_eq!((direction.way, direction.iops.unwrap().bounds()), (Way::Write, (1022.0, 1024.0)));
    assert_eq!(direction.bytes.unwrap().value, 10_737_418_240.0);
    assert_eq!(direction.latency.mean.unwrap().bounds(), (123_998_000.0, 124_002_000.0));
    let buckets = &direction.latency.histogram.to_vec();
    assert_eq!(buckets[0].high_ns, 65_536_000.0);
    assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 10_240);
    let mixed = &imported.runs.get(2).unwrap();
    assert_eq!(mixed.load.read_share, None);
    let ways: Vec<_> = mixed.directions.iter().map(|direction| direction.way).collect();
    assert_eq!(ways, [Way::Write, Way::Read]);
    assert_eq!(mixed.directions[1].latency.max.unwrap().value, 4_000_000.0);
    assert_eq!(mixed.directions[1].latency.histogram.get(0).unwrap().count, 2);
    assert_eq!(imported.left_out.len(), 2, "{:?}", imported.left_out);
}

#[test]
fn a_line_is_a_phase() {
    assert!(is(CSV));
    let imported = read(CSV).unwrap();
    assert_eq!(imported.version.as_deref(), Some("3.0-34"));
    assert_eq!(imported.runs.len(), 2);
    let read = &imported.runs.get(1).unwrap().directions[0];
    assert_eq!(read.way, Way::Read);
    // Cut: 1100 to 1101 MiB/s.
    let bounds = read.bytes_per_s.unwrap().bounds();
    assert_eq!(bounds, (1099.0 * 1_048_576.0, 1101.0 * 1_048_576.0));
    assert_eq!(read.latency.min.unwrap().value, 210_000.0);
}

#[test]
fn cut_files_are_refused() {
    let cut = &JSON[..JSON.len() - 20];
    assert!(matches!(read(cut), Err(ImportError::Truncated { line: 4, .. })));
    let cut = &CSV[..CSV.len() - 20];
    assert!(matches!(read(cut), Err(ImportError::Truncated { .. })));
    let cut = format!("{}\n", &CSV[..CSV.len() - 120]);
    assert!(read(&cut).unwrap_err().to_string().contains("headings"));
    let wrong = JSON.replace("\"iops\":\"1023\"", "\"iops\":\"-1\"");
    assert_eq!(
        read(&wrong).unwrap_err().to_string(),
        "elbencho, line 2: iops: \"-1\" is not a number of at least 0"
    );
}
