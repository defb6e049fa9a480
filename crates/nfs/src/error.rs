//! All that can go wrong between this client and a server.

use crate::record::RecordError;
use crate::rpc::RpcError;
use crate::status::{MountStatus, NfsStatus};
use crate::xdr::XdrError;

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NfsError {
    /// Bytes that are not what the protocol prescribes.
    #[error(transparent)]
    Xdr(#[from] XdrError),
    /// A record that is not what was asked for.
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
    #[error("a reply to call {expected:#x} was awaited, one to {found:#x} came; connect anew")]
    OtherReply {
        /// Transaction number of the call.
        expected: u32,
        /// Transaction number of the reply.
        found: u32,
    },
    /// The oldest request has had no reply for too long.
    #[error(
        "the server has not answered for {} ms; check that it runs and the network carries packets \
         of full size",
        waited_ns / 1_000_000
    )]
    Silent {
        /// How long, in nanoseconds.
        waited_ns: u64,
    },
    /// Too many replies to calls that were never made, or were answered already.
    #[error("the server sent {count} replies that nobody waits for; its state is not trusted")]
    UnknownReplies {
        /// How many on this connection.
        count: u32,
    },
    /// More bytes moved than asked for.
    #[error("the server says it moved {moved_bytes} bytes where {asked_bytes} were asked for")]
    MovedTooMuch {
        /// What the request asked for.
        asked_bytes: u32,
        /// What the reply says.
        moved_bytes: u32,
    },
    /// Nothing was moved, and no reason was given.
    #[error(
        "the server moved nothing of {asked_bytes} bytes and gave no reason; asking again would \
         have no end"
    )]
    MovedNothing {
        /// What the request asked for.
        asked_bytes: u32,
    },
    /// The count of a READ reply and the length of its data differ.
    #[error("a READ reply counts {count} bytes and carries {carried}")]
    CountDiffers {
        /// The count.
        count: u32,
        /// The length of the data.
        carried: u32,
    },
    /// Data that was to be made stable and was not.
    #[error(
        "data that the server had taken could not be made stable: it answered {stability}, \
         FILE_SYNC was asked for; use stable writes with this server"
    )]
    NotStable {
        /// What it answered (`stable_how`).
        stability: u32,
    },
    /// A buffer that an operation names is not there, or in use.
    #[error("buffer {buffer} is not there or in use; this is an error of the caller")]
    Buffer {
        /// Which buffer.
        buffer: u32,
    },
}
