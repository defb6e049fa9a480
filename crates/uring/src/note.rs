//! What an engine was asked for and did not get, reported so that a result can be interpreted
//! correctly.

use std::fmt;
use std::io;

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

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => {
                write!(out, "io_uring is not used, positional reads and writes are: {reason}")
            }
            Self::Positional { threads, in_flight } => {
                write!(out, "{threads} threads read and write by position, for {in_flight} ")?;
                out.write_str("outstanding operations: latency and CPU time include the hand-over")?;
                if threads < in_flight {
                    out.write_str(", and operations beyond the threads queue in this process")?;
                }
                Ok(())
            }
            Self::SocketsRefused(reason) => {
                write!(out, "io_uring is not used for connections, epoll is: {reason}")
            }
            Self::Epoll => out.write_str(
                "epoll serves the connections: each transfer is a separate system call",
            ),
            Self::WithoutDeferredTaskWork => out.write_str(
                "io_uring runs without deferred task work, which costs some CPU: Linux 6.1 has it",
            ),
            Self::WithoutCooperativeTaskWork => out.write_str(
                "io_uring runs without cooperative task work, which costs some CPU: Linux 5.19 has it",
            ),
            Self::FilesNotRegistered { errno } => write!(
                out,
                "io_uring runs without registered files ({}): raise the limit of open files \
                 (ulimit -n)",
                io::Error::from_raw_os_error(*errno)
            ),
            Self::BuffersNotRegistered { errno, bytes } => write!(
                out,
                "io_uring runs without registered buffers ({}), which costs CPU: let {} KiB be \
                 locked (ulimit -l)",
                io::Error::from_raw_os_error(*errno),
                bytes.div_ceil(1024)
            ),
        }
    }
}
