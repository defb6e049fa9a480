//! Executes the steps of a trial, on a thread next to the load, by the trial's own time, and undoes them after it. The
//! rack control that executes them takes snapshots, too.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use stormeter_study::{Reset, Step, StepAction, StudyPlan, Timing};
use stormeter_trial::Disturbance;
use stormeter_units::format_duration_ns;

use crate::error::RunError;
use crate::progress::Progress;
use crate::rack_control::{RackControl, RackControlError};
use crate::shell::{Shell, ShellError};
use crate::study::reset::{self, ResetError};
use crate::study::start_reporter::StartReporter;

/// A step's command that takes longer is considered hung.
const LIMIT: Duration = Duration::from_secs(60);

/// How often cancellation is polled.
const LOOK: Duration = Duration::from_millis(50);
/// At the end of the window, the clocks of the load and of the steps differ by less than this.
const AFTER: Duration = Duration::from_millis(10);

/// The datastore of a trial, for commands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct On<'a> {
    pub(crate) datastore: &'a str,
    pub(crate) url: &'a str,
}

/// The steps of a study's trials, and what executes them.
#[derive(Default)]
pub(crate) struct Steps<'a> {
    steps: &'a [Step],
    rack_control: Option<&'a mut dyn RackControl>,
    /// The commands that undo those of this trial.
    undo: Vec<String>,
}

impl<'a> Steps<'a> {
    /// Checks that each step can be executed, and that a snapshot can be taken if trials start from one.
    ///
    /// # Errors
    /// There is no rack control, or it cannot.
    pub(crate) fn new(
        plan: &'a StudyPlan,
        mut rack_control: Option<&'a mut dyn RackControl>,
    ) -> Result<Self, RunError> {
        for step in &plan.steps {
            let StepAction::Fault(fault) = &step.what else { continue };
            let refused = |reason: String| RunError::Step {
                step: fault.to_string(),
                at: format_duration_ns(step.at_ns as f64),
                reason,
            };
            match &mut rack_control {
                None => return Err(refused(NO_LAB.into())),
                Some(rack_control) => {
                    rack_control.check(fault).map_err(|error| refused(error.to_string()))?;
                }
            }
        }
        if plan.design.reset == Reset::Snapshot {
            let refused = |reason| RunError::Reset(ResetError::NoSnapshot(reason));
            match &mut rack_control {
                None => return Err(refused(reset::NO_LAB.into())),
                Some(rack_control) => {
                    rack_control.check_snapshot().map_err(|error| refused(error.to_string()))?;
                }
            }
        }
        Ok(Self { steps: &plan.steps, rack_control, undo: Vec::new() })
    }

    /// Takes the snapshot from which every trial starts.
    pub(crate) fn snapshot(&mut self) -> Result<(), ResetError> {
        let Some(rack_control) = &mut self.rack_control else { return Ok(()) };
        rack_control.snapshot().map_err(|error| ResetError::NotTaken(error.to_string()))
    }

    /// Rolls the storage back to the snapshot.
    pub(crate) fn roll_back(&mut self) -> Result<(), ResetError> {
        let Some(rack_control) = &mut self.rack_control else { return Ok(()) };
        rack_control.roll_back().map_err(|error| ResetError::NotRolledBack(error.to_string()))
    }

