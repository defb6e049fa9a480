//! Why work with a host fails.

use crate::command::TransportError;
use crate::message::PROTOCOL;

/// What went wrong with a host, as the rest of a sentence that starts with the agent's name.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Its transport is invalid.
    #[error("cannot be started: {0}")]
    Transport(#[from] TransportError),
    /// The command could not be started.
    #[error("cannot be started: {program}: {reason}; is it installed?")]
    Start {
        /// The program to run.
        program: String,
        /// The reason that the system gave.
        reason: String,
    },
    /// The agent ended, or the connection to it broke.
    #[error("is gone: {reason}{}", said(stderr))]
    Gone {
        /// What was observed.
        reason: String,
        /// The last lines on its standard error.
        stderr: String,
    },
    /// It no longer answers.
    #[error(
        "has not answered for {seconds:.0} s while it was to {what}; it was ended{}",
        said(stderr)
    )]
    Silent {
        /// What it was asked to do.
        what: &'static str,
        /// For how long, in seconds.
        seconds: f64,
        /// The last lines on its standard error.
        stderr: String,
    },
    /// It answers but makes no progress.
    #[error("did not {what} within {seconds:.0} s; it was ended")]
    Slow {
        /// What it was asked to do.
        what: &'static str,
        /// For how long, in seconds.
        seconds: f64,
    },
    /// It does not speak our protocol.
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
    /// It has another version, which may measure differently.
    #[error("is of version {theirs}, and this is {ours}; put the same version there{hint}")]
    OtherVersion {
        /// Its version.
        theirs: String,
        /// The controller's.
        ours: String,
        /// What fixes it.
        hint: &'static str,
    },
    /// It sent something that was not requested.
    #[error("answered something else than it was asked for ({0})")]
    OutOfTurn(String),
    /// The program could not be copied to the host.
    #[error("is not there, and cannot be copied there: {0}")]
    Copy(String),
    /// It learned of the common start too late.
    #[error(
        "learned of the common start {late_ms:.0} ms too late, so its window differs from the \
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
