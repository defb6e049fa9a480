//! Everything that a report shows, as one plain value.
//!
//! Cells are referred to by their index in [`StudyPlan::cells`], datastores and workloads by their index in the
//! plan. Times are nanoseconds, rates are per second, shares are fractions.

mod assumed;
mod desktop;
mod guest;
mod host;
mod step;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_results::{AssumedEffect, Elasticity, FinishReason, Header};
pub use stormeter_statistics::Severity;
use stormeter_statistics::{Analysis, CeilingKind, CellWhy};
use stormeter_study::StudyPlan;
use stormeter_trial::MonitorRow;

use crate::capital::capital;
pub use assumed::AssumedAnswer;
pub use desktop::{DesktopTrace, StudyDesktopCell, StudyDesktopStep};
pub use guest::{GuestTrace, StudyGuestRow};
pub use host::{StudyHostCell, StudyHostRow};
pub use step::{Disturbed, StepMark};

/// A study, measured and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was planned, on which machine, with which datastores.
    pub header: Header,
    /// How far it got and why it ended. `blocks` are those with a measured trial of every cell.
    pub status: Status,
    /// The conclusions.
    pub analysis: Analysis,
    /// Every measured trial over time, thinned, in the order of the run.
    pub traces: Vec<TrialTrace>,
    /// The ceilings, for each workload that was measured without storage.
    pub ceilings: Vec<WorkloadCeiling>,
    /// The hosts that ran the trials, if it was not one machine alone.
    #[serde(default)]
    pub hosts: Vec<StudyHostRow>,
    /// The guests of the rack, if it ran on such.
    #[serde(default)]
    pub guests: Vec<StudyGuestRow>,
    /// Each of these over time, in the same order.
    #[serde(default)]
    pub guest_traces: Vec<GuestTrace>,
    /// Users and desktops, cell by cell, if the study has desktops on demand.
    #[serde(default)]
    pub desktops: Vec<StudyDesktopCell>,
    /// The same over time.
    #[serde(default)]
    pub desktop_traces: Vec<DesktopTrace>,
    /// What limits each cell, in a prediction.
    #[serde(default)]
    pub reasons: Vec<CellReasons>,
    /// The answers of a prediction that rest on assumed values of its site, in the order of the questions.
    #[serde(default)]
    pub assumed: Vec<AssumedAnswer>,
    /// The findings of laws and checks, the most severe first, each with the name of its subject.
    pub findings: Vec<Finding>,
    /// The one of these that says that the datastores promise different things about an acknowledged write: it
    /// belongs next to the verdicts.
    #[serde(default)]
    pub unlike_promises: Option<Finding>,
    /// The command that repeats the study, ready for a shell.
    pub repeat_command: String,
}

/// How far a run got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Why it ended; `None` when it was killed or is still running.
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

/// A finding of a law or a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How severe it is.
    pub severity: Severity,
    /// Its subject, such as the label of a datastore; empty for the whole run.
    pub subject: String,
    /// What was found, as a sentence without a full stop.
    pub what: String,
    /// What to do next, as a sentence without a full stop; may be empty for a note.
    pub advice: String,
}

impl Finding {
    /// What was found and what to do next, as sentences.
    pub fn sentences(&self) -> String {
        match self.advice.is_empty() {
            true => format!("{}.", self.what),
            false => format!("{}. {}.", self.what, capital(&self.advice)),
        }
    }
}

/// What limits a cell, and the gain from more of each component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellReasons {
    /// The cell.
    pub cell: usize,
    /// The use of its components.
    pub why: CellWhy,
    /// The gain from more of each component, the largest first.
    pub elasticities: Vec<Elasticity>,
    /// The change of the study's metric with another plausible value of what is assumed, the largest first.
    #[serde(default)]
    pub assumed: Vec<AssumedEffect>,
}

/// One interval of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Start of the interval since the start of the run.
    pub at_ns: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Mean latency; `None` without an I/O.
    pub latency_mean_ns: Option<f64>,
}

/// A trial over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialTrace {
    /// The cell.
    pub cell: usize,
    /// The block, counted from 0.
    pub block: u32,
    /// Start of the trial since the start of the run, ramp included.
    pub start_ns: u64,
    /// End of the trial since the start of the run.
    pub end_ns: u64,
    /// I/Os a second over the whole measured window.
    pub iops: f64,
    /// Mean latency over it; `None` without an I/O.
    #[serde(default)]
    pub latency_mean_ns: Option<f64>,
    /// Whether it is the cell's middle trial by the primary metric, which represents the cell where one trial
    /// is drawn.
    pub is_representative: bool,
    /// Thinned intervals of the measured window, with times since the start of the trial. The representative
    /// trial has more of them than the others.
    pub points: Vec<SeriesPoint>,
    /// The steps on the storage, in the representative trial; empty in the others.
    #[serde(default)]
    pub disturbed: Disturbed,
    /// The activity of the host, thinned, in the representative trial; empty in the others and without
    /// monitoring.
    pub monitor: Vec<MonitorRow>,
    /// The activity of the host in every trial, as means over [`MonitorAverage::length_ns`].
    pub averages: Vec<MonitorAverage>,
}

/// The activity of the host, as a mean over some seconds of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MonitorAverage {
    /// Start, since the start of the trial.
    pub at_ns: u64,
    /// Length; the last mean of a trial may be shorter.
    pub length_ns: u64,
    /// Busy share of all CPUs together, 0 to 1.
    pub cpu_busy: f64,
    /// Memory in use, in bytes.
    pub memory_used_bytes: f64,
    /// Bytes a second received from and sent to networks, without loopback.
    pub network_bytes_per_s: f64,
    /// Bytes a second over the loopback interface.
    pub loopback_bytes_per_s: f64,
    /// Bytes a second read from block devices.
    pub disk_read_bytes_per_s: f64,
    /// Bytes a second written to block devices.
    pub disk_write_bytes_per_s: f64,
}

/// The rate with a workload of what lies before the storage: of the load generator on `null:`, or of the path to
/// a datastore without the datastore's own limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkloadCeiling {
    /// Its kind.
    pub kind: CeilingKind,
    /// The datastore at the end of the path; `None` for the ceiling of the load generator.
    #[serde(default)]
    pub datastore: Option<usize>,
    /// The workload.
    pub workload: usize,
    /// I/Os a second.
    pub iops: f64,
    /// The ceiling divided by the highest rate below it with the workload; `None` where none was measured.
    pub times_measured: Option<f64>,
}

impl Report {
    /// Whether it is the report of a measured comparison, which has the compact layout.
    pub fn is_comparison(&self) -> bool {
        self.header.prediction.is_none() && self.plan().is_comparison()
    }

    /// The plan.
    pub fn plan(&self) -> &StudyPlan {
        &self.header.plan
    }
}
