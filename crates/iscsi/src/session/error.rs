//! Why a connection is given up, and why a command failed.

use crate::login::LoginError;
use crate::pdu::FrameError;
use crate::scsi::{Sense, Status};

/// A connection that is of no more use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The login failed.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// Bytes that are no PDU.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A PDU that has no place here.
    #[error(
        "{found} (opcode {opcode:#04x}) came where it has no place: the other end is no iSCSI target, or broken"
    )]
    Unexpected {
        /// Its name.
        found: &'static str,
        /// Its opcode.
        opcode: u8,
    },
    /// A PDU that contradicts what went before.
    #[error("{found} that {problem}: the target breaks the protocol; look for an update of it")]
    Protocol {
        /// The PDU.
        found: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An answer got lost.
    #[error(
        "StatSN {found} where {expected} belongs: an answer of the target is lost, and at ErrorRecoveryLevel 0 the session with it"
    )]
    StatusLost {
        /// What came.
        found: u32,
        /// What should have come.
        expected: u32,
    },
    /// The target rejected a PDU of ours.
    #[error("the target rejected a {rejected}: {reason} ({code:#04x}); look at its log")]
    Rejected {
        /// What we sent, as the target gives it back.
        rejected: &'static str,
        /// Why.
        reason: &'static str,
        /// The reason's code.
        code: u8,
    },
    /// The target asked us to leave, and we did.
    #[error("the target asked for logout: it is about to be reconfigured or stopped")]
    LogoutRequested,
    /// The target drops the connection.
    #[error("{event}: look at its log for the reason")]
    Dropped {
        /// In words.
        event: &'static str,
    },
    /// The logout was refused.
    #[error("the target refused the logout: {response}")]
    LogoutRefused {
        /// In words.
        response: &'static str,
    },
    /// Nothing came.
    #[error("no {awaited} within {} s: the target or the path to it hangs; look at its load, its log and the network", .waited_ns / 1_000_000_000)]
    Silent {
        /// What was waited for.
        awaited: &'static str,
        /// For how long.
        waited_ns: u64,
    },
    /// A buffer was not there when its bytes were to be sent or received.
    #[error("buffer {buffer} of the transport was not at hand: this is a fault of this program")]
    Memory {
        /// The buffer.
        buffer: u32,
    },
}

/// A command that failed, while the session goes on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Sense data says why.
    #[error("the target refused the command: {0}")]
    Check(Sense),
    /// A status says why.
    #[error("the target refused the command: {0}")]
    Status(Status),
    /// The target failed before the command reached its end.
    #[error(
        "the target failed to carry out the command (response {response:#04x}): look at its log"
    )]
    Target {
        /// The response's code.
        response: u8,
    },
    /// The session was given up before an answer came.
    #[error("the connection was given up before an answer came")]
    Surrendered,
}
