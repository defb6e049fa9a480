//! Why a call on connections was refused. A refusal changes nothing.

use std::io;

/// Why [`Sockets`](crate::Sockets) did not accept a connection, a send or a receive.
///
/// Failures of a connection itself are not reported here but as
/// [`SocketEvent::Closed`](crate::SocketEvent::Closed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// There is no such place.
    #[error("there is no place {place}: use one below {places}")]
    Place {
        /// The number that was given.
        place: u32,
        /// Number of places.
        places: u32,
    },
    /// Another connection has the place.
    #[error("place {place} has a connection: close it first, or use another place")]
    InUse {
        /// The place.
        place: u32,
    },
    /// The place has no connection, or one that is not established yet.
    #[error("place {place} is not connected: connect it and wait until it is")]
    NotConnected {
        /// The place.
        place: u32,
    },
    /// A send is in progress.
    #[error("place {place} is sending: wait until it has sent")]
    Sending {
        /// The place.
        place: u32,
    },
    /// A receive is armed already, and not with this span.
    #[error("a receive is armed on place {place}: wait until it has received")]
    Receiving {
        /// The place.
        place: u32,
    },
    /// The inbox is full.
    #[error("the inbox of place {place} is full: consume it, or open with a larger one")]
    InboxFull {
        /// The place.
        place: u32,
    },
    /// The span is not within a buffer.
    #[error(
        "buffer {buffer} has no {length} bytes at {offset}: name a buffer and bytes that exist"
    )]
    Span {
        /// Index of the buffer.
        buffer: u32,
        /// Start of the span, in bytes.
        offset: u32,
        /// Length of the span, in bytes.
        length: u32,
    },
    /// A receive fills the buffer, or a receive needs one that is in use.
    #[error("buffer {buffer} is in use: wait for its transfer, or take another one")]
    Busy {
        /// Index of the buffer.
        buffer: u32,
    },
    /// The pieces do not cover exactly the bytes that were given.
    #[error("the pieces cover {named} own bytes of {given}: cover each once")]
    Pieces {
        /// The sum of the pieces, as far as they were examined.
        named: u64,
        /// Number of bytes that were given.
        given: u64,
    },
    /// The pieces are empty.
    #[error("nothing to send: give at least one byte")]
    Nothing,
    /// The system provided no socket or no memory for one.
    #[error(
        "the system refused a connection ({}): raise the limits of open files and memory \
         (ulimit -n, ulimit -v), or ask again",
        io::Error::from_raw_os_error(*errno)
    )]
    System {
        /// The positive errno.
        errno: i32,
    },
}
