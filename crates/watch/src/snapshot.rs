//! What is known of a run at one moment.

use std::collections::BTreeMap;

use stormeter_export::Cell;
use stormeter_study::StudyPlan;
use stormeter_trial::Interval;

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    /// Datastores compared under one load.
    Comparison,
    /// A study that is measured.
    Study,
    /// A study on a model of storage.
    Prediction,
}

impl RunKind {
    /// Its name in labels.
    pub fn name(self) -> &'static str {
        match self {
            RunKind::Comparison => "comparison",
            RunKind::Study => "study",
            RunKind::Prediction => "prediction",
        }
    }
}

/// What a run is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stage {
    /// Datastores are opened.
    #[default]
    Opening,
    /// Disks are written.
    Writing,
    /// The ceiling of the load generator or of a path is measured.
    Ceiling,
    /// Disks are reset to the state from which trials start.
    Resetting,
    /// A trial runs.
    Trial,
    /// Between two trials.
    Between,
    /// What the cells of a prediction depend on is computed.
    Sensitivity,
    /// It has ended.
    Ended,
}

impl Stage {
    /// All, in the order in which they usually come.
    pub const ALL: [Stage; 8] = [
        Stage::Opening,
        Stage::Writing,
        Stage::Ceiling,
        Stage::Resetting,
        Stage::Trial,
        Stage::Between,
        Stage::Sensitivity,
        Stage::Ended,
    ];

    /// Its name in labels.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Opening => "opening",
            Stage::Writing => "writing",
            Stage::Ceiling => "ceiling",
            Stage::Resetting => "resetting",
            Stage::Trial => "trial",
            Stage::Between => "between",
            Stage::Sensitivity => "sensitivity",
            Stage::Ended => "ended",
        }
    }
}

/// Sums over the windows of a cell's trials since this process started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// I/Os that ended: reads, writes.
    pub operations: [u64; 2],
    /// Bytes that they moved.
    pub bytes: [u64; 2],
    /// The sum of their latencies.
    pub latency_ns: [u64; 2],
}

/// The trial that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Current {
    /// Its cell.
    pub cell: usize,
    /// Its block, from 0; `None` before the first block.
    pub block: Option<u32>,
    /// The last interval that ended.
    pub interval: Option<Interval>,
}

/// A run at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The version of this program.
    pub version: String,
    /// The run's identity, once it is known.
    pub run_id: Option<String>,
    /// The study's title.
    pub study: String,
    /// What the run is.
    pub kind: RunKind,
    /// What it is doing.
    pub stage: Stage,
    /// The cells, in the plan's order, with the metrics of the trials so far.
    pub cells: Vec<Cell>,
    /// Per cell: trials that count and were measured.
    pub trials: Vec<u32>,
    /// Per cell: what its trials did.
    pub counts: Vec<Counts>,
    /// The most blocks.
    pub most_blocks: u32,
    /// Blocks that ended.
    pub blocks: u32,
    /// Trials of blocks that were measured, and that failed.
    pub ended_trials: [u64; 2],
    /// The trial that runs.
    pub current: Option<Current>,
    /// The probable time until the end, as of the last block or trial.
    pub rest_ns: Option<u64>,
    /// The widest relative half width of a comparison's intervals, once there is one, and the one that is wanted.
    pub precision: (Option<f64>, Option<f64>),
    /// Per datastore: bytes of its disks that are written, of all bytes.
    pub written: BTreeMap<String, (u64, u64)>,
    /// Events of the run by kind.
    pub events: BTreeMap<String, u64>,
    /// Events on the way to storage, by datastore and kind.
    pub incidents: BTreeMap<(String, String), u64>,
    /// Per datastore: I/Os that failed.
    pub io_errors: BTreeMap<String, u64>,
    /// Steps of trials that were carried out, and that failed.
    pub steps: [u64; 2],
}

impl Snapshot {
    /// A run of this plan that has not started.
    pub fn new(plan: &StudyPlan, kind: RunKind, version: &str) -> Self {
        let cells = Cell::all_of(plan);
        let wanted = plan.is_comparison().then_some(plan.design.precision);
        Self {
            version: version.to_owned(),
            run_id: None,
            study: plan.study.clone(),
            kind,
            stage: Stage::default(),
            trials: vec![0; cells.len()],
            counts: vec![Counts::default(); cells.len()],
            cells,
            most_blocks: plan.design.blocks.most(),
            blocks: 0,
            ended_trials: [0; 2],
            current: None,
            rest_ns: None,
            precision: (None, wanted),
            written: BTreeMap::new(),
            events: BTreeMap::new(),
            incidents: BTreeMap::new(),
            io_errors: BTreeMap::new(),
            steps: [0; 2],
        }
    }
}
