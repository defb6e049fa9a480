//! Samples of iperf3's JSON, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;

fn run(text: &str) -> (Run, Vec<String>) {
    assert!(is(text));
    let imported = read(text).unwrap();
    assert_eq!(imported.version.as_deref(), Some("3.12"));
    assert_eq!(imported.runs.len(), 1);
    (imported.runs.get(0).unwrap(), imported.left_out)
}

#[test]
fn bits_become_bytes() {
    let (run, left_out) = run(include_str!("../../tests/files/iperf3/tcp.json"));
    assert_eq!(run.target.as_deref(), Some("127.0.0.1:5399"));
    assert_eq!((run.load.request_bytes, run.load.workers), (Some(131_072), Some(2)));
    assert_eq!(run.directions.len(), 1);
    let sent = &run.directions[0];
    assert_eq!((sent.way, sent.bytes.unwrap().value), (Way::Write, 4_688_183_296.0));
    let rate = sent.bytes_per_s.unwrap();
    assert!((rate.value - 12_493_126_906.339_853 / 8.0).abs() < 1e-3);
    assert!(rate.half < 1e-3);
    assert_eq!(run.intervals.len(), 3);
    let sum: f64 = run
        .intervals
        .iter()
        .map(|interval| interval.bytes_per_s.unwrap().value * interval.length_s)
        .sum();
    assert!((sum / sent.bytes.unwrap().value - 1.0).abs() < 1e-6);
    assert!(left_out.iter().any(|sentence| sentence.ends_with("sent again: 4.")), "{left_out:?}");
    assert_eq!(run.errors, None);
}

#[test]
fn datagrams_have_a_rate_and_losses() {
    let (run, _) = run(include_str!("../../tests/files/iperf3/udp.json"));
    assert_eq!(run.name, "UDP");
    assert_eq!(run.load.rate_per_s, Some(100e6 / 8.0 / 32_768.0));
    assert_eq!(run.directions[0].operations.unwrap().value, 763.0);
    assert_eq!(run.errors, Some(0));
}

#[test]
fn both_ways_and_reversed() {
    let (both, _) = run(include_str!("../../tests/files/iperf3/bidir.json"));
    let ways: Vec<_> = both.directions.iter().map(|direction| direction.way).collect();
    assert_eq!(ways, [Way::Write, Way::Read]);
    assert_eq!(both.directions[1].bytes.unwrap().value, 1_642_790_753.0);
    assert_eq!(both.load.read_share, None);
    let (reversed, _) = run(include_str!("../../tests/files/iperf3/reverse.json"));
    assert_eq!(reversed.load.read_share, Some(1.0));
    assert_eq!(reversed.directions[0].bytes.unwrap().value, 3_389_390_848.0);
    assert_eq!(reversed.intervals.get(0).unwrap().way, Some(Way::Read));
}

#[test]
fn failed_and_cut_tests_are_refused() {
    let failed = include_str!("../../tests/files/iperf3/error.json");
    assert!(is(failed));
    assert_eq!(
        read(failed).unwrap_err().to_string(),
        "iperf3 JSON, error: the test failed: unable to connect to server: Connection refused"
    );
    let text = include_str!("../../tests/files/iperf3/tcp.json");
    assert!(matches!(read(&text[..2000]), Err(ImportError::Truncated { .. })));
    let wrong = text.replace("\"blksize\":\t131072", "\"blksize\":\t-1");
    let message = read(&wrong).unwrap_err().to_string();
    assert_eq!(message, "iperf3 JSON, start.test_start.blksize: -1 is no count");
}
