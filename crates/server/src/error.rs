//! Why a server cannot be started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a server cannot be started.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The port is in use or not available to this user.
    #[error(
        "port {port} of 127.0.0.1 cannot be used ({source}); name another, or 0 for a free one"
    )]
    Bind {
        /// The requested port.
        port: u16,
        /// The system's error.
        source: io::Error,
    },
    /// The directory to be shared cannot be opened.
    #[error("{} cannot be shared ({source}); name a directory that can be read", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No thread can be started for the server.
    #[error("no thread can be started for the server ({source}); raise the limit of processes")]
    Thread {
        /// The system's error.
        source: io::Error,
    },
}
