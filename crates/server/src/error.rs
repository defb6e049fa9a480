//! Why a server cannot be started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a server cannot be started.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The port is taken or not ours to take.
    #[error(
        "port {port} of 127.0.0.1 cannot be used ({source}); name another, or 0 for a free one"
    )]
    Bind {
        /// The port that was asked for.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The directory to be shared cannot be opened.
    #[error("{} cannot be shared ({source}); name a directory that can be read", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no thread for the server.
    #[error("no thread can be started for the server ({source}); raise the limit of processes")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
}
