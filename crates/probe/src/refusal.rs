//! Why a listener refuses a request, and its code in the protocol.

use crate::reply::Reply;

/// Why a listener refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusalReason {
    /// A length above the limit.
    #[error("the far end takes at most {limit_bytes} bytes at a time; ask for less")]
    TooLong {
        /// The listener's limit.
        limit_bytes: u64,
    },
    /// Too many repetitions in one request.
    #[error("the far end takes at most {limit} repetitions of a cell; ask for fewer")]
    TooMany {
        /// The listener's limit.
        limit: u64,
    },
    /// The listener has no directory for disk transfers.
    #[error("the far end has no directory for disk transfers; start it with one")]
    NoDisk,
    /// A tenth of the file system has to stay free.
    #[error(
        "the far end's file system has {available_bytes} bytes to spare beyond the tenth that \
         stays free; ask for less or give it another directory"
    )]
    NoSpace {
        /// Bytes that may still be written.
        available_bytes: u64,
    },
    /// The disk failed.
    #[error("the far end's disk failed; its own output says how")]
    DiskFailed,
    /// A request that the listener does not know.
    #[error("the far end does not know this request; use the same stormeter at both ends")]
    Unknown,
}

impl RefusalReason {
    /// The reply in the protocol.
    pub(crate) fn reply(self) -> Reply {
        let (code, value) = match self {
            RefusalReason::TooLong { limit_bytes } => (1, limit_bytes),
            RefusalReason::TooMany { limit } => (2, limit),
            RefusalReason::NoDisk => (3, 0),
            RefusalReason::NoSpace { available_bytes } => (4, available_bytes),
            RefusalReason::DiskFailed => (5, 0),
            RefusalReason::Unknown => (6, 0),
        };
        Reply { code, value }
    }

    /// The reason in a reply; `None` for an unknown code.
    pub(crate) fn of(reply: Reply) -> Option<Self> {
        Some(match reply.code {
            1 => RefusalReason::TooLong { limit_bytes: reply.value },
            2 => RefusalReason::TooMany { limit: reply.value },
            3 => RefusalReason::NoDisk,
            4 => RefusalReason::NoSpace { available_bytes: reply.value },
            5 => RefusalReason::DiskFailed,
            6 => RefusalReason::Unknown,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_survives_the_wire() {
        for reason in [
            RefusalReason::TooLong { limit_bytes: 7 },
            RefusalReason::TooMany { limit: 8 },
            RefusalReason::NoDisk,
            RefusalReason::NoSpace { available_bytes: 9 },
            RefusalReason::DiskFailed,
            RefusalReason::Unknown,
        ] {
            assert_eq!(RefusalReason::of(reason.reply()), Some(reason));
        }
        assert_eq!(RefusalReason::of(Reply { code: 0, value: 0 }), None);
        assert_eq!(RefusalReason::of(Reply { code: 7, value: 0 }), None);
    }
}
