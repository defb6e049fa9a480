//! Why librbd is not there, and what the cluster refused.

use std::time::Duration;

/// Why the libraries cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// One of them is not installed, or cannot be loaded.
    #[error("{library} cannot be loaded: {reason}")]
    Missing {
        /// Name of the file that the loader looked for.
        library: &'static str,
        /// What the loader said.
        reason: String,
    },
    /// It lacks a function: it is older than librbd 1.12 (Ceph 12).
    #[error("{library} has no function {function}")]
    TooOld {
        /// Name of the file.
        library: &'static str,
        /// The first function that it lacks.
        function: &'static str,
    },
    /// The program is linked statically, and such a program cannot load libraries.
    #[error("a statically linked program cannot load libraries")]
    StaticProgram,
}

/// What went wrong between this process and a cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RbdError {
    /// The cluster, or the library, refused it.
    #[error("{action} {what}: {}", std::io::Error::from_raw_os_error(*.errno))]
    Refused {
        /// What was being done, in words: `opening image`.
        action: &'static str,
        /// To what.
        what: String,
        /// The library's error number, as `errno`.
        errno: i32,
    },
    /// It did not answer in time.
    #[error("{action} {what}: no answer within {} s", .limit.as_secs())]
    Late {
        /// What was being done.
        action: &'static str,
        /// To what.
        what: String,
        /// How long was waited.
        limit: Duration,
    },
    /// The cluster has no such pool.
    #[error("the cluster has no pool {pool}")]
    NoPool {
        /// The pool.
        pool: String,
    },
    /// A name contains a zero byte, which C takes for its end.
    #[error("the name {name:?} contains a zero byte")]
    Name {
        /// The name.
        name: String,
    },
    /// What the cluster answered cannot be understood.
    #[error("the cluster's answer to {command} cannot be understood")]
    Answer {
        /// The command.
        command: String,
    },
}

impl RbdError {
    /// The error number of a refusal.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Refused { errno, .. } => Some(*errno),
            Self::Late { .. } | Self::NoPool { .. } | Self::Name { .. } | Self::Answer { .. } => {
                None
            }
        }
    }

    /// Whether something of that name does not exist (ENOENT).
    pub fn is_missing(&self) -> bool {
        self.errno() == Some(2)
    }

    /// Whether an image cannot be removed because it has snapshots (ENOTEMPTY).
    pub fn has_snapshots(&self) -> bool {
        self.errno() == Some(39)
    }

    /// Whether an image is still open somewhere (EBUSY).
    pub fn is_busy(&self) -> bool {
        self.errno() == Some(16)
    }
}
