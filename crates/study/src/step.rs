//! Steps: what is done to the storage during a trial. Every trial of a study has the same steps, so that all
//! datastores are compared under the same fault.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_fault::FaultSpec;

/// An action at a given time of every trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Time since the start of the trial, its ramp included.
    pub at_ns: u64,
    /// The action.
    pub what: StepAction,
}

/// The action of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepAction {
    /// A fault that the control of the rack carries out, such as `link-down nas` in a lab. Results files call it
    /// `action`.
    #[serde(rename = "action")]
    Fault(#[schemars(with = "String")] FaultSpec),
    /// A command that the shell runs on the machine that controls the study.
    Command {
        /// The command.
        run: String,
        /// A command that reverts it after the trial.
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
