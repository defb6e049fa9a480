//! Plain values for connections: runs of bytes, pieces to send, events.

/// A run of bytes within one of the pool's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketSpan {
    /// Index of the buffer.
    pub buffer: u32,
    /// Start of the run within the buffer, in bytes.
    pub offset: u32,
    /// Length in bytes.
    pub length: u32,
}

/// One piece of the data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketPiece {
    /// This many of the sender's own bytes, after those of the previous piece.
    Bytes(u32),
    /// Bytes of one of the pool's buffers, sent in place.
    Payload(SocketSpan),
}

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketEvent {
    /// The connection is established.
    Connected {
        /// The connection's place.
        place: u32,
    },
    /// Bytes were received, and the receive is no longer armed.
    Received {
        /// The connection's place.
        place: u32,
        /// How many of them are in the span of the receive; the rest is in the inbox.
        direct: u32,
    },
    /// All the data to send has been passed to the kernel.
    Sent {
        /// The connection's place.
        place: u32,
    },
    /// The connection is gone. Data received before may still be taken from the inbox; the place is
    /// free for another connection.
    Closed {
        /// The connection's place.
        place: u32,
        /// The reason as a positive errno; zero if the peer ended it in an orderly way.
        errno: i32,
    },
}

impl SocketEvent {
    /// The place of the connection.
    pub fn place(&self) -> u32 {
        match *self {
            Self::Connected { place }
            | Self::Received { place, .. }
            | Self::Sent { place }
            | Self::Closed { place, .. } => place,
        }
    }

    /// Whether it ends a wait even if it happened before the wait: all except the end of a send
    /// that was completed on submission, for which nothing can be waiting.
    pub(super) fn ends_a_wait(&self) -> bool {
        !matches!(self, Self::Sent { .. })
    }
}
