//! Why a host cannot be worked with.

use crate::command::TransportError;
use crate::message::PROTOCOL;

/// What went wrong with a host, as the rest of a sentence that begins with the agent's name.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The way to it makes no sense.
    #[error("cannot be started: {0}")]
    Transport(#[from] TransportError),
    /// The command could not be started.
    #[error("cannot be started: {program}: {reason}; is it installed?")]
    Start {
        /// What was to be run.
        program: String,
        /// The system's reason.
        reason: String,
    },
    /// It ended, or the way to it broke.
    #[error("is gone: {reason}{}", said(stderr))]
    Gone {
        /// What was seen of it.
        reason: String,
        /// The last lines on its standard error.
        stderr: String,
    },
    /// It does not answer any more.
    #[error(
        "has not answered for {seconds:.0} s while it was to {what}; it was ended{}",
        said(stderr)
    )]
    Silent {
        /// What was waited for.
        what: &'static str,
        /// How long.
        seconds: f64,
        /// The last lines on its standard error.
        stderr: String,
    },
    /// It lives and does not get on.
    #[error("did not {what} within {seconds:.0} s; it was ended")]
    Slow {
        /// What was waited for.
        what: &'static str,
        /// How long.
        seconds: f64,
    },
    /// It speaks no protocol of ours.
    #[error(
        "is of version {theirs} and speaks another protocol than this one ({PROTOCOL}, version \
         {ours}); put the same version there"
    )]
    OtherProtocol {
        /// Its version.
        theirs: String,
        /// The controller's.
        ours: String,
    },
    /// It is another version, which may measure otherwise.
    #[error("is of version {theirs}, and this is {ours}; put the same version there{hint}")]
    OtherVersion {
        /// Its version.
        theirs: String,
        /// The controller's.
        ours: String,
        /// What would do it.
        hint: &'static str,
    },
    /// It says what nobody asked for.
    #[error("answered something else than it was asked for ({0})")]
    OutOfTurn(String),
    /// The program could not be copied to it.
    #[error("is not there, and cannot be copied there: {0}")]
    Copy(String),
    /// It heard of the start too late.
    #[error(
        "heard of the common start {late_ms:.0} ms too late, so its window is another than the \
         others'; is the way to it overloaded?"
    )]
    Late {
        /// How late, in milliseconds.
        late_ms: f64,
    },
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {stderr}") }
}
