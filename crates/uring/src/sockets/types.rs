//! What is said about connections, in numbers: runs of bytes, pieces to send, events.

/// A run of bytes within one of the pool's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketSpan {
    /// Index of the buffer.
    pub buffer: u32,
    /// Where in the buffer the run begins, in bytes.
    pub offset: u32,
    /// How many bytes.
    pub length: u32,
}

/// One piece of what is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketPiece {
    /// So many of the sender's own bytes, following those of the piece before.
    Bytes(u32),
    /// Bytes of one of the pool's buffers, sent from where they lie.
    Payload(SocketSpan),
}

/// Something that happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketEvent {
    /// The connection stands.
    Connected {
        /// The connection's place.
        place: u32,
    },
    /// Bytes came in, and the receive is no longer armed.
    Received {
        /// The connection's place.
        place: u32,
        /// How many of them lie in the span that the receive named; the rest is in the inbox.
        direct: u32,
    },
    /// All that was given to be sent is with the kernel.
    Sent {
        /// The connection's place.
        place: u32,
    },
    /// The connection is gone. What had come in before may still be taken from the inbox; the place
    /// is free for another connection.
    Closed {
        /// The connection's place.
        place: u32,
        /// Why, as a positive errno; zero if the peer ended it in an orderly way.
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

    /// Whether a wait ends for it even if it happened before the wait: all but the end of a send
    /// that went out as it was given, for which nobody can be waiting.
    pub(super) fn ends_a_wait(&self) -> bool {
        !matches!(self, Self::Sent { .. })
    }
}