    /// Whether there are any steps: then trials continue despite errors and stalls, which are counted.
    pub(crate) fn disturb(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Undoes what an earlier run may have left.
    pub(crate) fn begin(&mut self) -> Result<(), RunError> {
        if self.steps.iter().any(|step| matches!(step.what, StepAction::Fault(_))) {
            self.restore(On { datastore: "", url: "" })?;
        }
        Ok(())
    }

    /// Runs a trial while the steps are executed, and undoes them as soon as the window is over or the run is cancelled:
    /// otherwise I/Os outstanding on storage that is down would block the end. Also returns the executed steps, and
    /// whether all were undone.
    pub(crate) fn during<T>(
        &mut self,
        timing: Timing,
        on: On<'_>,
        (cancel, progress): (&AtomicBool, &mut dyn Progress),
        drive: impl FnOnce(&mut dyn Progress) -> T,
    ) -> (T, Vec<Disturbance>, Result<(), RunError>) {
        if self.steps.is_empty() {
            return (drive(progress), Vec::new(), Ok(()));
        }
        let over = AtomicBool::new(false);
        let (start, heard) = channel();
        std::thread::scope(|scope| {
            let over = &over;
            let trial = Trial { timing, on, heard, over, cancel };
            let taking = scope.spawn(move || {
                let done = self.take(&trial);
                (done, self.restore(on))
            });
            // The thread that executes the steps may have ended.
            let mut started = |at| {
                let _ = start.send(at);
            };
            let end = drive(&mut StartReporter { inner: progress, started: &mut started });
            over.store(true, Ordering::Relaxed);
            // The thread that waits for the next step learns that the trial is over.
            drop(start);
            let (done, whole) =
                taking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (end, done, whole)
        })
    }

    /// Executes the steps, and returns when the window is over.
    fn take(&mut self, trial: &Trial<'_>) -> Vec<Disturbance> {
        let Timing { ramp_ns, duration_ns, .. } = trial.timing;
        // A trial that does not start has no steps.
        let Ok(started) = trial.heard.recv() else { return Vec::new() };
        let since_window = |at_ns: u64| {
            let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
            signed(at_ns) - signed(ramp_ns)
        };
        let elapsed_ns = |from: Instant| from.elapsed().as_nanos() as u64;
        let steps = self.steps;
        let mut done = Vec::new();
        for step in steps {
            let is_due = trial.wait_until(started + Duration::from_nanos(step.at_ns));
            let (begun_ns, began) = (since_window(elapsed_ns(started)), Instant::now());
            let result = match is_due {
                true => self.apply(step, trial.on, trial.over),
                false => Err("the trial ended before it".into()),
            };
            done.push(Disturbance {
                what: step.what.to_string(),
                planned_ns: since_window(step.at_ns),
                begun_ns,
                took_ns: elapsed_ns(began),
                failure: result.err().map(|error: RackControlError| error.to_string()),
            });
        }
        let end_ns = ramp_ns.saturating_add(duration_ns);
        trial.wait_until(started + Duration::from_nanos(end_ns) + AFTER);
        done
    }

    fn apply(
        &mut self,
        step: &Step,
        on: On<'_>,
        over: &AtomicBool,
    ) -> Result<(), RackControlError> {
        match (&step.what, &mut self.rack_control) {
            (StepAction::Fault(fault), Some(rack_control)) => rack_control.apply(fault),
            (StepAction::Fault(_), None) => Err(NO_LAB.into()),
            (StepAction::Command { run, undo }, _) => {
                // A step that fails half way may have had an effect.
                self.undo.extend(undo.clone());
                command(run, on, &|| over.load(Ordering::Relaxed)).map_err(Into::into)
            }
        }
    }

    /// Undoes all steps, even if one of them cannot be undone.
    ///
    /// # Errors
    /// A step was not undone. The next trial would start with its effect.
    pub(crate) fn restore(&mut self, on: On<'_>) -> Result<(), RunError> {
        let mut first = None;
        while let Some(undo) = self.undo.pop() {
            // Also after cancellation.
            if let Err(error) = command(&undo, on, &|| false) {
                first.get_or_insert(error.to_string());
            }
        }
        if let Some(rack_control) = &mut self.rack_control
            && let Err(error) = rack_control.restore()
        {
            first.get_or_insert(error.to_string());
        }
        first.map_or(Ok(()), |reason| Err(RunError::NotRestored(reason)))
    }
}

/// The message if a step needs a lab and there is none.
const NO_LAB: &str = "it needs a lab: start one (stormeter lab up) and name its \
                      directory, or write a command: do: {command: \"…\", undo: \"…\"}";

/// What the thread that executes the steps knows of the trial.
struct Trial<'a> {
    timing: Timing,
    on: On<'a>,
    /// Receives the start of the load; closed when the trial has ended.
    heard: Receiver<Instant>,
    over: &'a AtomicBool,
    cancel: &'a AtomicBool,
}

impl Trial<'_> {
    /// Waits; `false` if the trial ends before, or the run is cancelled.
    fn wait_until(&self, moment: Instant) -> bool {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return false;
            }
            let rest = moment.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(rest.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) if rest <= LOOK => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
                // A trial starts once.
                Err(RecvTimeoutError::Timeout) | Ok(_) => {}
            }
        }
    }
}

/// Why the command of a step failed.
#[derive(Debug)]
struct CommandError {
    command: String,
    why: ShellError,
}

impl std::error::Error for CommandError {}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = &self.command;
        match &self.why {
            ShellError::Start(error) => write!(f, "the shell could not be started: {error}"),
            ShellError::Failed(status) => write!(
                f,
                "the command `{command}` ended with {status}; run it by hand to see what it says"
            ),
            ShellError::Endless => {
                let limit = LIMIT.as_secs();
                write!(f, "the command `{command}` did not end within {limit} s")
            }
            ShellError::Stopped => write!(
                f,
                "the command `{command}` had not ended when the trial was over; schedule the step earlier"
            ),
        }
    }
}

fn command(text: &str, on: On<'_>, stop: &dyn Fn() -> bool) -> Result<(), CommandError> {
    let shell = Shell { command: text, datastore: on.datastore, url: on.url, limit: LIMIT };
    shell.run(stop).map_err(|why| CommandError { command: text.into(), why })
}
