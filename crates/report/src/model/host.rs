//! The hosts of a study in its report: their clocks, their load and their CPU time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host over all measured trials of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyHostRow {
    /// Its name in the study.
    pub name: String,
    /// How to reach it.
    pub reached_by: String,
    /// CPUs that its agent may use.
    pub cpus: u32,
    /// Its clock minus the leading machine's when the study started.
    pub clock_offset_ns: i64,
    /// The uncertainty of the offset, plus or minus.
    pub clock_error_ns: u64,
    /// Notes, one sentence each, such as the hypervisor of a guest.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Its load in each cell in which it had a VM.
    pub cells: Vec<StudyHostCell>,
}

/// The load of a host in the trials of a cell, as means over them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyHostCell {
    /// The cell.
    pub cell: usize,
    /// Trials.
    pub trials: u32,
    /// VMs on this host.
    pub vms: u32,
    /// I/Os a second.
    pub iops: f64,
    /// Mean latency; `None` without an I/O.
    pub latency_mean_ns: Option<f64>,
    /// CPU time of the agent per I/O; `None` without an I/O.
    pub cpu_per_io_ns: Option<f64>,
    /// Busy share of the whole host, 0 to 1; `None` where it is unknown.
    pub host_cpu: Option<f64>,
}
