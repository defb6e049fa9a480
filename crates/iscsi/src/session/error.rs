//! Why a connection is given up, and why a command failed.

use crate::login::LoginError;
use crate::pdu::FrameError;
use crate::scsi::{Sense, Status};

/// The reason why a connection is no longer usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The login failed.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// Bytes that are not a valid PDU.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A PDU that does not belong here.
    #[error(
        "{found} (opcode {opcode:#04x}) arrived unexpectedly: the other end is not an iSCSI target, or is broken"
    )]
    Unexpected {
        /// Name of the PDU.
        found: &'static str,
        /// Opcode of the PDU.
        opcode: u8,
    },
    /// A PDU that contradicts earlier ones.
    #[error("{found} that {problem}: the target breaks the protocol; look for an update of it")]
    Protocol {
        /// The PDU.
        found: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An answer was lost.
    #[error(
        "StatSN {found} where {expected} belongs: an answer of the target is lost, and at ErrorRecoveryLevel 0 the session with it"
    )]
    StatusLost {
        /// The received number.
        found: u32,
        /// The expected number.
        expected: u32,
    },
    /// The target rejected a PDU of ours.
    #[error("the target rejected a {rejected}: {reason} ({code:#04x}); look at its log")]
    Rejected {
        /// The PDU that we sent, as returned by the target.
        rejected: &'static str,
        /// The reason.
        reason: &'static str,
        /// The code of the reason.
        code: u8,
    },
    /// The target asked us to log out, and we did.
    #[error("the target asked for logout: it is about to be reconfigured or stopped")]
    LogoutRequested,
    /// The target is dropping the connection.
    #[error("{event}: look at its log for the reason")]
    Dropped {
        /// The event in words.
        event: &'static str,
    },
    /// The logout was refused.
    #[error("the target refused the logout: {response}")]
    LogoutRefused {
        /// The response in words.
        response: &'static str,
    },
    /// No answer arrived.
    #[error("no {awaited} within {} s: the target or the path to it hangs; look at its load, its log and the network", .waited_ns / 1_000_000_000)]
    Silent {
        /// What was awaited.
        awaited: &'static str,
        /// For how long, in nanoseconds.
        waited_ns: u64,
    },
    /// A buffer was missing when its bytes were to be sent or received.
    #[error("buffer {buffer} of the transport was not at hand: this is a fault of this program")]
    Memory {
        /// Number of the buffer.
        buffer: u32,
    },
}

/// A command that failed while the session continues.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Sense data has the reason.
    #[error("the target refused the command: {0}")]
    Check(Sense),
    /// The status is the reason.
    #[error("the target refused the command: {0}")]
    Status(Status),
    /// The target failed before the command was complete.
    #[error(
        "the target failed to carry out the command (response {response:#04x}): look at its log"
    )]
    Target {
        /// Code of the response.
        response: u8,
    },
    /// The session was given up before an answer arrived.
    #[error("the connection was given up before an answer came")]
    Surrendered,
}
