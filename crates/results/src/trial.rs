//! One trial as it is kept.

use serde::{Deserialize, Serialize};
use stormeter_trial::{ComponentUse, CpuUsage, MonitorRow, Sample, TrialFailure};

/// One trial: where it stood in the comparison or study and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its number in the file, in the order in which trials ended.
    pub id: u64,
    /// The block it belongs to, counted from 0.
    pub block: u32,
    /// Its turn in the block, counted from 0.
    pub position: u32,
    /// Index into the plan's datastores; `None` for the generator's ceiling, which is on `null:`.
    pub datastore: Option<usize>,
    /// The cell of a study, as its place in [`stormeter_study::StudyPlan::cells`]; `None` in a
    /// comparison, and for the generator's ceiling. Its datastore is `datastore`.
    #[serde(default)]
    pub cell: Option<usize>,
    /// What it was for.
    pub phase: Phase,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// How long it took in all, set-up, ramp and drain included.
    pub elapsed_ns: u64,
    /// The seed of its operations.
    pub seed: u64,
    /// What came of it.
    pub outcome: TrialOutcome,
    /// What happened on the way and was mended, such as a connection that was lost and made again.
    /// Each text once.
    #[serde(default)]
    pub incidents: Vec<Incident>,
    /// What the host did meanwhile; empty where it could not be read.
    #[serde(default)]
    pub monitor: Vec<MonitorRow>,
    /// What the parts of the site had to do; empty where it was measured and not predicted.
    #[serde(default)]
    pub components: Vec<ComponentUse>,
    /// Which attempt at its block it belongs to.
    #[serde(default)]
    pub attempt: Attempt,
}

/// Which attempt at a block a trial belongs to. A block in which a trial broke is measured again; all attempts
/// are kept, and the last one counts.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Attempt {
    /// How often all blocks of its load had been measured again by request before.
    pub redo: u32,
    /// How often the block had been measured since then, because a trial broke.
    pub number: u32,
}

impl Attempt {
    /// The number from which the operations of a block are drawn in this attempt: no two attempts at any
    /// blocks share it, and the first has the block's own.
    pub fn draw_of(self, block: u32) -> u32 {
        /// More than there are blocks.
        const STRIDE: u32 = 1 << 24;
        /// More than there are attempts between two requests.
        const ATTEMPTS: u32 = 4;
        let nth = self.redo.wrapping_mul(ATTEMPTS).wrapping_add(self.number);
        block.wrapping_add(nth.wrapping_mul(STRIDE))
    }
}

/// Something that happened during a trial without ending it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// What, as a sentence without full stop.
    pub what: String,
    /// How often.
    pub times: u32,
}

/// What a trial is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It is compared.
    Main,
    /// A closed loop that finds how much a datastore can do, for `--equal-load auto`.
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

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
#[allow(clippy::large_enum_variant, reason = "one a trial, and most are measured")]
pub enum TrialOutcome {
    /// It was measured. Whether the laws hold is for the statistics to say.
    Measured {
        /// What the driver counted.
        sample: Sample,
        /// What it cost.
        cpu: CpuUsage,
        /// What a reader should know, one sentence each.
        notes: Vec<String>,
    },
    /// It did not come to an end.
    Failed {
        /// Why.
        failure: TrialFailure,
        /// What had been counted until then.
        sample: Option<Sample>,
    },
}

impl TrialRecord {
    /// What the driver counted, as far as there is something.
    pub fn sample(&self) -> Option<&Sample> {
        match &self.outcome {
            TrialOutcome::Measured { sample, .. } => Some(sample),
            TrialOutcome::Failed { sample, .. } => sample.as_ref(),
        }
    }

    /// What the trial cost in CPU time, if it was measured.
    pub fn cpu(&self) -> Option<&CpuUsage> {
        match &self.outcome {
            TrialOutcome::Measured { cpu, .. } => Some(cpu),
            TrialOutcome::Failed { .. } => None,
        }
    }
}
