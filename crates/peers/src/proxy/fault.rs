//! The faults that can be injected into a stream.

use std::time::Duration;

use super::framing::Framing;

/// The direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// Numbers of procedures, for [`Fault::NfsStatus`] (RFC 1813 section 3.3).
pub mod nfs_procedure {
    /// Returns a file's attributes.
    pub const GETATTR: u32 = 1;
    /// Sets a file's attributes.
    pub const SETATTR: u32 = 2;
    /// Looks up a name in a directory.
    pub const LOOKUP: u32 = 3;
    /// Checks permissions.
    pub const ACCESS: u32 = 4;
    /// Reads.
    pub const READ: u32 = 6;
    /// Writes.
    pub const WRITE: u32 = 7;
    /// Creates a file.
    pub const CREATE: u32 = 8;
    /// Removes a file.
    pub const REMOVE: u32 = 12;
    /// Returns free space.
    pub const FSSTAT: u32 = 18;
    /// Returns the server's limits.
    pub const FSINFO: u32 = 19;
    /// Makes written data stable.
    pub const COMMIT: u32 = 21;
}

/// A fault.
///
/// Byte counts are per connection and direction, from when the fault was planned or the connection
/// was opened, whichever is later. A *reply* is an RPC reply, or an iSCSI SCSI Response or Data-In.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Delays a message, or a chunk of bytes where messages are unknown.
    Delay {
        /// The direction.
        direction: Direction,
        /// The length of the delay.
        delay: Duration,
    },
    /// Sends RST to both sides after this many bytes.
    Reset {
        /// The direction.
        direction: Direction,
        /// Number of bytes before it.
        after_bytes: u64,
    },
    /// Accepts everything after this many bytes and discards it.
    Stall {
        /// The direction.
        direction: Direction,
        /// Number of bytes before it.
        after_bytes: u64,
    },
    /// Ends the stream in an orderly way (FIN) after this many bytes.
    Truncate {
        /// The direction.
        direction: Direction,
        /// Number of bytes before it.
        after_bytes: u64,
    },
    /// Flips one bit of a byte; the seed determines which.
    FlipBit {
        /// The direction.
        direction: Direction,
        /// The byte's number, from 0.
        at_byte: u64,
    },
    /// Accepts a new connection without connecting it to the server.
    AcceptOnly,
    /// Answers a new connection with RST. For "connection refused" see
    /// [`Proxy::close`](super::Proxy::close).
    Refuse,
    /// Sends a reply twice.
    DuplicateReply,
    /// Swaps a reply with the next one. It is held back for a fifth of a second at most: if there
    /// is no next reply by then, nothing happens.
    SwapReplies,
    /// Changes the XID, or Initiator Task Tag, of a reply.
    ChangeReplyId,
    /// Makes a message to the client claim an impossible length.
    ImpossibleLength,
    /// Answers an NFS procedure with an error instead of its result (RFC 1813 section 2.6). The
    /// server has executed it.
    NfsStatus {
        /// See [`nfs_procedure`].
        procedure: u32,
        /// The `nfsstat3`: 28 no space, 70 stale, 10008 jukebox.
        status: u32,
    },
    /// Answers a SCSI command with another status, without data or sense (SAM-5 section 5.3.1). The
    /// target has executed it.
    ScsiStatus {
        /// 0x08 busy, 0x28 task set full.
        status: u8,
    },
    /// Raises a reply's StatSN.
    StatSn {
        /// By how much.
        add: u32,
    },
    /// Makes an R2T ask for something else.
    R2t {
        /// The buffer offset.
        offset_bytes: u32,
        /// The desired length.
        length_bytes: u32,
    },
    /// Keeps MaxCmdSN at its value in the next message of a connection. Counted whenever it would
    /// have changed.
    FreezeMaxCmdSn,
    /// Flips a bit of a data segment sent to the client; the seed determines which. A data digest
    /// is left unchanged, so it does not match.
    CorruptData {
        /// Shorter segments are spared: the answers of commands that read no blocks.
        min_bytes: u32,
    },
}

impl Fault {
    /// Whether a proxy with this framing can inject it.
    pub(crate) fn fits(self, framing: Framing) -> bool {
        match self {
            Self::Delay { .. }
            | Self::Reset { .. }
            | Self::Stall { .. }
            | Self::Truncate { .. }
            | Self::FlipBit { .. }
            | Self::AcceptOnly
            | Self::Refuse => true,
            Self::DuplicateReply
            | Self::SwapReplies
            | Self::ChangeReplyId
            | Self::ImpossibleLength => framing != Framing::None,
            Self::NfsStatus { .. } => framing == Framing::Rpc,
            Self::ScsiStatus { .. }
            | Self::StatSn { .. }
            | Self::R2t { .. }
            | Self::FreezeMaxCmdSn
            | Self::CorruptData { .. } => framing == Framing::Iscsi,
        }
    }

    /// The byte at which it applies, if it applies at a byte.
    pub(crate) fn at_byte(self) -> Option<(Direction, u64)> {
        match self {
            Self::Reset { direction, after_bytes }
            | Self::Stall { direction, after_bytes }
            | Self::Truncate { direction, after_bytes } => Some((direction, after_bytes)),
            Self::FlipBit { direction, at_byte } => Some((direction, at_byte)),
            _ => None,
        }
    }
}
