//! Disturbances of the site during a trial: the study's steps, which a lab could execute too, and faults that only a
//! prediction has.
//!
//! A lab executes one step after another: a link goes down in one and up in another. A site in virtual time knows
//! the duration of a fault in advance: from the step that undoes it.

use stormeter_fault::{FaultKind, FaultSpec, ScheduledFault};
use stormeter_simulator::{Broken, FaultError, FaultNameError, Machine, SiteFault};
use stormeter_site::Site;
use stormeter_study::{Step, StepAction};
use stormeter_trial::{Disturbance, Limits};
use stormeter_units::format_duration_ns;

/// Failed I/Os that a trial with steps tolerates. I/Os to something that is gone fail in no time at all, so without a
/// limit a trial might never end.
const MOST_FAILED: u64 = 1_000_000;

/// The disturbances in every trial of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disturbances<'a> {
    /// The study's steps.
    pub(crate) steps: &'a [Step],
    /// Further faults, from the study or from the request.
    pub(crate) faults: &'a [ScheduledFault],
}

/// A step or a fault that a site has no model of.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{what} at {at}: {why}")]
pub struct RefusedFault {
    /// The step or fault.
    pub what: String,
    /// Its time.
    pub at: String,
    /// The reason.
    pub why: Box<RefusalReason>,
}

/// Why a site cannot have a step or a fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefusalReason {
    /// A shell command.
    #[error(
        "it is a command, which runs where the study is measured; a prediction only knows faults by name, \
         such as link-down nas"
    )]
    Command,
    /// It undoes a fault that never started.
    #[error("it undoes nothing: no {} of the same place comes before it", .0.name())]
    EndsNothing(FaultKind),
    /// The site does not have the part, or the part cannot fail that way.
    #[error(transparent)]
    Name(#[from] FaultNameError),
    /// A number or a duration is out of range for the part.
    #[error(transparent)]
    Fault(#[from] FaultError),
}

/// A step or fault, with the faults of the machine that it becomes.
pub(crate) struct Planned {
    pub(crate) what: ScheduledFault,
    faults: Vec<SiteFault>,
}

impl Planned {
    fn refused(&self, why: impl Into<RefusalReason>) -> RefusedFault {
        refused(self.what.fault.to_string(), self.what.at_ns, why)
    }

    /// Whether it affects a machine.
    pub(crate) fn concerns(&self, machine: &Machine) -> Result<bool, RefusedFault> {
        let concerned = self.faults.iter().map(|fault| machine.concerns(fault));
        let all = concerned.collect::<Result<Vec<bool>, FaultError>>();
        Ok(all.map_err(|why| self.refused(why))?.contains(&true))
    }

    /// Schedules it in a machine.
    pub(crate) fn schedule(&self, machine: &mut Machine) -> Result<(), RefusedFault> {
        machine.schedule(&self.faults).map_err(|why| self.refused(why))
    }

    /// Whether it only sets the duration of another fault.
    pub(crate) fn is_an_end(&self) -> bool {
        is_an_end(self.what.fault.kind)
    }
}

fn refused(what: String, at_ns: u64, why: impl Into<RefusalReason>) -> RefusedFault {
    RefusedFault { what, at: format_duration_ns(at_ns as f64), why: Box::new(why.into()) }
}

/// Whether a kind only sets the duration of the fault that it undoes. A new disk is an event of its own.
fn is_an_end(kind: FaultKind) -> bool {
    kind.ends().is_some() && kind != FaultKind::DiskReplace
}

impl Disturbances<'_> {
    /// Whether there are no disturbances.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.faults.is_empty()
    }

    /// The faults of a datastore (an index) of a site.
    ///
    /// # Errors
    /// The site has no model of a step or a fault.
    pub(crate) fn planned(
        &self,
        site: &Site,
        datastore: usize,
    ) -> Result<Vec<Planned>, RefusedFault> {
        let mut all = self.scheduled()?;
        // A study's steps are in order; further faults need not be.
        all.sort_by_key(|scheduled| scheduled.at_ns);
        let planned = |(number, scheduled): (usize, &ScheduledFault)| {
            let refuse = |why| refused(scheduled.fault.to_string(), scheduled.at_ns, why);
            let broken = Broken::by(&scheduled.fault, site, datastore)
                .map_err(|why| refuse(RefusalReason::Name(why)))?;
            if let Some(ended) = scheduled.fault.kind.ends()
                && !all[..number].iter().any(|before| begins(before, ended, &scheduled.fault))
            {
                return Err(refuse(RefusalReason::EndsNothing(ended)));
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
                Err(refused(format!("`{run}`"), step.at_ns, RefusalReason::Command))
            }
        };
        let steps = self.steps.iter().map(of_step);
        steps.chain(self.faults.iter().cloned().map(Ok)).collect()
    }

    /// The limits of a trial: as in a measurement, one with steps continues despite errors and stalls.
    pub(crate) fn limits(&self, limits: Limits, length_ns: u64) -> Limits {
        if self.steps.is_empty() {
            return limits;
        }
        Limits { stall_ns: limits.stall_ns.max(length_ns), max_io_failures: MOST_FAILED, ..limits }
    }

    /// The steps as executed in a trial whose window opens after `ramp_ns` and that ended after `elapsed_ns`.
    pub(crate) fn taken(&self, ramp_ns: u64, elapsed_ns: u64) -> Vec<Disturbance> {
        let taken = |step: &Step| {
            let planned_ns = step.at_ns as i64 - ramp_ns as i64;
            // In a lab, a link flap is complete when the link is up again.
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
                failure: is_late.then(|| "the trial ended before it".into()),
            }
        };
        self.steps.iter().map(taken).collect()
    }
}

fn begins(scheduled: &ScheduledFault, kind: FaultKind, end: &FaultSpec) -> bool {
    scheduled.fault.kind == kind && scheduled.fault.is_of_same_place(end)
}

/// The time until a later one undoes it.
fn length_ns(fault: &ScheduledFault, later: &[ScheduledFault]) -> Option<u64> {
    let ends = |end: &&ScheduledFault| {
        is_an_end(end.fault.kind)
            && end.fault.kind.ends().is_some_and(|kind| begins(fault, kind, &end.fault))
    };
    later.iter().find(ends).map(|end| end.at_ns.saturating_sub(fault.at_ns))
}

#[cfg(test)]
mod tests;
