//! What is done to the site during a trial: a study's steps, which a lab could carry out too, and faults that
//! only a prediction has.
//!
//! A lab does one thing after the other, so a link goes down in one step and up in another. A site in virtual
//! time knows beforehand how long something lasts: the step that ends a fault gives its length.

use stormeter_fault::{FaultKind, FaultSpec, ScheduledFault};
use stormeter_simulator::{Broken, FaultError, FaultNameError, Machine, SiteFault};
use stormeter_site::Site;
use stormeter_study::{Step, StepAction};
use stormeter_trial::{Disturbance, Limits};
use stormeter_units::format_duration_ns;

/// Failed I/Os that a trial with steps goes on through. Where something is gone they fail in no time at all,
/// so that without a limit a trial could have no end.
const MOST_FAILED: u64 = 1_000_000;

/// What happens in every trial of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disturbances<'a> {
    /// The study's steps.
    pub(crate) steps: &'a [Step],
    /// What the study or whoever predicts it lets fail besides.
    pub(crate) faults: &'a [ScheduledFault],
}

/// A step or a fault that a site cannot have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{what} at {at}: {why}")]
pub struct RefusedFault {
    /// What was to be done.
    pub what: String,
    /// When.
    pub at: String,
    /// Why it cannot be.
    pub why: Box<WhyRefused>,
}

/// Why a site cannot have a step or a fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WhyRefused {
    /// A shell's command.
    #[error(
        "it is a command, which is run where the study is measured; a prediction knows what fails by its \
         name only, such as link-down nas"
    )]
    Command,
    /// The end of something that never began.
    #[error("it ends nothing: no {} of the same place comes before it", .0.name())]
    EndsNothing(FaultKind),
    /// A part that the site does not have, or nothing that could fail so.
    #[error(transparent)]
    Name(#[from] FaultNameError),
    /// A number or a length that the part cannot have.
    #[error(transparent)]
    Fault(#[from] FaultError),
}

/// What of a machine fails, by what it was asked for.
pub(crate) struct Planned {
    pub(crate) what: ScheduledFault,
    faults: Vec<SiteFault>,
}

impl Planned {
    fn refused(&self, why: impl Into<WhyRefused>) -> RefusedFault {
        refused(self.what.fault.to_string(), self.what.at_ns, why)
    }

    /// Whether a machine would notice.
    pub(crate) fn concerns(&self, machine: &Machine) -> Result<bool, RefusedFault> {
        let concerned = self.faults.iter().map(|fault| machine.concerns(fault));
        let all = concerned.collect::<Result<Vec<bool>, FaultError>>();
        Ok(all.map_err(|why| self.refused(why))?.contains(&true))
    }

    /// Puts it into a machine.
    pub(crate) fn schedule(&self, machine: &mut Machine) -> Result<(), RefusedFault> {
        machine.schedule(&self.faults).map_err(|why| self.refused(why))
    }

    /// Whether it only says how long something else lasts.
    pub(crate) fn is_an_end(&self) -> bool {
        is_an_end(self.what.fault.kind)
    }
}

fn refused(what: String, at_ns: u64, why: impl Into<WhyRefused>) -> RefusedFault {
    RefusedFault { what, at: format_duration_ns(at_ns as f64), why: Box::new(why.into()) }
}

/// Of these the length of what they end is all that a site needs; a new disk is something of its own.
fn is_an_end(kind: FaultKind) -> bool {
    kind.ends().is_some() && kind != FaultKind::DiskReplace
}

impl Disturbances<'_> {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.faults.is_empty()
    }

    /// What fails for a datastore (an index) of a site.
    ///
    /// # Errors
    /// A step or a fault that the site cannot have.
    pub(crate) fn planned(
        &self,
        site: &Site,
        datastore: usize,
    ) -> Result<Vec<Planned>, RefusedFault> {
        let mut all = self.scheduled()?;
        // A study has its steps in their order; what comes to them need not be.
        all.sort_by_key(|scheduled| scheduled.at_ns);
        let planned = |(number, scheduled): (usize, &ScheduledFault)| {
            let refuse = |why| refused(scheduled.fault.to_string(), scheduled.at_ns, why);
            let broken = Broken::by(&scheduled.fault, site, datastore)
                .map_err(|why| refuse(WhyRefused::Name(why)))?;
            if let Some(ended) = scheduled.fault.kind.ends()
                && !all[..number].iter().any(|before| begins(before, ended, &scheduled.fault))
            {
                return Err(refuse(WhyRefused::EndsNothing(ended)));
            }
            let for_ns = scheduled.for_ns.or_else(|| length_ns(scheduled, &all[number..]));
            let faults = match is_an_end(scheduled.fault.kind) {
                true => Vec::new(),
                false => broken
                    .into_iter()
                    .map(|broken| SiteFault { at_ns: scheduled.at_ns, for_ns, broken })
                    .collect(),
            };
            Ok(Planned { what: scheduled.clone(), faults })
        };
        all.iter().enumerate().map(planned).collect()
    }

    fn scheduled(&self) -> Result<Vec<ScheduledFault>, RefusedFault> {
        let of_step = |step: &Step| match &step.what {
            StepAction::Fault(fault) => {
                let at = format_duration_ns(step.at_ns as f64);
                Ok(ScheduledFault::new(fault.clone(), step.at_ns, &at))
            }
            StepAction::Command { run, .. } => {
                Err(refused(format!("`{run}`"), step.at_ns, WhyRefused::Command))
            }
        };
        let steps = self.steps.iter().map(of_step);
        steps.chain(self.faults.iter().cloned().map(Ok)).collect()
    }

    /// When a trial with these gives up: as where it is measured, one with steps goes on through errors and
    /// stalls.
    pub(crate) fn limits(&self, limits: Limits, length_ns: u64) -> Limits {
        if self.steps.is_empty() {
            return limits;
        }
        Limits { stall_ns: limits.stall_ns.max(length_ns), max_io_failures: MOST_FAILED, ..limits }
    }

    /// The steps as they were taken, of a trial whose window opens after `ramp_ns` and that ended after
    /// `elapsed_ns`.
    pub(crate) fn taken(&self, ramp_ns: u64, elapsed_ns: u64) -> Vec<Disturbance> {
        let taken = |step: &Step| {
            let planned_ns = step.at_ns as i64 - ramp_ns as i64;
            // A lab's link that flaps is done when it is up again.
            let took_ns = match &step.what {
                StepAction::Fault(fault) if fault.kind == FaultKind::LinkFlap => {
                    fault.amount as u64
                }
                _ => 0,
            };
            let is_late = step.at_ns > elapsed_ns;
            Disturbance {
                what: step.what.to_string(),
                planned_ns,
                begun_ns: planned_ns,
                took_ns,
                failure: is_late.then(|| "the trial was over before".into()),
            }
        };
        self.steps.iter().map(taken).collect()
    }
}

fn begins(scheduled: &ScheduledFault, kind: FaultKind, end: &FaultSpec) -> bool {
    scheduled.fault.kind == kind && scheduled.fault.is_of_same_place(end)
}

/// How long until the next one ends it.
fn length_ns(begun: &ScheduledFault, later: &[ScheduledFault]) -> Option<u64> {
    let ends = |end: &&ScheduledFault| {
        is_an_end(end.fault.kind)
            && end.fault.kind.ends().is_some_and(|kind| begins(begun, kind, &end.fault))
    };
    later.iter().find(ends).map(|end| end.at_ns.saturating_sub(begun.at_ns))
}

#[cfg(test)]
mod tests;
