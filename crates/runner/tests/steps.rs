//! The steps of trials, taken by a rack control of the tests and by commands: each in its turn, its failure reported,
//! and everything whole again after every trial, however that ended.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_results::{Phase, ResultsFile, TrialOutcome, TrialRecord};
use stormeter_runner::{
    Collaborators, Progress, RackControl, RackControlError, Request, RunError, Silent, TrialStart,
    run,
};
use stormeter_study::FaultSpec;
use stormeter_trial::{Interval, TrialFailure};

/// Writes down what it is asked for.
#[derive(Default, Clone)]
struct Notebook(Arc<Mutex<Vec<String>>>);

impl Notebook {
    fn note(&self, what: &str) {
        self.0.lock().unwrap().push(what.into());
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Knows the guest `nas` and cannot kill it.
struct TestRackControl {
    notes: Notebook,
    restores: bool,
}

impl RackControl for TestRackControl {
    fn check(&mut self, fault: &FaultSpec) -> Result<(), RackControlError> {
        if fault.target == "nas" {
            Ok(())
        } else {
            Err(format!("no guest {}", fault.target).into())
        }
    }

    fn apply(&mut self, fault: &FaultSpec) -> Result<(), RackControlError> {
        self.notes.note(&fault.to_string());
        if fault.to_string() == "kill nas" { Err("it is immortal".into()) } else { Ok(()) }
    }

    fn restore(&mut self) -> Result<(), RackControlError> {
        self.notes.note("restore");
        if self.restores { Ok(()) } else { Err("nas stays down".into()) }
    }

    fn check_snapshot(&mut self) -> Result<(), RackControlError> {
        Ok(())
    }

    fn snapshot(&mut self) -> Result<(), RackControlError> {
        self.notes.note("snapshot");
        Ok(())
    }

    fn roll_back(&mut self) -> Result<(), RackControlError> {
        self.notes.note("roll back");
        Ok(())
    }
}

/// A study of two datastores, two blocks and short trials, with these steps.
fn request(directory: &Path, steps: &str) -> Request {
    let text = format!(
        "datastores: {{a: \"null:\", b: \"null:\"}}\n\
         workloads: [{{profile: vm-4k, rate: 500}}]\n\
         disk: {{size: 4MiB}}\n\
         measure: {{ramp: 20ms, duration: 200ms, interval: 20ms}}\n\
         design: {{blocks: 2, order: as-written, metric: latency-mean}}\n\
         steps: {steps}\n"
    );
    request::request(directory, &text)
}

fn run_with(
    request: &Request,
    rack_control: &mut TestRackControl,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    let collaborators =
        Collaborators { rack_control: Some(rack_control), ..Collaborators::default() };
    stormeter_runner::run_with(collaborators, request, &RealClock::new(), cancel, progress)
}

fn rack_control() -> (TestRackControl, Notebook) {
    let notes = Notebook::default();
    (TestRackControl { notes: notes.clone(), restores: true }, notes)
}

fn main_trials(conclusion: &Conclusion) -> Vec<&TrialRecord> {
    conclusion.trials.iter().filter(|trial| trial.phase == Phase::Main).collect()
}

const STEPS: &str = "[{at: 0ms, do: link-down nas}, {at: 100ms, do: link-up nas}]";

#[test]
fn every_trial_has_its_steps_in_their_order_and_everything_is_whole_between() {
    let directory = tempfile::tempdir().unwrap();
    let (mut rack_control, notes) = rack_control();
    let request = request(directory.path(), STEPS);
    let never = AtomicBool::new(false);
    let conclusion = run_with(&request, &mut rack_control, &never, &mut Silent).unwrap();
    let one = ["link-down nas", "link-up nas", "restore"];
    let expected: Vec<&str> = ["restore"].into_iter().chain(one.repeat(4)).collect();
    assert_eq!(notes.taken(), expected);
    let trials = main_trials(&conclusion);
    assert_eq!(trials.len(), 4);
    for trial in trials {
        let TrialOutcome::Measured { sample, .. } = &trial.outcome else { panic!("{trial:?}") };
        let planned: Vec<i64> = sample.disturbances.iter().map(|step| step.planned_ns).collect();
        assert_eq!(planned, [-20_000_000, 80_000_000], "since the window opened");
        assert!(sample.disturbances.iter().all(|step| step.begun_ns >= step.planned_ns));
    }
    let ceilings = conclusion.trials.iter().filter(|trial| trial.phase == Phase::Ceiling);
    assert!(ceilings.filter_map(TrialRecord::sample).all(|s| s.disturbances.is_empty()));
}

#[test]
fn a_step_without_a_lab_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let never = AtomicBool::new(false);
    let lonely = request(directory.path(), STEPS);
    let error = run(&lonely, &RealClock::new(), &never, &mut Silent).unwrap_err().to_string();
    assert!(
        error.contains("`link-down nas` at 0") && error.contains("stormeter lab up"),
        "{error}"
    );
    let (mut rack_control, notes) = rack_control();
    let unknown = request(directory.path(), "[{at: 10ms, do: pause san}]");
    let error = run_with(&unknown, &mut rack_control, &never, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("pause san") && error.contains("no guest san"), "{error}");
    assert!(notes.taken().is_empty());
    assert!(!lonely.output.exists());
}

#[test]
fn a_step_that_fails_fails_its_trial_with_its_reason_and_the_study_continues() {
    let directory = tempfile::tempdir().unwrap();
    let (mut rack_control, notes) = rack_control();
    let steps = "[{at: 0ms, do: kill nas}, {at: 50ms, do: {command: \"exit 7\"}}]";
    let never = AtomicBool::new(false);
    let request = request(directory.path(), steps);
    let conclusion = run_with(&request, &mut rack_control, &never, &mut Silent).unwrap();
    // The first block is measured three times, and then there is no use in it.
    let trials = main_trials(&conclusion);
    assert_eq!(trials.len(), 2 * (3 + 1));
    assert_eq!(notes.taken().iter().filter(|note| *note == "restore").count(), trials.len() + 1);
    for trial in trials {
        let TrialOutcome::Failed { failure, sample } = &trial.outcome else { panic!("{trial:?}") };
        let TrialFailure::Step { step, said } = failure else { panic!("{failure:?}") };
        assert!(step == "kill nas" && said.contains("immortal"), "{failure}");
        let second = sample.as_ref().unwrap().disturbances[1].failure.clone().unwrap();
        assert!(second.contains("exit 7") && second.contains("by hand"), "{second}");
    }
}

#[test]
fn commands_know_their_datastore_and_are_undone_after_each_trial() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("log");
    let log = file.display();
    let steps = format!(
        "[{{at: 10ms, do: {{command: 'echo do $STORMETER_DATASTORE >> {log}', undo: 'echo undo \
         $STORMETER_DATASTORE >> {log}'}}}}, {{at: 20ms, do: {{command: 'echo more >> {log}', undo: \
         'echo less >> {log}'}}}}]"
    );
    let request = request(directory.path(), &steps);
    let never = AtomicBool::new(false);
    run(&request, &RealClock::new(), &never, &mut Silent).unwrap();
    let log = std::fs::read_to_string(&file).unwrap();
    let one = |store: &str| format!("do {store}\nmore\nless\nundo {store}\n");
    assert_eq!(log, [one("a"), one("b")].concat().repeat(2));
}

