//! Why a run ended, and the events during it.

use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened, in milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// What happened, as a sentence.
    pub what: String,
    /// Its meaning for the results.
    #[serde(default)]
    pub kind: EventKind,
}

/// The meaning of an event for the results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A note without further meaning.
    #[default]
    Note,
    /// The run was resumed before any result could be read from it.
    Resumed,
    /// The run was resumed after a verdict could be read: whether to continue was a choice.
    ResumedAfterVerdict,
    /// The run was resumed to measure the blocks of invalid cells again.
    Redone,
}

impl EventKind {
    const ALL: [EventKind; 4] =
        [EventKind::Note, EventKind::Resumed, EventKind::ResumedAfterVerdict, EventKind::Redone];

    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Note => "note",
            EventKind::Resumed => "resumed",
            EventKind::ResumedAfterVerdict => "resumed-after-verdict",
            EventKind::Redone => "redone",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<EventKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Files before form 6 have these sentences only.
    pub(crate) fn of_early_sentence(what: &str) -> EventKind {
        match what {
            "resumed" => EventKind::Resumed,
            "resumed after its verdict could be read" => EventKind::ResumedAfterVerdict,
            _ => EventKind::Note,
        }
    }

    /// Whether the run was resumed.
    pub fn is_resumption(self) -> bool {
        matches!(self, EventKind::Resumed | EventKind::ResumedAfterVerdict)
    }
}
