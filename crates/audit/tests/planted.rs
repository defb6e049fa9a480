//! A table with twenty-two planted mistakes, each found with its explanation, and one without any.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_audit::{Finding, Law, Level, audit_sheet, sentence};
use stormeter_replicate::Sheet;

fn audited(text: &str) -> Vec<Finding> {
    audit_sheet(&Sheet::read(text).unwrap()).unwrap()
}

/// Of each planted mistake: its law, its level, its place and a part of its sentence.
const PLANTED: [(Law, Level, &str, &str); 22] = [
    (
        Law::Throughput,
        Level::Broken,
        "Table 1, size",
        "32 KiB requests give, the size of longest, not 4 KiB",
    ),
    (Law::Little, Level::Broken, "Table 1, little", "of one of 4 workers"),
    (Law::Throughput, Level::Broken, "Table 1, bits", "bits are printed as bytes"),
    (Law::Distribution, Level::Broken, "Table 1, longest", "mean latency of 1.75 ms is above"),
    (Law::ZeroLatency, Level::Doubtful, "Table 1, zero", "latency is 0 ms"),
    (Law::Summary, Level::Broken, "Table 2, error", "the SD is printed as the SE"),
    (Law::Summary, Level::Broken, "Table 2, middle", "mean less median"),
    (Law::Summary, Level::Broken, "Table 2, range", "range is stated as 800 IOPS"),
    (Law::Summary, Level::Broken, "Table 2, spread", "SD of any sample with this range"),
    (Law::Ceiling, Level::Broken, "Table 3, r1", "below the 1 Gb/s link (80 ms), as 1 of 5"),
    (Law::SummaryOfRows, Level::Broken, "Table 3, mean", "mean of 4 rows gives 41.55 ms"),
    (Law::AveragedPercentile, Level::Doubtful, "Table 4, mean", "p99 of all rows is their average"),
    (Law::MovedInTime, Level::Broken, "Table 5", "moved of 2 GB is above"),
    (
        Law::Usage,
        Level::Broken,
        "Table 5, row 2",
        "sent and received (6913 KB/s): the two are exchanged",
    ),
    (Law::Counts, Level::Broken, "Table 6, low", "vms_total is stated as 36"),
    (Law::Test, Level::Broken, "Table 7, datastore", "one-sided"),
    (Law::Copies, Level::Doubtful, "Table 8, monday", "the same 3 figures as tuesday"),
    (Law::Base, Level::Broken, "section 1", "percent of the other figure"),
    (
        Law::Claim,
        Level::Broken,
        "section 2",
        "\"ranges are faster than errors\": sample.range.mean is 18100",
    ),
    (Law::NoPart, Level::Doubtful, "section 3", "faster where the disk is on the NAS"),
    (Law::Unit, Level::Broken, "Table 10", "latency is in MB/s, which is bytes in a time"),
    (
        Law::Independence,
        Level::Doubtful,
        "Table 11, nas",
        "the number of samples of 640 is above the number of runs",
    ),
];

#[test]
fn every_planted_mistake_is_found_with_its_explanation_and_nothing_else_is() {
    let found = audited(include_str!("files/planted.yaml"));
    let mut rest: Vec<(Finding, String)> =
        found.into_iter().map(|finding| (finding.clone(), sentence(&finding))).collect();
    for (law, level, place, part) in PLANTED {
        let position = rest.iter().position(|(finding, text)| {
            finding.law == law
                && finding.level == level
                && finding.place == place
                && text.contains(part)
        });
        match position {
            Some(position) => drop(rest.remove(position)),
            None => panic!("{law:?} at {place} ({part}) is not among {rest:#?}"),
        }
    }
    assert!(rest.is_empty(), "{rest:#?}");
}

#[test]
fn a_sound_table_raises_nothing() {
    let found = audited(include_str!("files/sound.yaml"));
    assert!(found.is_empty(), "{found:#?}");
}
