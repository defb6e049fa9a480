//! What trials touched of their disks is on every kind of report.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod study_fixture;

use fixture::{LOCAL, NAS, report};
use stormeter_report::compact::{Compact, html, terminal};
use stormeter_report::{TerminalOptions, json};
use stormeter_statistics::Touched;
use study_fixture::study;

const TOUCHED: Touched =
    Touched { trial_share: 0.062, run_share: 0.58, again_share: 0.12, working_set_bytes: 1 << 30 };

fn touched() -> Compact {
    let mut report = report(&[LOCAL, NAS]);
    report.datastores[0].touched = Some(TOUCHED);
    report
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_comparison_says_it_of_each_datastore() {
    let text = words(&terminal(&touched(), TerminalOptions::default()));
    let said = "a trial 6.2 % of 1GiB, all trials 58 %, 12 % of the bytes again";
    assert!(text.contains(&format!("{said}.")), "{text}");
    assert!(html(&touched()).contains("Touched of the disks"));
    let unknown = terminal(&report(&[LOCAL, NAS]), TerminalOptions::default());
    assert!(!unknown.contains("Touched"), "{unknown}");
}

#[test]
fn a_study_says_it_of_each_cell_and_the_range_over_all() {
    let mut study = study();
    study.analysis.cells[0].touched = Some(TOUCHED);
    study.analysis.cells[1].touched = Some(Touched { trial_share: 0.5, ..TOUCHED });
    let text = words(&stormeter_report::terminal(&study, TerminalOptions::default()));
    assert!(text.contains("Touched: a trial 6.2 to 50 % of its disks"), "{text}");
    assert_eq!(stormeter_report::html(&study).matches("Touched of the disks").count(), 2);
    let json = json(&study);
    assert_eq!(json["cells"][1]["touched"]["trial_share"], 0.5);
}