/// Asks to stop at the first interval of a trial with steps.
struct Impatient<'a> {
    cancel: &'a AtomicBool,
    trials: u32,
}

impl Progress for Impatient<'_> {
    fn trial(&mut self, start: &TrialStart<'_>) {
        self.trials += u32::from(start.purpose == "trial");
    }

    fn interval(&mut self, _row: &Interval) {
        if self.trials > 0 {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn whoever_stops_a_study_in_the_middle_of_a_trial_finds_everything_whole() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("log");
    let steps = format!(
        "[{{at: 0ms, do: link-down nas}}, {{at: 0ms, do: {{command: 'true', undo: 'echo undone >> {}'}}}}, \
         {{at: 219ms, do: link-up nas}}]",
        file.display()
    );
    let (mut rack_control, notes) = rack_control();
    let cancel = AtomicBool::new(false);
    let request = request(directory.path(), &steps);
    let mut impatient = Impatient { cancel: &cancel, trials: 0 };
    let conclusion = run_with(&request, &mut rack_control, &cancel, &mut impatient).unwrap();
    assert_eq!(main_trials(&conclusion).len(), 0);
    assert_eq!(notes.taken(), ["restore", "link-down nas", "restore"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "undone\n");
}

#[test]
fn nothing_more_is_begun_on_what_stays_broken() {
    let directory = tempfile::tempdir().unwrap();
    let steps = "[{at: 0ms, do: {command: 'true', undo: 'exit 3'}}]";
    let request = request(directory.path(), steps);
    let never = AtomicBool::new(false);
    let error = run(&request, &RealClock::new(), &never, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("were not undone") && error.contains("exit 3"), "{error}");
    let kept = ResultsFile::open(&request.output).unwrap().trials().unwrap();
    let kept: Vec<_> = kept.iter().filter(|trial| trial.phase == Phase::Main).collect();
    assert_eq!(kept.len(), 1, "the trial itself is kept");

    let (mut rack_control, notes) = rack_control();
    rack_control.restores = false;
    let request =
        Request { output: directory.path().join("s.db"), ..self::request(directory.path(), STEPS) };
    let error = run_with(&request, &mut rack_control, &never, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("nas stays down"), "{error}");
    assert_eq!(notes.taken(), ["restore"], "no trial was started");
}
