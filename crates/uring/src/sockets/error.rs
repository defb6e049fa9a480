//! Why a call on connections was refused. A refusal changes nothing.

use std::io;

/// Why [`Sockets`](crate::Sockets) did not take a connection, a send or a receive.
///
/// What goes wrong on a connection itself is not told here but as
/// [`SocketEvent::Closed`](crate::SocketEvent::Closed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// There is no such place.
    #[error("there is no place {place}: use one below {places}")]
    Place {
        /// What was named.
        place: u32,
        /// How many places there are.
        places: u32,
    },
    /// Another connection has the place.
    #[error("place {place} has a connection: close it first, or use another place")]
    InUse {
        /// The place.
        place: u32,
    },
    /// The place has no connection, or one that does not stand yet.
    #[error("place {place} is not connected: connect it and wait until it is")]
    NotConnected {
        /// The place.
        place: u32,
    },
    /// A send is under way.
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
    /// The inbox has no room for a single byte.
    #[error("the inbox of place {place} is full: consume it, or open with a larger one")]
    InboxFull {
        /// The place.
        place: u32,
    },
    /// The span does not lie in a buffer.
    #[error(
        "buffer {buffer} has no {length} bytes at {offset}: name a buffer and bytes that exist"
    )]
    Span {
        /// Index of the buffer.
        buffer: u32,
        /// Where the span begins, in bytes.
        offset: u32,
        /// How many bytes it has.
        length: u32,
    },
    /// A receive fills the buffer, or a receive wants one that is in use.
    #[error("buffer {buffer} is in use: wait for its transfer, or take another one")]
    Busy {
        /// Index of the buffer.
        buffer: u32,
    },
    /// The pieces do not cover the bytes given, or more.
    #[error("the pieces cover {named} own bytes of {given}: cover each once")]
    Pieces {
        /// What the pieces add up to, as far as they were looked at.
        named: u64,
        /// How many bytes were given.
        given: u64,
    },
    /// The pieces name not one byte.
    #[error("nothing to send: give at least one byte")]
    Nothing,
    /// The system refused a socket or the memory for one.
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
