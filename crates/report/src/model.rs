//! Everything that a report shows, as one plain value.
//!
//! Cells are named by their place in [`StudyPlan::cells`], datastores and workloads by their place in
//! the plan. Times are nanoseconds, rates are per second, shares are fractions.

use serde::{Deserialize, Serialize};
use stormeter_results::{Elasticity, FinishReason, Header};
pub use stormeter_statistics::Severity;
use stormeter_statistics::{Analysis, CeilingKind, CellWhy};
use stormeter_study::StudyPlan;
use stormeter_trial::MonitorRow;

use crate::full::{Disturbed, StudyHostRow};

/// A study, measured and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was planned, on which machine, with which datastores.
    pub header: Header,
    /// How far it came and why it ended. `blocks` are those with a measured trial of every cell.
    pub status: Status,
    /// What was concluded.
    pub analysis: Analysis,
    /// Every measured trial over time, thinned, in the order of the run.
    pub traces: Vec<TrialTrace>,
    /// The load generator by itself, for each workload that was driven on `null:`.
    pub ceilings: Vec<WorkloadCeiling>,
    /// The hosts that carried out the trials, where that was not one machine alone.
    #[serde(default)]
    pub hosts: Vec<StudyHostRow>,
    /// What holds each cell back, where that is known: of a prediction.
    #[serde(default)]
    pub reasons: Vec<CellReasons>,
    /// What the laws and the checks found, the worst first, each with the name of what it is about.
    pub findings: Vec<Finding>,
    /// The command that repeats the study, ready for a shell.
    pub repeat_command: String,
}

/// How far a run came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Why it ended; `None` when it was killed or goes on.
    pub reason: Option<FinishReason>,
    /// Blocks in which every datastore was measured.
    pub blocks: u32,
    /// Trials measured.
    pub trials: u32,
    /// Trials that failed.
    pub failed_trials: u32,
    /// Time spent on trials. A pause between an interruption and a resumption is not counted.
    pub elapsed_ns: u64,
}

/// Something that a law or a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about, such as a datastore's label; empty: the whole run.
    pub subject: String,
    /// What was found, as a sentence without full stop.
    pub what: String,
    /// What to do next, as a sentence without full stop; may be empty for a note.
    pub advice: String,
}

/// What holds a cell back, and what more of each component would bring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellReasons {
    /// Which cell.
    pub cell: usize,
    /// What its components did.
    pub why: CellWhy,
    /// What more of each component would bring, the largest gain first.
    pub elasticities: Vec<Elasticity>,
}

/// One interval of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Begin of the interval since the begin of the run.
    pub at_ns: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Mean latency; `None` without an I/O.
    pub latency_mean_ns: Option<f64>,
}

/// A trial over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialTrace {
    /// Which cell.
    pub cell: usize,
    /// Which block, counted from 0.
    pub block: u32,
    /// Begin of the trial since the begin of the run, ramp included.
    pub start_ns: u64,
    /// End of the trial since the begin of the run.
    pub end_ns: u64,
    /// I/Os a second over the whole measured window.
    pub iops: f64,
    /// Mean latency over it; `None` without an I/O.
    #[serde(default)]
    pub latency_mean_ns: Option<f64>,
    /// Whether it is the cell's middle trial by the primary metric, which stands for the cell where
    /// one is drawn.
    pub is_representative: bool,
    /// Thinned intervals of the measured window; times since the begin of the trial. The
    /// representative trial has more of them than the others.
    pub points: Vec<SeriesPoint>,
    /// What was done to the storage meanwhile, of the representative trial; empty for the others.
    #[serde(default)]
    pub disturbed: Disturbed,
    /// What the host did, thinned, of the representative trial; empty for the others and where nothing
    /// was monitored.
    pub monitor: Vec<MonitorRow>,
    /// What the host did, in means over [`MonitorAverage::length_ns`], of every trial.
    pub averages: Vec<MonitorAverage>,
}

/// What the host did, as a mean over some seconds of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MonitorAverage {
    /// Begin since the begin of the trial.
    pub at_ns: u64,
    /// Length; the last one of a trial may be shorter.
    pub length_ns: u64,
    /// Busy share of all CPUs together, 0 to 1.
    pub cpu_busy: f64,
    /// Memory in use, in bytes.
    pub memory_used_bytes: f64,
    /// Bytes a second in from and out to networks, loopback left out.
    pub network_bytes_per_s: f64,
    /// Bytes a second over the loopback interface.
    pub loopback_bytes_per_s: f64,
    /// Bytes a second read from block devices.
    pub disk_read_bytes_per_s: f64,
    /// Bytes a second written to block devices.
    pub disk_write_bytes_per_s: f64,
}

/// What lies before the storage does by itself with a workload: the load generator on `null:`, or the way to
/// a datastore that lacks what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkloadCeiling {
    /// Of what it is.
    pub kind: CeilingKind,
    /// To which datastore the way leads whose ceiling it is; `None`: the load generator's own.
    #[serde(default)]
    pub datastore: Option<usize>,
    /// Which workload.
    pub workload: usize,
    /// I/Os a second.
    pub iops: f64,
    /// The ceiling divided by the most that was measured below it with the workload; `None` where nothing was.
    pub times_measured: Option<f64>,
}

impl Report {
    /// Whether it is the report of a measured comparison, which has a compact layout.
    pub fn is_comparison(&self) -> bool {
        self.header.prediction.is_none() && self.plan().is_comparison()
    }

    /// The plan.
    pub fn plan(&self) -> &StudyPlan {
        &self.header.plan
    }
}
