//! What can go wrong between two ends, and what to do about it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::key::MIN_KEY_BYTES;
use crate::request::Reply;

/// Why a probe failed.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The key is too short to be secure.
    #[error(
        "the key has {found_bytes} bytes, at least {MIN_KEY_BYTES} are needed; \
         have stormeter net make a new one"
    )]
    ShortKey {
        /// Its length in bytes.
        found_bytes: usize,
    },
    /// The system returns no random bytes.
    #[error("no random bytes could be read from /dev/urandom ({0}); see that it exists")]
    Random(#[source] io::Error),
    /// The listener cannot bind its address.
    #[error("cannot listen on {address}: {source}; choose another address or port")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// No connection to the far end.
    #[error(
        "cannot connect to {address}: {source}; \
         see that stormeter net listens there and no firewall is between"
    )]
    Connect {
        /// The far end's address as given.
        address: String,
        /// The reason.
        source: io::Error,
    },
    /// The socket failed.
    #[error("the connection failed while {during}: {source}; check the network and try again")]
    Socket {
        /// What was being done.
        during: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// The far end closed the connection.
    #[error("the far end closed the connection while {during}; its own output says why")]
    Closed {
        /// What was being done.
        during: &'static str,
    },
    /// The far end was silent for too long.
    #[error(
        "the far end was silent for {} while {during}; see that it still runs, or allow more time",
        seconds(*limit)
    )]
    Silent {
        /// What was being done.
        during: &'static str,
        /// The time limit.
        limit: Duration,
    },
    /// This end was asked to stop.
    #[error("stopped while {during}")]
    Stopped {
        /// What was being done.
        during: &'static str,
    },
    /// Something other than stormeter answers there.
    #[error("what answers there is not stormeter; check host and port")]
    NotStormeter,
    /// The two ends use different versions.
    #[error(
        "the far end speaks version {theirs} of the protocol and this end version {ours}; \
         use the same stormeter at both ends"
    )]
    Version {
        /// The far end's version.
        theirs: u16,
        /// This end's version.
        ours: u16,
    },
    /// The listener has reached its limit on connections.
    #[error("the far end serves as many connections as it allows; use fewer streams or wait")]
    Busy,
    /// The far end does not know our key.
    #[error("the far end could not prove that it holds the key; give both ends the same key")]
    Unproven,
    /// The listener rejected our key.
    #[error("the far end refused this end's key; give both ends the same key")]
    KeyRefused,
    /// The far end violated the protocol.
    #[error("the far end broke the protocol: {what}; use the same stormeter at both ends")]
    Protocol {
        /// The violation.
        what: &'static str,
    },
    /// A request was refused.
    #[error("refused: {0}")]
    Refused(RefusalReason),
    /// A parameter is 0, so nothing would be measured.
    #[error("{what} is 0, so nothing would be measured; give at least 1")]
    Nothing {
        /// The parameter.
        what: &'static str,
    },
    /// The directory for disk sinks cannot be used.
    #[error("cannot {action} {}: {source}; choose another directory", path.display())]
    Disk {
        /// What was attempted.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("no thread could be started: {0}; use fewer streams")]
    Thread(#[source] io::Error),
}

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

fn seconds(limit: Duration) -> String {
    format!("{:.1} s", limit.as_secs_f64())
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
