//! Everything that can go wrong between this client and a server.

use stormeter_disk::DeviceError;

use crate::record::RecordError;
use crate::rpc_error::RpcError;
use crate::status::{MountStatus, NfsStatus};
use crate::xdr::XdrError;

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NfsError {
    /// Bytes that violate the protocol.
    #[error(transparent)]
    Xdr(#[from] XdrError),
    /// A record that does not fit the request.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A call that the server's RPC layer refused.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// A call that the NFS server refused.
    #[error(transparent)]
    Status(#[from] NfsStatus),
    /// A call that the MOUNT server refused.
    #[error(transparent)]
    Mount(#[from] MountStatus),
    /// A reply to another call.
    #[error("expected a reply to call {expected:#x}, received one to {found:#x}; reconnect")]
    OtherReply {
        /// Transaction number of the call.
        expected: u32,
        /// Transaction number of the reply.
        found: u32,
    },
    /// The oldest request has been waiting for its reply for too long.
    #[error(
        "the server has not answered for {} ms; check that it runs and the network carries packets \
         of full size",
        waited_ns / 1_000_000
    )]
    Silent {
        /// For how long, in nanoseconds.
        waited_ns: u64,
    },
    /// Too many replies to calls that were never made, or were answered already.
    #[error(
        "the server sent {count} replies to calls that are not outstanding; its state is not trusted"
    )]
    UnknownReplies {
        /// Number of them on this connection.
        count: u32,
    },
    /// More bytes moved than requested.
    #[error("the server says it moved {moved_bytes} bytes where {asked_bytes} were asked for")]
    MovedTooMuch {
        /// Bytes requested.
        asked_bytes: u32,
        /// Bytes moved according to the reply.
        moved_bytes: u32,
    },
    /// Nothing was moved, and no reason was given.
    #[error(
        "the server moved nothing of {asked_bytes} bytes and gave no reason; asking again would \
         have no end"
    )]
    MovedNothing {
        /// Bytes requested.
        asked_bytes: u32,
    },
    /// The count of a READ reply and the length of its data differ.
    #[error("a READ reply counts {count} bytes and carries {carried}")]
    CountDiffers {
        /// The count.
        count: u32,
        /// Actual length of the data, in bytes.
        carried: u32,
    },
    /// Data should have become stable and did not.
    #[error(
        "data that the server had taken could not be made stable: it answered {stability}, \
         FILE_SYNC was asked for; use stable writes with this server"
    )]
    NotStable {
        /// The stability in the server's answer (`stable_how`).
        stability: u32,
    },
    /// An operation refers to a buffer that does not exist, or is in use.
    #[error("buffer {buffer} is not there or in use; this is an error of the caller")]
    Buffer {
        /// Number of the buffer.
        buffer: u32,
    },
}

impl NfsError {
    /// The error of the operation whose request the server refused.
    pub(crate) fn errno(&self) -> DeviceError {
        match self {
            Self::Status(status) => status.errno(),
            Self::Rpc(rpc) => DeviceError(rpc.errno()),
            _ => DeviceError::IO,
        }
    }
}
