//! Two runs at one time: each report names the other, whichever began first.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stormeter_datastore::RealClock;
use stormeter_results::{
    DatastoreFact, DatastoreNote, ResultsFile, Sharing, StorageEvent, TrialRecord,
};
use stormeter_runner::{Request, Silent, run};

use stormeter_study::Blocks;

use crate::fixture::{main_trials, request};
use crate::request::request as study_request;

/// The other runs that the trials met: their ids, and what was shared.
fn met(trials: &[TrialRecord]) -> Vec<(&str, Sharing)> {
    let all = trials.iter().flat_map(|trial| &trial.incidents);
    let runs = all.filter_map(|incident| match &incident.event {
        StorageEvent::OtherRun { run_id, sharing, .. } => Some((run_id.as_str(), *sharing)),
        _ => None,
    });
    runs.collect()
}

fn run_id(output: &Path) -> String {
    ResultsFile::open(output).unwrap().header().unwrap().run_id
}

/// Looks until the file has a trial.
fn wait_for_a_trial(output: &Path) {
    let began = Instant::now();
    let trials = || ResultsFile::open(output).and_then(|file| file.trials()).unwrap_or_default();
    while main_trials(&trials()).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "no trial");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A run that continues while `meanwhile` does its work; its trials.
fn while_it_runs(first: &Request, meanwhile: impl FnOnce()) -> Vec<TrialRecord> {
    let cancel = AtomicBool::new(false);
    let conclusion = std::thread::scope(|scope| {
        let run = || run(first, &RealClock::new(), &cancel, &mut Silent).unwrap();
        let running = scope.spawn(run);
        wait_for_a_trial(&first.output);
        meanwhile();
        cancel.store(true, Ordering::Relaxed);
        running.join().unwrap()
    });
    conclusion.trials
}

fn long(place: &Path) -> Request {
    let mut first = request(place, "first.db");
    first.plan.design.blocks = Blocks::Auto { min: 5, max: 10_000 };
    first
}

#[test]
fn two_comparisons_of_the_same_directories_are_noted_in_both_reports() {
    let place = tempfile::tempdir().unwrap();
    let first = long(place.path());
    let second = request(place.path(), "second.db");
    let of_first = while_it_runs(&first, || {
        let conclusion = run(&second, &RealClock::new(), &AtomicBool::new(false), &mut Silent);
        let conclusion = conclusion.unwrap();
        let met = met(&conclusion.trials);
        let id = run_id(&first.output);
        assert!(met.iter().any(|(run_id, _)| *run_id == id), "{met:?}");
        let every = main_trials(&conclusion.trials);
        assert!(every.iter().all(|trial| !trial.incidents.is_empty()), "{every:?}");
        let notes = &conclusion.header.datastores[0].notes;
        let is_of_other =
            |note: &DatastoreNote| matches!(note.fact, DatastoreFact::OtherRun { .. });
        assert!(notes.iter().any(is_of_other), "who came second knows at once: {notes:?}");
    });
    let met = met(&of_first);
    // Other tests work on the same file system meanwhile.
    let id = run_id(&second.output);
    let of_second = met.iter().find(|(run_id, _)| *run_id == id);
    assert!(of_second.is_some_and(|(_, sharing)| *sharing == Sharing::Directory), "{met:?}");
}

#[test]
fn a_study_next_to_a_comparison_on_the_same_file_system_is_noted_in_both() {
    let place = tempfile::tempdir().unwrap();
    let first = long(place.path());
    let other = place.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let study = study_request(
        &other,
        &format!(
            "datastores: {{c: {0}, d: {0}}}\nworkloads: [{{profile: vm-4k, rate: 300}}]\n\
             disk: {{size: 4MiB}}\nmeasure: {{ramp: 20ms, duration: 100ms, interval: 20ms}}\n\
             design: {{blocks: 2}}\n",
            other.display()
        ),
    );
    let of_first = while_it_runs(&first, || {
        let never = AtomicBool::new(false);
        let conclusion = run(&study, &RealClock::new(), &never, &mut Silent).unwrap();
        let met = met(&conclusion.trials);
        let id = run_id(&first.output);
        let (_, sharing) = met.iter().find(|(run_id, _)| *run_id == id).unwrap();
        assert_eq!(*sharing, Sharing::FileSystem);
    });
    let id = ResultsFile::open(&study.output).unwrap().header().unwrap().run_id;
    let met = met(&of_first);
    assert!(met.iter().any(|(run_id, _)| *run_id == id), "{met:?}");
}
