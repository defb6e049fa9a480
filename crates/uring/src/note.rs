//! What an engine was asked for and did not get, reported so that a result can be interpreted
//! correctly.

use crate::Unavailable;

/// A deviation from the fastest way of doing I/O.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// io_uring was requested but refused, so the positional engine is used.
    Refused(Unavailable),
    /// I/O is done by a pool of threads with positioned reads and writes.
    Positional {
        /// Number of running threads, which is the most that the storage sees at once.
        threads: u32,
        /// Operations that may be in flight; those above `threads` queue in this process.
        in_flight: u32,
    },
    /// io_uring was requested for connections but refused, so epoll is used.
    SocketsRefused(Unavailable),
    /// Connections are served by epoll.
    Epoll,
    /// The kernel does not support deferred task work (Linux before 6.1): completions interrupt
    /// more.
    WithoutDeferredTaskWork,
    /// The kernel does not support cooperative task work either (Linux before 5.19).
    WithoutCooperativeTaskWork,
    /// Files could not be registered: each operation looks up its descriptor.
    FilesNotRegistered {
        /// The positive errno of the registration.
        errno: i32,
    },
    /// Buffers could not be registered: each operation pins its pages.
    BuffersNotRegistered {
        /// The positive errno of the registration.
        errno: i32,
        /// Bytes to register.
        bytes: u64,
    },
}
