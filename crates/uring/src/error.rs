//! What can go wrong when an engine opens or reaps.

use std::io;

use crate::Unavailable;
use crate::limits::{MAX_BUFFER_BYTES, MAX_IN_FLIGHT};
use crate::sockets::{MAX_PLACES, MIN_RECEIVE_BYTES};

/// Why an engine could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// io_uring was required and does not work here.
    #[error("{0}; or choose the positional engine")]
    Unavailable(#[from] Unavailable),
    /// The number of operations in flight is zero or above [`MAX_IN_FLIGHT`].
    #[error("{asked} operations in flight asked for: choose from 1 to {MAX_IN_FLIGHT}")]
    InFlight {
        /// The requested number.
        asked: u32,
    },
    /// A buffer is empty or larger than [`MAX_BUFFER_BYTES`].
    #[error("buffers of {asked} bytes asked for: choose from 1 to {MAX_BUFFER_BYTES}")]
    BufferBytes {
        /// The requested size.
        asked: u32,
    },
    /// The buffers' memory could not be allocated.
    #[error("cannot allocate {bytes} bytes of buffers ({source}): ask for fewer or smaller ones")]
    Memory {
        /// Bytes requested, all buffers together (saturated).
        bytes: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The number of connection slots is zero or above [`MAX_PLACES`].
    #[error("places for {asked} connections asked for: choose from 1 to {MAX_PLACES}")]
    Places {
        /// The requested number.
        asked: u32,
    },
    /// An inbox is smaller than [`MIN_RECEIVE_BYTES`] or larger than [`MAX_BUFFER_BYTES`].
    #[error(
        "an inbox of {asked} bytes asked for: choose from {MIN_RECEIVE_BYTES} to {MAX_BUFFER_BYTES}"
    )]
    ReceiveBytes {
        /// The requested size.
        asked: u32,
    },
    /// The system provided no epoll instance.
    #[error("cannot open an epoll instance ({source}): raise the limit of open files (ulimit -n)")]
    Epoll {
        /// The system's error.
        source: io::Error,
    },
    /// No worker thread of the positional engine could be started.
    #[error("cannot start a thread ({source}): raise the limit of processes (ulimit -u)")]
    Threads {
        /// The system's error.
        source: io::Error,
    },
}

/// The kernel refused to submit or to wait, for a reason other than time-out, signal or shortage.
///
/// The operations remain in flight and the engine remains sound, but it is unlikely to recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("io_uring_enter failed ({}): open the engine again", io::Error::from_raw_os_error(*errno))]
pub struct ReapError {
    /// The positive errno.
    pub errno: i32,
}
