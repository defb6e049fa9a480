//! Which verdict ends with which exit code, on results that are made to be sure: the figures of a
//! finished file are changed, and `compare --resume`, which then has nothing left to measure, and
//! `report` say what they amount to.

use std::fs;
use std::path::PathBuf;

use crate::place::{Place, SHORT, SURE};
use crate::results::{change, trials};

const COMPARE: &str = "compare a b --seed 5 --max-blocks 5 --output r.db";

/// A finished comparison by this metric.
fn finished(metric: &str) -> (Place, String, PathBuf) {
    let place = Place::new();
    let arguments = format!(
        "{COMPARE} {SHORT} --outstanding 1 --burst 1 --burst-delay 2ms --metric {metric} \
         --precision 0.1% --margin 0.1%"
    );
    place.run_until(&[0, 4], &arguments);
    let path = place.path("r.db");
    assert_eq!(trials(&path).len(), 10);
    (place, format!("{arguments} --resume"), path)
}

/// Gives the candidate this longest latency in a block, and the baseline 50 ms in all.
fn set_longest(path: &std::path::Path, candidate_ms: [u32; 5]) {
    change(path, "UPDATE total SET latency_max_ns = 50000000 WHERE operations > 0");
    for (block, ms) in candidate_ms.iter().enumerate() {
        change(
            path,
            &format!(
                "UPDATE total SET latency_max_ns = {ms}000000 WHERE operations > 0 AND trial_id IN \
                 (SELECT id FROM trial WHERE phase = 'main' AND datastore = 1 AND block = {block})"
            ),
        );
    }
}

#[test]
fn a_difference_or_none_ends_with_0_and_an_open_question_with_4() {
    let (place, resume, path) = finished("latency-max");
    let cases = [
        ([100, 101, 100, 99, 100], 0, "b is slower than a"),
        ([25, 25, 26, 25, 24], 0, "b is faster than a"),
        ([50, 50, 50, 50, 50], 0, "are equivalent"),
        ([50, 100, 25, 100, 25], 4, "Inconclusive: b may"),
    ];
    for (candidate_ms, code, words) in cases {
        set_longest(&path, candidate_ms);
        let outcome = place.run(&resume).expect(&[code]);
        assert!(outcome.said().contains(words), "{words:?} is not in {outcome:#?}");
        // The file says it again, to scripts too.
        place.run("report r.db").expect(&[code]);
    }
    assert_eq!(trials(&path).len(), 10, "there was nothing left to measure");
}

#[test]
fn a_broken_law_ends_with_5_and_is_named() {
    let (place, resume, path) = finished("iops");
    place.run(&resume).expect(&[0, 4]);
    // The same operations over a time a million times as long: a generator that can do next to
    // nothing.
    change(
        &path,
        "UPDATE sample SET window_ns = window_ns * 1000000 WHERE trial_id IN \
         (SELECT id FROM trial WHERE phase = 'ceiling')",
    );
    let outcome = place.run(&resume).expect(&[5]);
    for words in ["The result is invalid", "the generator's own ceiling", "use more --threads"] {
        assert!(outcome.said().contains(words), "{words:?} is not in {outcome:#?}");
    }
    let json = place.run("report r.db --json").expect(&[5]).json();
    assert_eq!(json["valid"], false);
    for comparison in json["comparisons"].as_array().unwrap() {
        assert_eq!(comparison["verdict"], "invalid");
    }
}

#[test]
fn a_finished_comparison_is_shown_again_without_its_datastores() {
    let place = Place::new();
    let arguments = format!("compare a b {SHORT} {SURE} --output r.db");
    let first = place.run_until(&[0], &arguments);
    fs::remove_dir(place.path("a")).unwrap();
    fs::remove_dir(place.path("b")).unwrap();
    let again = place.run(&format!("{arguments} --resume")).expect(&[0]);
    assert_eq!(again.stdout, first.stdout);
}
