//! Samples of HCIBench's summary, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;

const VDBENCH: &str = include_str!("../../tests/files/hcibench/vdbench-res.txt");
const FIO: &str = include_str!("../../tests/files/hcibench/fio-res.txt");

#[test]
fn tests_with_vdbench() {
    assert!(is(VDBENCH));
    let imported = read(VDBENCH).unwrap();
    assert_eq!(imported.runs.len(), 2);
    let run = &imported.runs.get(0).unwrap();
    assert_eq!((run.name.as_str(), run.target.as_deref()), ("run1", Some("vsanDatastore")));
    assert_eq!(run.load.duration_s, Some(3600.0));
    assert_eq!(run.load.engine.as_deref(), Some("vdbench50407"));
    let [both, read, write] = &run.directions[..] else { panic!("{:?}", run.directions) };
    let iops = both.iops.unwrap();
    assert_eq!((iops.value, iops.half), (123_456.78, 0.005));
    assert_eq!(both.bytes_per_s.unwrap().value, 482.25 * 1_048_576.0);
    assert!((both.latency.mean.unwrap().value - 2.07e6).abs() < 1e-3);
    assert_eq!((read.way, read.latency.mean.unwrap().value), (Way::Read, 1.5e6));
    assert!(write.latency.percentiles.is_empty());
    assert!(imported.left_out.iter().any(|sentence| sentence.contains("no percentile")));
    assert_eq!(imported.runs.get(1).unwrap().directions.len(), 2);
}

#[test]
fn tests_with_fio() {
    assert!(is(FIO));
    let imported = read(FIO).unwrap();
    let run = &imported.runs.get(0).unwrap();
    assert_eq!((run.name.as_str(), run.directions.len()), ("job0", 2));
    // 107.00 was cut before it was printed.
    let rate = run.directions[0].bytes_per_s.unwrap();
    assert_eq!((rate.value, rate.half), (107.0 * 1_048_576.0, 1_048_576.0));
    let write = &run.directions[1];
    assert_eq!(write.latency.percentiles.get(0).unwrap().share, 0.95);
    assert_eq!(write.latency.percentiles.get(0).unwrap().ns.bounds(), (41e6, 43e6));
}

#[test]
fn cut_summaries_are_refused() {
    let cut = &FIO[..FIO.find("W_LATENCY").unwrap()];
    assert!(matches!(read(cut), Err(ImportError::Truncated { .. })));
    let wrong = FIO.replace("MB/s", "GB/s");
    let message = read(&wrong).unwrap_err().to_string();
    assert_eq!(message, "HCIBench summary, line 6, column 17: the unit is not MB/s");
}
