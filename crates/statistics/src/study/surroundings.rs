//! What was known around the trials of a study: ceilings, memories, what was verified and measured again.

use stormeter_disk::Promise;
use stormeter_trial::{Memory, Verified};

use crate::ceiling_kind::CeilingKind;
use crate::finding::{FailedTrials, MeasuredAgain};

/// A ceiling as it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredCeiling {
    /// What it is measured of.
    pub kind: CeilingKind,
    /// The datastore of the plan to which the path leads; `None`: the load generator's own, without storage.
    pub datastore: Option<usize>,
    /// The workload of the plan that it was measured with, at its highest load.
    pub workload: usize,
    /// I/Os a second.
    pub iops: f64,
}

/// What is known about a study in addition to its trials. A list may be shorter than the study: nothing is known
/// about the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surroundings {
    /// The ceilings of what lies before the storage.
    pub ceilings: Vec<MeasuredCeiling>,
    /// Per datastore: whether it completes at once (`null:`).
    pub is_null: Vec<bool>,
    /// Per cell: its trials that failed.
    pub failed: Vec<Option<FailedTrials>>,
    /// Per cell: what its reads returned, over all trials.
    pub verified: Vec<Option<Verified>>,
    /// Per cell: its trials that broke and were measured again.
    pub again: Vec<Option<MeasuredAgain>>,
    /// Per datastore: the memories on its path.
    pub memories: Vec<Vec<Memory>>,
    /// Per datastore: what a write that it has acknowledged means there, where that was found out.
    pub promises: Vec<Option<Promise>>,
    /// Whether the trials come from a model. A model repeats itself so exactly that even its smallest
    /// difference is significant; differences too small to be measured then count as none.
    pub is_predicted: bool,
}
