//! What can go wrong between two ends, and what to do about it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::key_length::MIN_KEY_BYTES;
use crate::refusal::RefusalReason;

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

fn seconds(limit: Duration) -> String {
    format!("{:.1} s", limit.as_secs_f64())
}
