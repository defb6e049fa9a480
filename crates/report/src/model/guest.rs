//! The guests of the rack that a study ran on, in its report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_trial::GuestRow;

/// A guest over the windows of all measured trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyGuestRow {
    /// Its name in the rack.
    pub name: String,
    /// Its part in the rack: `router`, `storage`, `host` or `vm`.
    pub kind: String,
    /// CPU time of the process that runs it, in CPUs of the machine, on average.
    pub cpus_mean: f64,
    /// In the interval in which it used most.
    pub cpus_most: f64,
    /// Share of the time, 0 to 1, that it was ready to run and waited for a CPU of the machine, on average. Of its threads
    /// the one that waited longest counts.
    pub waited_mean: f64,
    /// In the trial in which it waited longest.
    pub waited_most: f64,
    /// The most memory that its process had, in bytes.
    pub memory_most_bytes: u64,
}

/// A guest over the whole study: means over some seconds of each measured trial, in the order of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuestTrace {
    /// Its name in the rack.
    pub name: String,
    /// The means; their times are since the start of the run.
    pub rows: Vec<GuestRow>,
}
