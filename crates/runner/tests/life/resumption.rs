//! A run that is resumed says whether its verdict could be read before, and its time is what it spent.

use stormeter_datastore::RealClock;
use stormeter_results::FinishReason;
use stormeter_runner::{Request, Resume, Silent};
use stormeter_statistics::{Fact, Severity};

use crate::fixture::{Hand, directories, found, main_trials, request, run};
use crate::request::request as study_of;

fn is_after_verdict(fact: &Fact) -> bool {
    matches!(fact, Fact::ResumedAfterVerdict(1))
}

fn interrupted_after(blocks: u32, request: &Request) {
    let stopped = run(request, &mut Hand::stopping_after(blocks));
    assert_eq!(stopped.finished.unwrap().reason, FinishReason::Interrupted);
    assert_eq!(found(&stopped.analysis.findings, is_after_verdict), None);
}

#[test]
fn resuming_a_comparison_with_a_verdict_is_reported() {
    for (blocks, expected) in [(1, None), (2, Some(Severity::Warning))] {
        let place = tempfile::tempdir().unwrap();
        let mut request = request(place.path(), "r.db");
        interrupted_after(blocks, &request);
        request.resume = Resume::Always;
        let resumed = run(&request, &mut Hand::still());
        assert_eq!(
            found(&resumed.analysis.findings, is_after_verdict),
            expected,
            "after {blocks} blocks"
        );
    }
}

#[test]
fn resuming_a_study_with_answers_is_reported() {
    for (blocks, expected) in [(1, None), (2, Some(Severity::Warning))] {
        let place = tempfile::tempdir().unwrap();
        let [a, b] = directories(place.path()).map(|path| path.display().to_string());
        let text = format!(
            "datastores: {{a: {a}, b: {b}}}\nworkloads: [{{profile: vm-4k, rate: 300}}]\n\
             disk: {{size: 4MiB}}\nmeasure: {{ramp: 20ms, duration: 200ms, interval: 20ms}}\n\
             design: {{blocks: 3}}\n"
        );
        let request = study_of(place.path(), &text);
        let mut hand = Hand::stopping_after(blocks);
        let cancel = hand.cancel;
        stormeter_runner::run(&request, &RealClock::new(), cancel, &mut hand).unwrap();
        let never = Hand::still().cancel;
        let resumed =
            stormeter_runner::run(&request, &RealClock::new(), never, &mut Silent).unwrap();
        assert_eq!(resumed.analysis.complete_blocks, 3);
        assert_eq!(
            found(&resumed.analysis.findings, is_after_verdict),
            expected,
            "after {blocks} blocks"
        );
    }
}

#[test]
fn the_time_limit_counts_what_was_spent_before_a_resumption() {
    let place = tempfile::tempdir().unwrap();
    let mut request = request(place.path(), "r.db");
    interrupted_after(3, &request);
    request.resume = Resume::Always;
    // Room for two blocks, and three were measured.
    request.plan.design.time_limit_ns = Some(1_000_000_000);
    let resumed = run(&request, &mut Hand::still());
    assert_eq!(resumed.finished.unwrap().reason, FinishReason::TimeLimit);
    assert_eq!(main_trials(&resumed.trials).len(), 6);
    // Once more there is nothing to do at all: not even a ceiling is measured.
    let again = run(&request, &mut Hand::still());
    assert_eq!(again.trials, resumed.trials);
}

#[test]
fn a_results_file_that_is_not_there_is_not_resumed() {
    let place = tempfile::tempdir().unwrap();
    let mut request = request(place.path(), "mistyped.db");
    request.resume = Resume::Always;
    let never = Hand::still().cancel;
    let error = stormeter_runner::run(&request, &RealClock::new(), never, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("no results file"), "{error}");
    assert!(!request.output.exists());
}
