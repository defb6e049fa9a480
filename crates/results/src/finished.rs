//! Why a run ended, and the events during it.

use serde::{Deserialize, Serialize};
use stormeter_disk::DatastoreNote;

/// How a run ended. Absent from the file of a run that was killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// When it ended, in milliseconds since 1970-01-01 UTC.
    pub finished_unix_ms: u64,
    /// The reason.
    pub reason: FinishReason,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum FinishReason {
    /// The interval is as narrow as requested.
    PrecisionReached,
    /// Another block would have exceeded the time limit.
    TimeLimit,
    /// The plan's maximum number of blocks is reached.
    MaxBlocks,
    /// A failed sanity check made the result invalid, and no further block could make it valid
    /// again.
    Invalid,
    /// The user stopped it.
    Interrupted,
    /// It could not continue.
    Failed {
        /// What happened.
        reason: String,
    },
}

impl std::fmt::Display for FinishReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FinishReason::PrecisionReached => f.write_str("the precision was reached"),
            FinishReason::TimeLimit => f.write_str("the time limit was reached"),
            FinishReason::MaxBlocks => f.write_str("the largest number of blocks was reached"),
            FinishReason::Invalid => f.write_str("the result is invalid"),
            FinishReason::Interrupted => f.write_str("it was interrupted"),
            FinishReason::Failed { reason } => write!(f, "it failed: {reason}"),
        }
    }
}

/// A noteworthy event during the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened, in milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened to a run. Messages from elsewhere are text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum EventKind {
    /// The run was resumed before any result could be read from it.
    Resumed,
    /// The run was resumed after a verdict could be read: whether to continue was a choice.
    ResumedAfterVerdict,
    /// The run was resumed to measure the blocks of invalid cells again.
    Redone {
        /// The labels of these cells, and of those that they are compared with.
        cells: Vec<String>,
    },
    /// The activity of the idle machine was read.
    Idle(IdleReading),
    /// A snapshot of the storage was taken, from which every trial starts.
    SnapshotTaken,
    /// The rate at which all datastores are driven alike was found.
    EqualLoad {
        /// The load, where the study has several.
        load: Option<String>,
        /// I/Os a second on each datastore.
        rate_per_s: f64,
    },
    /// The ceiling of a path to storage could not be measured.
    CeilingUnknown {
        /// The error.
        said: String,
    },
    /// Something about the state of a datastore's disks is unknown.
    Prepared {
        /// The datastore's URL.
        url: String,
        /// What is known of it, and the host that prepared them where the study has hosts.
        disks: DatastoreNote,
    },
    /// Datastores share what they should not.
    Shared(SharedFileSystem),
    /// An event of an earlier version, which kept its sentence only.
    Note {
        /// The sentence.
        said: String,
    },
}

/// The activity of a machine that does nothing for the study.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IdleReading {
    /// Busy share of all CPUs' time, 0 to 1.
    pub busy_share: f64,
    /// How long it was read.
    pub length_ns: u64,
    /// The share of this time in which other programs waited for storage, if it is high enough to matter.
    pub others_io_share: Option<f64>,
}

/// Two directories on one file system. If one of them should be a mount, it is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedFileSystem {
    /// The host that found it, where the study has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The URLs of the two.
    pub urls: [String; 2],
    /// Type of the file system.
    pub file_system: String,
    /// What is mounted there.
    pub source: String,
}

impl EventKind {
    /// The name in the file.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::Resumed => "resumed",
            EventKind::ResumedAfterVerdict => "resumed-after-verdict",
            EventKind::Redone { .. } => "redone",
            EventKind::Idle(_) => "idle",
            EventKind::SnapshotTaken => "snapshot-taken",
            EventKind::EqualLoad { .. } => "equal-load",
            EventKind::CeilingUnknown { .. } => "ceiling-unknown",
            EventKind::Prepared { .. } => "prepared",
            EventKind::Shared(_) => "shared",
            EventKind::Note { .. } => "note",
        }
    }

    /// An event of the forms 6 and 7, which had a kind and a sentence; `None` if no run wrote that kind.
    pub(crate) fn of_named(name: &str, said: String) -> Option<EventKind> {
        Some(match name {
            "resumed" => EventKind::Resumed,
            "resumed-after-verdict" => EventKind::ResumedAfterVerdict,
            "note" | "redone" => EventKind::Note { said },
            _ => return None,
        })
    }

    /// An event of a form before 6, which had its sentence only.
    pub(crate) fn of_early_sentence(said: String) -> EventKind {
        match said.as_str() {
            "resumed" => EventKind::Resumed,
            "resumed after its verdict could be read" => EventKind::ResumedAfterVerdict,
            _ => EventKind::Note { said },
        }
    }

    /// Whether the run was resumed.
    pub fn is_resumption(&self) -> bool {
        matches!(self, EventKind::Resumed | EventKind::ResumedAfterVerdict)
    }
}
