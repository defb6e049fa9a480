//! What is done to the storage while a trial runs: the same in every trial of a study, so that all
//! datastores are compared under the same fault.

use std::fmt;

use serde::{Deserialize, Serialize};
use stormeter_fault::FaultSpec;
use stormeter_trial::RECOVERED_INTERVALS;

use crate::plan::Metric;
use crate::study_plan::{StudyPlan, StudyWorkload, WorkloadKind};

const EXAMPLE: &str = "steps: [{at: 10s, do: link-down nas}, {at: 15s, do: link-up nas}]";

/// Something that is done at a moment of every trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Since the begin of the trial, its ramp included.
    pub at_ns: u64,
    /// What.
    pub what: StepAction,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepAction {
    /// Something that whoever runs the rack can do, such as `link-down nas` in a lab. Results files have it as
    /// `action`.
    #[serde(rename = "action")]
    Fault(FaultSpec),
    /// A command that the shell runs on the machine that leads the study.
    Command {
        /// The command.
        run: String,
        /// What brings back what it changed, after the trial.
        undo: Option<String>,
    },
}

impl fmt::Display for StepAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepAction::Fault(fault) => fault.fmt(f),
            StepAction::Command { run, .. } => f.write_str(run),
        }
    }
}

impl StudyPlan {
    /// Why no trial of the plan can have such a metric; `None` if one can, or nothing is known against it.
    pub(crate) fn lacks(&self, metric: Metric) -> Option<String> {
        self.no_recovery(metric).or_else(|| self.no_open_loop(metric))
    }

    fn no_open_loop(&self, metric: Metric) -> Option<String> {
        let is_open = |workload: &StudyWorkload| match &workload.kind {
            WorkloadKind::Io(io) => io.arrivals.rate_per_s().is_some(),
            WorkloadKind::File(_) | WorkloadKind::Transfer(_) | WorkloadKind::Deploy(_) => false,
        };
        if !metric.is_of_open_loops() || self.workloads.iter().any(is_open) {
            return None;
        }
        Some(format!(
            "{} is of workloads with a rate, and this study has none; in a closed loop service time is \
             latency, so ask for that",
            metric.title()
        ))
    }

    /// Why no trial of the plan can have such a metric; `None` if it can, or it is none of recovery.
    fn no_recovery(&self, metric: Metric) -> Option<String> {
        if metric.is_of_steps() && self.steps.is_empty() {
            let name = metric.name();
            return Some(format!(
                "{name} is of trials with steps, and this study has none; write {EXAMPLE}"
            ));
        }
        if metric == Metric::Recovery { self.no_room() } else { None }
    }

    /// Why the steps leave no room to tell how long storage takes to recover.
    fn no_room(&self) -> Option<String> {
        let timing = self.timing;
        let some_ns = timing.interval_ns.saturating_mul(RECOVERED_INTERVALS as u64);
        let (first, last) = (self.steps.first()?, self.steps.last()?);
        let end_ns = timing.ramp_ns.saturating_add(timing.duration_ns);
        let words = |what: &str| {
            format!(
                "recovery is held against the {RECOVERED_INTERVALS} intervals and more before the \
                 first step, and seen in {RECOVERED_INTERVALS} in a row after the last; {what}"
            )
        };
        if first.at_ns < timing.ramp_ns.saturating_add(some_ns) {
            return Some(words("let the first step come later, or shorten ramp or interval"));
        }
        if end_ns.saturating_sub(last.at_ns) < some_ns.saturating_add(timing.interval_ns) {
            return Some(words("let the last step come earlier, or lengthen duration"));
        }
        None
    }
}
