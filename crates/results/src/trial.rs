//! One trial as it is stored.

use serde::{Deserialize, Serialize};
use stormeter_disk::Incident;
use stormeter_trial::{
    ComponentUse, CpuUsage, GuestActivity, MonitorRow, Sample, TrialFailure, TrialNote,
};

/// One trial: where it stood in the study and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its number in the file, in the order in which trials ended.
    pub id: u64,
    /// The block it belongs to, counted from 0.
    pub block: u32,
    /// Its position in the block, counted from 0.
    pub position: u32,
    /// Index into the plan's datastores; `None` for the generator's ceiling, which runs on `null:`.
    pub datastore: Option<usize>,
    /// The cell, as its place in [`stormeter_study::StudyPlan::cells`]. Its datastore is `datastore`; a ceiling is
    /// of a load, and named by one of the load's cells.
    #[serde(default)]
    pub cell: Option<usize>,
    /// Its purpose.
    pub phase: Phase,
    /// When it started, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// Its total duration, including set-up, ramp and drain, in nanoseconds.
    pub elapsed_ns: u64,
    /// The seed of its operations.
    pub seed: u64,
    /// Its outcome.
    pub outcome: TrialOutcome,
    /// Problems that were overcome, such as a connection that was lost and re-established. Each once.
    #[serde(default)]
    pub incidents: Vec<Incident>,
    /// Host activity during the trial; empty if it could not be read.
    #[serde(default)]
    pub monitor: Vec<MonitorRow>,
    /// What the guests of a rack did during the trial; empty if it ran on none.
    #[serde(default)]
    pub guests: Vec<GuestActivity>,
    /// The load on the parts of the site; empty for a measurement.
    #[serde(default)]
    pub components: Vec<ComponentUse>,
    /// The attempt at its block that it belongs to.
    #[serde(default)]
    pub attempt: Attempt,
}

/// Identifies an attempt at a block. A block in which a trial broke is measured again; all attempts are kept,
/// and the last one counts.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Attempt {
    /// How many times the user had requested all blocks of its load to be measured again.
    pub redo: u32,
    /// How many times the block had been measured again since then, because a trial broke.
    pub number: u32,
}

impl Attempt {
    /// The number from which the operations of a block are derived in this attempt: unique over all
    /// attempts at all blocks, and equal to the block's number for the first attempt.
    pub fn draw_of(self, block: u32) -> u32 {
        /// More than the number of blocks.
        const STRIDE: u32 = 1 << 24;
        /// More than the number of attempts between two requests.
        const ATTEMPTS: u32 = 4;
        let nth = self.redo.wrapping_mul(ATTEMPTS).wrapping_add(self.number);
        block.wrapping_add(nth.wrapping_mul(STRIDE))
    }
}

/// The purpose of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Part of the comparison.
    Main,
    /// A closed loop that finds a datastore's capacity, for `--equal-load auto`.
    Capacity,
    /// The generator alone, on `null:`.
    Ceiling,
}

impl Phase {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Main => "main",
            Phase::Capacity => "capacity",
            Phase::Ceiling => "ceiling",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Phase> {
        [Phase::Main, Phase::Capacity, Phase::Ceiling].into_iter().find(|p| p.name() == name)
    }
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
#[allow(clippy::large_enum_variant, reason = "one a trial, and most are measured")]
pub enum TrialOutcome {
    /// It was measured. The statistics decide whether the sanity checks hold.
    Measured {
        /// The driver's counts.
        sample: Sample,
        /// CPU usage.
        cpu: CpuUsage,
        /// What a reader should know.
        notes: Vec<TrialNote>,
    },
    /// It did not finish.
    Failed {
        /// The reason.
        failure: TrialFailure,
        /// The counts up to that point.
        sample: Option<Sample>,
    },
}

impl TrialRecord {
    /// The driver's counts, if there are any.
    pub fn sample(&self) -> Option<&Sample> {
        match &self.outcome {
            TrialOutcome::Measured { sample, .. } => Some(sample),
            TrialOutcome::Failed { sample, .. } => sample.as_ref(),
        }
    }

    /// CPU usage of the trial, if it was measured.
    pub fn cpu(&self) -> Option<&CpuUsage> {
        match &self.outcome {
            TrialOutcome::Measured { cpu, .. } => Some(cpu),
            TrialOutcome::Failed { .. } => None,
        }
    }
}
