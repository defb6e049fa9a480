//! Samples of HdrHistogram's logs and lists, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;

const LOG: &str = include_str!("../../tests/files/hdrhistogram/intervals.hlog");
const SPECTRUM: &str = include_str!("../../tests/files/hdrhistogram/percentiles.txt");
const CSV: &str = include_str!("../../tests/files/hdrhistogram/percentiles.csv");

/// The sample's histograms as the crate `hdrhistogram` 7.6 writes them without a unit.
const WHOLE: &str = include_str!("../../tests/hdr/whole.hlog");
/// 200 000 counts in 300 bytes, by the same crate.
const INFLATED: &str = include_str!("../../tests/hdr/inflated.hlog");

#[test]
fn a_tag_is_a_run() {
    assert!(is(LOG));
    let imported = read(LOG).unwrap();
    assert_eq!(imported.runs.len(), 2);
    let write = &imported.runs.get(1).unwrap();
    assert_eq!((write.name.as_str(), write.began_s), ("write", Some(1_772_543_109.0)));
    let direction = &write.directions[0];
    assert_eq!(direction.operations.unwrap().value, 3000.0);
    let buckets = &direction.latency.histogram.to_vec();
    assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 3000);
    assert!(buckets.is_sorted_by(|left, right| left.high_ns <= right.low_ns));
    assert!(buckets[0].low_ns <= 90_100.0 && buckets[0].high_ns > 90_100.0);
    let last = &write.intervals.get(2).unwrap();
    assert_eq!((last.start_s, last.length_s), (2.0, 1.0));
    assert_eq!(last.iops.unwrap().value, 1000.0);
    let (low, high) = last.latency_p99.unwrap().bounds();
    assert!(low <= 189_014.0 && high >= 189_014.0, "{low} {high}");
    let (low, high) = last.latency_max.unwrap().bounds();
    assert!(low <= 190_100.0 && high >= 190_000.0, "{low} {high}");
    assert_eq!(imported.left_out.len(), 1);
}

#[test]
fn other_units_are_not_guessed() {
    let imported = read(WHOLE).unwrap();
    let run = &imported.runs.get(0).unwrap();
    assert_eq!(run.directions[0].operations.unwrap().value, 3000.0);
    assert!(run.directions[0].latency.histogram.is_empty());
    assert_eq!(
        (run.intervals.get(0).unwrap().latency_max, run.intervals.get(0).unwrap().latency_p99),
        (None, None)
    );
    assert!(imported.left_out[0].contains("unit"));
}

#[test]
fn lists_of_percentiles() {
    for text in [SPECTRUM, CSV] {
        assert!(is(text));
        let imported = read(text).unwrap();
        let direction = &imported.runs.get(0).unwrap().directions[0];
        assert_eq!(direction.operations.unwrap().value, 20_000.0);
        assert_eq!(direction.latency.min.unwrap().value, 75_000.0);
        assert_eq!(direction.latency.max.unwrap().value, 8_125_000.0);
        let share: Vec<_> = direction.latency.percentiles.iter().map(|at| at.share).collect();
        assert_eq!(share, [0.5, 0.75, 0.9, 0.99, 0.999]);
        assert_eq!(
            direction.latency.percentiles.get(3).unwrap().ns.bounds(),
            (1_999_500.0, 2_000_500.0)
        );
    }
    let latency = &read(SPECTRUM).unwrap().runs.get(0).unwrap().directions[0].latency;
    assert_eq!(latency.mean.unwrap().value, 512_000.0);
    assert_eq!(latency.sd.unwrap().value, 250_000.0);
}

#[test]
fn what_is_cut_is_refused() {
    let cut = &LOG[..LOG.len() - 30];
    let message = read(cut).unwrap_err().to_string();
    assert!(message.starts_with("HdrHistogram, line 9, column "), "{message}");
    let cut = &SPECTRUM[..SPECTRUM.find("#[Max").unwrap()];
    assert!(matches!(read(cut), Err(ImportError::Truncated { .. })));
    let cut = &CSV[..CSV.find("8.125").unwrap()];
    assert!(matches!(read(cut), Err(ImportError::Truncated { .. })));
}

#[test]
fn what_is_longer_inside_than_outside_is_refused() {
    let message = read(INFLATED).unwrap_err().to_string();
    assert!(message.ends_with("more entries than a file of this size can hold"), "{message}");
}
