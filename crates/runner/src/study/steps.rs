//! The steps of a trial: taken on a thread beside the load, by the trial's own time, and undone after it. Whoever
//! takes them takes snapshots, too.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use stormeter_study::{Reset, Step, StepAction, StudyPlan, Timing};
use stormeter_trial::{Disturbance, Interval};
use stormeter_units::format_duration_ns;

use crate::error::RunError;
use crate::progress::Progress;
use crate::rack_control::{RackControl, RackControlError};
use crate::shell::{Shell, ShellError};
use crate::study::reset::{self, ResetError};

/// A step's command that takes longer than this hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// How often a request to stop is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// The clocks of the load and of the steps agree to less than this at the window's end.
const AFTER: Duration = Duration::from_millis(10);

/// The datastore that a trial is on, for commands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct On<'a> {
    pub(crate) datastore: &'a str,
    pub(crate) url: &'a str,
}

/// The steps of a study's trials, and who takes them.
#[derive(Default)]
pub(crate) struct Steps<'a> {
    steps: &'a [Step],
    rack_control: Option<&'a mut dyn RackControl>,
    /// What brings back what commands changed in this trial, the last first.
    undo: Vec<String>,
}

impl<'a> Steps<'a> {
    /// Looks whether each can be taken, and a snapshot where trials begin with one.
    ///
    /// # Errors
    /// There is nobody who could, or he could not.
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
                None => return Err(refused(NOBODY.into())),
                Some(rack_control) => {
                    rack_control.check(fault).map_err(|error| refused(error.to_string()))?;
                }
            }
        }
        if plan.design.reset == Reset::Snapshot {
            let refused = |reason| RunError::Reset(ResetError::NoSnapshot(reason));
            match &mut rack_control {
                None => return Err(refused(reset::NOBODY.into())),
                Some(rack_control) => {
                    rack_control.check_snapshot().map_err(|error| refused(error.to_string()))?;
                }
            }
        }
        Ok(Self { steps: &plan.steps, rack_control, undo: Vec::new() })
    }

    /// Takes the snapshot that every trial begins with.
    pub(crate) fn snapshot(&mut self) -> Result<(), ResetError> {
        let Some(rack_control) = &mut self.rack_control else { return Ok(()) };
        rack_control.snapshot().map_err(|error| ResetError::NotTaken(error.to_string()))
    }

    /// Brings the storage back to the snapshot.
    pub(crate) fn roll_back(&mut self) -> Result<(), ResetError> {
        let Some(rack_control) = &mut self.rack_control else { return Ok(()) };
        rack_control.roll_back().map_err(|error| ResetError::NotRolledBack(error.to_string()))
    }

    /// Whether there are any: then trials go on through errors and stalls, and these are counted.
    pub(crate) fn disturb(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Makes whole what an earlier run may have left.
    pub(crate) fn begin(&mut self) -> Result<(), RunError> {
        if self.steps.iter().any(|step| matches!(step.what, StepAction::Fault(_))) {
            self.restore(On { datastore: "", url: "" })?;
        }
        Ok(())
    }

    /// Drives a trial while the steps are taken, and makes everything whole as soon as the window is over or
    /// somebody asks to stop: what is outstanding on storage that is down would be waited for. What was done comes
    /// with it, and whether everything is whole.
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
        let (begun, heard) = channel();
        std::thread::scope(|scope| {
            let over = &over;
            let trial = Trial { timing, on, heard, over, cancel };
            let taking = scope.spawn(move || {
                let done = self.take(&trial);
                (done, self.restore(on))
            });
            let mut teller = Teller { inner: progress, begun };
            let end = drive(&mut teller);
            over.store(true, Ordering::Relaxed);
            // Who waits for the next step hears that there is none.
            drop(teller);
            let (done, whole) =
                taking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (end, done, whole)
        })
    }

    /// Takes the steps, and returns when the window is over.
    fn take(&mut self, trial: &Trial<'_>) -> Vec<Disturbance> {
        let Timing { ramp_ns, duration_ns, .. } = trial.timing;
        // A trial that does not begin has no steps.
        let Ok(begun) = trial.heard.recv() else { return Vec::new() };
        let since_window = |at_ns: u64| {
            let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
            signed(at_ns) - signed(ramp_ns)
        };
        let elapsed_ns = |from: Instant| from.elapsed().as_nanos() as u64;
        let steps = self.steps;
        let mut done = Vec::new();
        for step in steps {
            let is_due = trial.wait_until(begun + Duration::from_nanos(step.at_ns));
            let (begun_ns, began) = (since_window(elapsed_ns(begun)), Instant::now());
            let result = match is_due {
                true => self.apply(step, trial.on, trial.over),
                false => Err("the trial was over before".into()),
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
        trial.wait_until(begun + Duration::from_nanos(end_ns) + AFTER);
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
            (StepAction::Fault(_), None) => Err(NOBODY.into()),
            (StepAction::Command { run, undo }, _) => {
                // One that fails half way may have changed something all the same.
                self.undo.extend(undo.clone());
                command(run, on, &|| over.load(Ordering::Relaxed)).map_err(Into::into)
            }
        }
    }

    /// Brings back what was changed; all of it is tried.
    ///
    /// # Errors
    /// Something stays as it is. The next trial would begin with it.
    pub(crate) fn restore(&mut self, on: On<'_>) -> Result<(), RunError> {
        let mut first = None;
        while let Some(undo) = self.undo.pop() {
            // Whoever asked to stop wants this all the same.
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

/// Said where a lab's verb meets no lab.
const NOBODY: &str = "there is nobody who could do it; start the lab (stormeter lab up) and name its \
                      directory, or write a command: do: {command: \"…\", undo: \"…\"}";

/// What whoever takes the steps knows of the trial.
struct Trial<'a> {
    timing: Timing,
    on: On<'a>,
    /// Tells when the load begins, and by its end that it has ended.
    heard: Receiver<Instant>,
    over: &'a AtomicBool,
    cancel: &'a AtomicBool,
}

impl Trial<'_> {
    /// Waits; `false` when the trial is over before, or somebody asks to stop.
    fn wait_until(&self, moment: Instant) -> bool {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return false;
            }
            let rest = moment.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(rest.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) if rest <= LOOK => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
                // A trial begins once.
                Err(RecvTimeoutError::Timeout) | Ok(_) => {}
            }
        }
    }
}

/// Why a command of a step did not do what it should.
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
                "the command `{command}` had not ended when the trial was over; let the step come earlier"
            ),
        }
    }
}

fn command(text: &str, on: On<'_>, stop: &dyn Fn() -> bool) -> Result<(), CommandError> {
    let shell = Shell { command: text, datastore: on.datastore, url: on.url, limit: LIMIT };
    shell.run(stop).map_err(|why| CommandError { command: text.into(), why })
}

/// Passes on what an executor reports during a trial, and sends the start of the load.
struct Teller<'a> {
    inner: &'a mut dyn Progress,
    begun: Sender<Instant>,
}

impl Progress for Teller<'_> {
    fn load_starts(&mut self, at: Instant) {
        // Whoever takes the steps may have ended.
        let _ = self.begun.send(at);
        self.inner.load_starts(at);
    }

    fn interval(&mut self, row: &Interval) {
        self.inner.interval(row);
    }

    fn note(&mut self, text: &str) {
        self.inner.note(text);
    }

    fn preparing(&mut self, datastore: &str, done: u64, total: u64) {
        self.inner.preparing(datastore, done, total);
    }
}
