//! What can go wrong when an engine opens or reaps.

use std::io;

use crate::Unavailable;
use crate::options::{MAX_BUFFER_BYTES, MAX_IN_FLIGHT};
use crate::sockets::{MAX_PLACES, MIN_RECEIVE_BYTES};

/// Why an engine could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// io_uring was demanded and does not work here.
    #[error("{0}; or choose the positional engine")]
    Unavailable(#[from] Unavailable),
    /// The number of operations in flight is zero or above [`MAX_IN_FLIGHT`].
    #[error("{asked} operations in flight asked for: choose from 1 to {MAX_IN_FLIGHT}")]
    InFlight {
        /// What was asked for.
        asked: u32,
    },
    /// A buffer is empty or larger than [`MAX_BUFFER_BYTES`].
    #[error("buffers of {asked} bytes asked for: choose from 1 to {MAX_BUFFER_BYTES}")]
    BufferBytes {
        /// What was asked for.
        asked: u32,
    },
    /// The buffers' memory could not be had.
    #[error("cannot allocate {bytes} bytes of buffers ({source}): ask for fewer or smaller ones")]
    Memory {
        /// Bytes asked for, all buffers together (saturated).
        bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The number of places for connections is zero or above [`MAX_PLACES`].
    #[error("places for {asked} connections asked for: choose from 1 to {MAX_PLACES}")]
    Places {
        /// What was asked for.
        asked: u32,
    },
    /// An inbox is smaller than [`MIN_RECEIVE_BYTES`] or larger than [`MAX_BUFFER_BYTES`].
    #[error(
        "an inbox of {asked} bytes asked for: choose from {MIN_RECEIVE_BYTES} to {MAX_BUFFER_BYTES}"
    )]
    ReceiveBytes {
        /// What was asked for.
        asked: u32,
    },
    /// The system gave no epoll instance.
    #[error("cannot open an epoll instance ({source}): raise the limit of open files (ulimit -n)")]
    Epoll {
        /// What the system said.
        source: io::Error,
    },
    /// Not one worker thread of the positional engine could be started.
    #[error("cannot start a thread ({source}): raise the limit of processes (ulimit -u)")]
    Threads {
        /// What the system said.
        source: io::Error,
    },
}

/// The kernel refused to submit or to wait, for another reason than time-out, signal or shortage.
///
/// The operations remain in flight and the engine remains sound, but it will hardly recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("io_uring_enter failed ({}): open the engine again", io::Error::from_raw_os_error(*errno))]
pub struct ReapError {
    /// The positive errno.
    pub errno: i32,
}
