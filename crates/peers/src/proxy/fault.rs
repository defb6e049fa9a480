//! What may be done to a stream.

use std::time::Duration;

use super::framing::Framing;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// Numbers of procedures, for [`Fault::NfsStatus`] (RFC 1813 section 3.3).
pub mod nfs_procedure {
    /// Gets a file's attributes.
    pub const GETATTR: u32 = 1;
    /// Sets a file's attributes.
    pub const SETATTR: u32 = 2;
    /// Finds a name in a directory.
    pub const LOOKUP: u32 = 3;
    /// Asks for permissions.
    pub const ACCESS: u32 = 4;
    /// Reads.
    pub const READ: u32 = 6;
    /// Writes.
    pub const WRITE: u32 = 7;
    /// Makes a file.
    pub const CREATE: u32 = 8;
    /// Removes a file.
    pub const REMOVE: u32 = 12;
    /// Asks for free space.
    pub const FSSTAT: u32 = 18;
    /// Asks for what the server can do.
    pub const FSINFO: u32 = 19;
    /// Has written data made stable.
    pub const COMMIT: u32 = 21;
}

/// Something that goes wrong.
///
/// Byte counts are those of one connection and direction, from the fault's planning or the
/// connection's begin, whichever is later. A *reply* is an RPC reply, or an iSCSI SCSI Response or
/// Data-In.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A message, or a chunk of bytes where messages are unknown, is held back.
    Delay {
        /// Of which direction.
        direction: Direction,
        /// How long.
        delay: Duration,
    },
    /// RST to both sides when so many bytes have gone through.
    Reset {
        /// Of which direction.
        direction: Direction,
        /// How many.
        after_bytes: u64,
    },
    /// What comes behind so many bytes is accepted and passed on to nobody.
    Stall {
        /// Of which direction.
        direction: Direction,
        /// How many.
        after_bytes: u64,
    },
    /// An orderly end of the stream (FIN) behind so many bytes.
    Truncate {
        /// Of which direction.
        direction: Direction,
        /// How many.
        after_bytes: u64,
    },
    /// A bit of one byte is turned over; which one is the seed's.
    FlipBit {
        /// Of which direction.
        direction: Direction,
        /// The byte's number, from 0.
        at_byte: u64,
    },
    /// A new connection is accepted, and nobody is behind it.
    AcceptOnly,
    /// A new connection is answered with RST. For "connection refused" see
    /// [`Proxy::close`](super::Proxy::close).
    Refuse,
    /// A reply comes twice.
    DuplicateReply,
    /// A reply and the next one change places. Held back for a fifth of a second at most: if there
    /// is no next one by then, nothing happens.
    SwapReplies,
    /// A reply has another XID, or Initiator Task Tag.
    ChangeReplyId,
    /// A message to the client says that it is longer than any may be.
    ImpossibleLength,
    /// An NFS procedure is answered with an error instead of its result (RFC 1813 section 2.6).
    /// The server has carried it out.
    NfsStatus {
        /// See [`nfs_procedure`].
        procedure: u32,
        /// The `nfsstat3`: 28 no space, 70 stale, 10008 jukebox.
        status: u32,
    },
    /// A SCSI command is answered with another status, without data or sense (SAM-5 section
    /// 5.3.1). The target has carried it out.
    ScsiStatus {
        /// 0x08 busy, 0x28 task set full.
        status: u8,
    },
    /// A reply's StatSN is too high by this.
    StatSn {
        /// How much.
        add: u32,
    },
    /// An R2T asks for something else.
    R2t {
        /// The buffer offset.
        offset_bytes: u32,
        /// The desired length.
        length_bytes: u32,
    },
    /// MaxCmdSN stays what it is in the next message of a connection. Happens whenever it would
    /// have moved.
    FreezeMaxCmdSn,
    /// A bit of a data segment is turned over on its way to the client; which one is the seed's.
    /// A data digest stays as it was, and is wrong by that.
    CorruptData {
        /// Shorter ones are spared: what a command answers that reads no blocks.
        min_bytes: u32,
    },
}

impl Fault {
    /// Whether a proxy that knows these messages can do it.
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

    /// Where it strikes, if at a byte.
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
