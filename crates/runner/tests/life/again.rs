//! Trials that break: their block is measured again, and storage that keeps failing is invalid all the same.

use std::path::Path;

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_results::{Event, EventKind};
use stormeter_runner::{Request, Resume, finished};
use stormeter_statistics::{Fact, MeasuredAgain, Severity};

use crate::fixture::{BLOCKS, Hand, directories, found, main_trials, request, run};
use crate::request::request as study_of;

fn is_measured_again(fact: &Fact, is_one: impl Fn(&MeasuredAgain) -> bool) -> bool {
    matches!(fact, Fact::MeasuredAgain { again, .. } if is_one(again))
}

#[test]
fn a_block_in_which_a_trial_broke_is_measured_again_and_the_comparison_stands() {
    let place = tempfile::tempdir().unwrap();
    let [a, _] = directories(place.path());
    let conclusion = run(&request(place.path(), "r.db"), &mut Hand::spoiling(&a, &[(1, 1)]));
    let analysis = &conclusion.analysis;
    assert!(!analysis.is_invalid(), "{:#?}", analysis.findings);
    assert_eq!(analysis.complete_blocks, BLOCKS);
    let is_one =
        |fact: &Fact| is_measured_again(fact, |again| (again.blocks, again.of) == (1, BLOCKS));
    assert_eq!(found(&analysis.findings, is_one), Some(Severity::Warning));
    // Both datastores of the block have another trial, and the one that broke is kept.
    assert_eq!(main_trials(&conclusion.trials).len(), 2 * BLOCKS as usize + 2);
    let again: Vec<_> =
        conclusion.trials.iter().filter(|trial| trial.attempt.number == 1).collect();
    assert_eq!(again.iter().map(|trial| trial.block).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(again[0].seed, again[1].seed);
    assert!(conclusion.trials.iter().all(|it| it.attempt.number == 1 || it.seed != again[0].seed));
}

#[test]
fn a_block_that_breaks_in_all_attempts_ends_a_comparison_as_invalid() {
    let place = tempfile::tempdir().unwrap();
    let [a, _] = directories(place.path());
    let conclusion = run(&request(place.path(), "r.db"), &mut Hand::spoiling(&a, &[(0, 9)]));
    assert!(conclusion.analysis.is_invalid());
    assert_eq!(main_trials(&conclusion.trials).len(), 6, "three attempts at the first block");
    // The repeated command of a study shows that, and measures nothing.
    let mut request = Request { resume: Resume::IfPresent, ..request(place.path(), "r.db") };
    assert_eq!(finished(&request).unwrap(), Some(conclusion));
    request.resume = Resume::Always;
    assert_eq!(finished(&request).unwrap(), None, "resuming is asked for");
    request = Request { resume: Resume::IfPresent, redo_invalid: true, ..request };
    assert_eq!(finished(&request).unwrap(), None, "and so is measuring again");
}

#[test]
fn storage_that_fails_now_and_again_is_not_judged_by_the_trials_that_went_well() {
    let place = tempfile::tempdir().unwrap();
    let [a, _] = directories(place.path());
    let spoils = [(1, 1), (2, 1), (3, 1)];
    let conclusion = run(&request(place.path(), "r.db"), &mut Hand::spoiling(&a, &spoils));
    assert!(conclusion.analysis.is_invalid(), "{:#?}", conclusion.analysis.findings);
    let is_again = |fact: &Fact| is_measured_again(fact, |_| true);
    assert_eq!(found(&conclusion.analysis.findings, is_again), Some(Severity::Invalid));
}

/// Two cells of one load, and two of another.
fn study(place: &Path) -> Request {
    let [a, b] = directories(place).map(|path| path.display().to_string());
    study_of(
        place,
        &format!(
            "datastores: {{a: {a}, b: {b}}}\nworkloads: [{{profile: vm-4k, read: 100%, rate: 300}}]\n\
             load: {{vms: [1, 2]}}\ndisk: {{size: 4MiB}}\n\
             measure: {{ramp: 20ms, duration: 200ms, interval: 20ms}}\ndesign: {{blocks: 3}}\n"
        ),
    )
}

fn carry_out(request: &Request, hand: &mut Hand) -> Conclusion {
    let cancel = hand.cancel;
    stormeter_runner::run(request, &RealClock::new(), cancel, hand).unwrap()
}

fn invalid_cells(conclusion: &Conclusion) -> Vec<usize> {
    let findings = conclusion.analysis.findings.iter();
    let invalid = findings.filter(|(_, found)| found.severity == Severity::Invalid);
    let mut cells: Vec<usize> = invalid.filter_map(|(cell, _)| *cell).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

#[test]
fn a_study_measures_the_load_of_a_broken_cell_again_and_no_other() {
    let place = tempfile::tempdir().unwrap();
    let [a, _] = directories(place.path());
    let conclusion = carry_out(&study(place.path()), &mut Hand::spoiling(&a, &[(1, 1)]));
    assert_eq!(
        invalid_cells(&conclusion),
        Vec::<usize>::new(),
        "{:#?}",
        conclusion.analysis.findings
    );
    assert_eq!(conclusion.analysis.complete_blocks, 3);
    let again: Vec<_> =
        conclusion.trials.iter().filter(|trial| trial.attempt.number == 1).collect();
    let mut cells: Vec<usize> = again.iter().map(|trial| trial.cell.unwrap()).collect();
    cells.sort_unstable();
    assert_eq!(cells.len(), 2, "{again:#?}");
    let all = conclusion.header.plan.cells();
    assert_eq!(all[cells[0]].vms, all[cells[1]].vms);
    let is_one = |fact: &Fact| is_measured_again(fact, |again| (again.blocks, again.of) == (1, 3));
    assert_eq!(found(&conclusion.analysis.findings, is_one), Some(Severity::Warning));
}

#[test]
fn invalid_cells_are_measured_again_on_request_and_the_report_says_so() {
    let place = tempfile::tempdir().unwrap();
    let [a, _] = directories(place.path());
    let mut request = study(place.path());
    // The disk of a stays too short whatever is tried: both of its cells are invalid.
    let always = [(0, 99), (1, 99), (2, 99)];
    let broken = carry_out(&request, &mut Hand::spoiling(&a, &always));
    assert_eq!(invalid_cells(&broken).len(), 2, "{:#?}", broken.analysis.findings);
    let tried = main_trials(&broken.trials).len();
    // Two loads of two cells: three attempts at the first block, one at each of the others.
    assert_eq!(tried, 2 * 2 * (3 + 1 + 1));
    // As it is it would only be shown again.
    assert!(finished(&request).unwrap().is_some());

    request.redo_invalid = true;
    let redone = carry_out(&request, &mut Hand::still());
    assert_eq!(invalid_cells(&redone), Vec::<usize>::new(), "{:#?}", redone.analysis.findings);
    assert_eq!(redone.analysis.complete_blocks, 3);
    assert_eq!(main_trials(&redone.trials).len(), tried + 2 * 2 * 3);
    assert_eq!(redone.trials[..broken.trials.len()], broken.trials[..], "nothing is lost");
    let is_redo = |event: &&Event| matches!(event.kind, EventKind::Redone { .. });
    assert_eq!(redone.events.iter().filter(is_redo).count(), 1, "{:?}", redone.events);
    // Now there is nothing to measure again.
    let shown = carry_out(&request, &mut Hand::still());
    assert_eq!(shown.trials, redone.trials);
}

#[test]
fn what_is_not_there_cannot_be_measured_again() {
    let place = tempfile::tempdir().unwrap();
    let mut request = study(place.path());
    request.redo_invalid = true;
    let error = finished(&request).unwrap_err().to_string();
    assert!(error.contains("no results file"), "{error}");
    assert!(!request.output.exists());
}
