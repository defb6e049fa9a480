//! Samples of vdbench's files, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;
use crate::run::{Pattern, Way};

const FLAT: &str = include_str!("../../tests/files/vdbench/flatfile.html");
const HISTOGRAM: &str = include_str!("../../tests/files/vdbench/histogram.html");

#[test]
fn a_run_is_its_average_and_its_intervals() {
    assert!(is(FLAT));
    let imported = read(FLAT).unwrap();
    assert_eq!(imported.version.as_deref(), Some("vdbench50407"));
    assert_eq!(imported.runs.len(), 2);
    let run = &imported.runs.get(0).unwrap();
    assert_eq!((run.name.as_str(), run.place.as_str()), ("rd_random", "line 40"));
    assert_eq!((run.load.request_bytes, run.load.read_share), (Some(4096), Some(0.7)));
    assert_eq!((run.load.pattern, run.load.rate_per_s), (Some(Pattern::Random), None));
    assert_eq!(run.load.working_set_bytes, Some(10 << 30));
    let [both, read, write] = &run.directions[..] else { panic!("{:?}", run.directions) };
    let iops = both.iops.unwrap();
    assert_eq!(iops.value, 8020.2);
    assert!((iops.half - 0.000_05).abs() < 1e-9);
    assert_eq!(both.bytes_per_s.unwrap().value, 31.3289 * 1_048_576.0);
    assert_eq!(both.latency.sd.unwrap().value, 0.0876e6);
    assert_eq!((read.way, read.latency.mean.unwrap().value), (Way::Read, 0.4321e6));
    assert_eq!(write.latency.mean.unwrap().value, 0.6543e6);
    assert_eq!(run.outstanding_mean.unwrap().value, 4.0);
    assert!((run.cpu_busy.unwrap().value - 0.045).abs() < 1e-12);
    let times: Vec<_> = run.intervals.iter().map(|at| (at.start_s, at.length_s)).collect();
    assert_eq!(times, [(0.0, 5.0), (5.0, 5.0)]);
    assert_eq!(run.intervals.get(0).unwrap().iops.unwrap().value, 8020.0);
    assert_eq!(run.load.ramp_s, Some(5.0));
    let second = &imported.runs.get(1).unwrap();
    assert_eq!(
        (second.load.rate_per_s, second.load.pattern),
        (Some(2000.0), Some(Pattern::Sequential))
    );
    assert_eq!(second.directions.len(), 2);
}

#[test]
fn a_run_has_its_histograms() {
    assert!(is(HISTOGRAM));
    let imported = read(HISTOGRAM).unwrap();
    assert_eq!(imported.runs.len(), 2);
    let ways: Vec<_> = imported.runs.get(0).unwrap().directions.iter().map(|at| at.way).collect();
    assert_eq!(ways, [Way::Both, Way::Read, Way::Write]);
    let buckets = &imported.runs.get(0).unwrap().directions[0].latency.histogram.to_vec();
    assert_eq!(buckets[2].count, 12_345);
    assert_eq!((buckets[2].low_ns, buckets[2].high_ns), (60_000.0, 80_000.0));
    assert_eq!(
        imported.runs.get(1).unwrap().directions[0].latency.histogram.get(1).unwrap().high_ns,
        f64::INFINITY
    );
}

#[test]
fn cut_files_are_refused() {
    for end in ["avg_2-3", "9999988.0000  8040", "vdbench50407"] {
        let cut = &FLAT[..FLAT.find(end).unwrap()];
        assert!(read(cut).is_err(), "{end}");
    }
    let cut = HISTOGRAM.replacen("100.0000", " 99.0000", 1);
    let message = read(&cut).unwrap_err().to_string();
    assert!(message.ends_with("does not reach 100%"), "{message}");
    let cut = &HISTOGRAM[..HISTOGRAM.rfind("max").unwrap()];
    assert!(matches!(
        read(cut),
        Err(ImportError::Malformed { .. } | ImportError::Truncated { .. })
    ));
}
