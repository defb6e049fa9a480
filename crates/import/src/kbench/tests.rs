//! Samples of kbench's summary, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;

const ONE: &str = include_str!("../../tests/files/kbench/one.summary");
const TWO: &str = include_str!("../../tests/files/kbench/two.summary");

#[test]
fn each_number_is_a_run() {
    assert!(is(ONE));
    let imported = read(ONE).unwrap();
    assert_eq!(imported.runs.len(), 12);
    let run = &imported.runs.get(5).unwrap();
    assert_eq!(run.name, "bandwidth, random write");
    assert_eq!(run.target.as_deref(), Some("vol1"));
    assert_eq!(run.load.pattern, Some(Pattern::Random));
    let rate = run.directions[0].bytes_per_s.unwrap();
    assert_eq!((rate.value, rate.half), (312_456.0 * 1024.0, 1024.0));
    assert_eq!(imported.runs.get(8).unwrap().directions[0].latency.mean.unwrap().value, 412_345.0);
    assert_eq!(imported.runs.get(0).unwrap().directions[0].iops.unwrap().value, 23_456.0);
    assert!((imported.runs.get(0).unwrap().cpu_busy.unwrap().value - 0.32).abs() < 1e-12);
    assert!((imported.runs.get(11).unwrap().cpu_busy.unwrap().value - 0.2).abs() < 1e-12);
}

#[test]
fn two_volumes_and_the_quick_mode() {
    assert!(is(TWO));
    let imported = read(TWO).unwrap();
    let of =
        |name: &str| imported.runs.iter().filter(|run| run.target.as_deref() == Some(name)).count();
    assert_eq!((of("local"), of("network")), (6, 6));
    assert_eq!(imported.runs.get(2).unwrap().directions[0].iops.unwrap().value, 12_001.0);
}

#[test]
fn cut_summaries_are_refused() {
    let cut = &ONE[..ONE.find("Latency in").unwrap()];
    assert!(matches!(read(cut), Err(ImportError::Truncated { .. })));
    let wrong = ONE.replace("23,456 /", "23,4x6 /");
    let message = read(&wrong).unwrap_err().to_string();
    assert!(message.starts_with("kbench summary, line 10, column "), "{message}");
}
