//! Why io_uring does not work here, and what to do about it.

use std::io;

/// Why io_uring cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The system call does not exist, or a sandbox hides it (ENOSYS).
    #[error(
        "this kernel or sandbox has no io_uring: use Linux 5.11 or newer, and let the container's \
         seccomp profile pass io_uring_setup, io_uring_enter and io_uring_register"
    )]
    Missing,
    /// The administrator or a sandbox forbids it (EPERM, EACCES).
    #[error(
        "io_uring is forbidden here: set sysctl kernel.io_uring_disabled=0, and let the \
         container's seccomp profile pass io_uring_setup, io_uring_enter and io_uring_register"
    )]
    Forbidden,
    /// The kernel provided no memory (ENOMEM); for an ordinary user rings count as locked memory.
    #[error("the kernel gave io_uring no memory: raise the limit of locked memory (ulimit -l)")]
    Memory,
    /// No file descriptor was left (EMFILE, ENFILE).
    #[error("no file descriptor is left for io_uring: raise the limit of open files (ulimit -n)")]
    Descriptors,
    /// io_uring is available but lacks something that the engine needs.
    #[error("this kernel's io_uring lacks {lacks}: use Linux 5.11 or newer")]
    TooOld {
        /// What is missing.
        lacks: &'static str,
    },
    /// Any other refusal.
    #[error(
        "io_uring does not work here ({}): report this with the kernel's version",
        io::Error::from_raw_os_error(*errno)
    )]
    Other {
        /// The positive errno.
        errno: i32,
    },
}

impl Unavailable {
    /// Classifies a (positive) errno of `io_uring_setup(2)`.
    pub(crate) fn from_errno(errno: i32) -> Self {
        match errno {
            libc::ENOSYS => Self::Missing,
            libc::EPERM | libc::EACCES => Self::Forbidden,
            libc::ENOMEM => Self::Memory,
            libc::EMFILE | libc::ENFILE => Self::Descriptors,
            errno => Self::Other { errno },
        }
    }

    /// Classifies a system error.
    pub(crate) fn from_error(error: &io::Error) -> Self {
        Self::from_errno(error.raw_os_error().unwrap_or(libc::EIO))
    }
}
