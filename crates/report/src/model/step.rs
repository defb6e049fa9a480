//! The steps on the storage during a trial, and its throughput meanwhile.

use serde::{Deserialize, Serialize};
use stormeter_trial::Recovery;

/// A step as it was carried out in a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepMark {
    /// The action.
    pub what: String,
    /// When it started, since the start of the trial.
    pub at_ns: u64,
    /// When it was planned to start.
    pub planned_ns: u64,
    /// How long the action took.
    pub took_ns: u64,
    /// The recovery of throughput; `None` where the level before the step is unknown.
    pub recovery: Option<Recovery>,
}

/// Throughput during the steps of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbed {
    /// The steps, in the order of time.
    pub steps: Vec<StepMark>,
    /// Throughput before the first step, in I/Os a second.
    pub before_iops: Option<f64>,
    /// The lowest throughput of an interval after it, as a share of the level before.
    pub dip_share: Option<f64>,
    /// The longest time without a completed I/O, to the precision of an interval.
    pub outage_ns: Option<u64>,
    /// Length of an interval.
    pub interval_ns: u64,
    /// Failed I/Os.
    pub failed_operations: u64,
}
