//! Restores the same state before each trial, if the study requests it.
//!
//! A published comparison rolled its storage back to a snapshot before every run. A lab can do that; elsewhere only a
//! command of the user can, so the study may name one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::shell::{Shell, ShellError};

/// Rolling back a large snapshot takes minutes; a command that takes longer is considered hung.
const LIMIT: Duration = Duration::from_secs(1800);

/// Why the state before a trial could not be restored.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The shell could not be started.
    #[error("the reset command could not be started: {0}")]
    Start(std::io::Error),
    /// The command failed.
    #[error(
        "the reset command `{command}` ended with {status}; run it by hand to see what it says"
    )]
    Failed {
        /// The command.
        command: String,
        /// Its exit status.
        status: String,
    },
    /// The command did not end.
    #[error("the reset command `{command}` did not end within {} minutes", LIMIT.as_secs() / 60)]
    Endless {
        /// The command.
        command: String,
    },
    /// Nothing can take a snapshot, or the lab cannot.
    #[error("reset: snapshot is not possible: {0}")]
    NoSnapshot(String),
    /// The snapshot was not taken.
    #[error("the snapshot was not taken: {0}")]
    NotTaken(String),
    /// The storage was not restored.
    #[error("the rollback to the snapshot failed: {0}")]
    NotRolledBack(String),
    /// The study was cancelled meanwhile.
    #[error("interrupted while the reset command ran")]
    Cancelled,
}

/// Runs the command in the shell and waits for its end. Its output goes to standard error.
///
/// # Errors
/// It cannot be started, fails, does not end, or the study is cancelled; then its processes are ended, too.
pub(crate) fn run_command(
    command: &str,
    datastore: &str,
    url: &str,
    cancel: &AtomicBool,
) -> Result<(), ResetError> {
    let shell = Shell { command, datastore, url, limit: LIMIT };
    shell.run(&|| cancel.load(Ordering::Relaxed)).map_err(|error| match error {
        ShellError::Start(error) => ResetError::Start(error),
        ShellError::Failed(status) => ResetError::Failed { command: command.into(), status },
        ShellError::Endless => ResetError::Endless { command: command.into() },
        ShellError::Stopped => ResetError::Cancelled,
    })
}

/// The message if a study requests a snapshot and there is no lab.
pub(crate) const NO_LAB: &str = "it needs a lab: start one (stormeter lab up) and name its \
                                 directory, or write a command: reset: {command: \"…\"}";

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn run(command: &str, cancelled: bool) -> Result<(), ResetError> {
        run_command(command, "nas", "/srv/vm", &AtomicBool::new(cancelled))
    }

    #[test]
    fn the_command_knows_its_datastore() {
        run(r#"test "$STORMETER_DATASTORE" = nas && test "$STORMETER_URL" = /srv/vm"#, false)
            .unwrap();
    }

    #[test]
    fn a_command_that_fails_is_named_with_its_status() {
        let message = run("exit 7", false).unwrap_err().to_string();
        assert!(message.contains("`exit 7`") && message.contains('7'), "{message}");
    }

    #[test]
    fn an_endless_command_and_what_it_started_end_with_the_study() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let command = format!("sleep 1000 & echo $! > {}; wait", file.display());
        // The flag is set once the grandchild is known: before, the shell may not have started it.
        let cancel = AtomicBool::new(false);
        let pid = std::thread::scope(|scope| {
            let runs = scope.spawn(|| run_command(&command, "nas", "x", &cancel));
            let pid = loop {
                if let Ok(text) = std::fs::read_to_string(&file)
                    && let Ok(pid) = text.trim().parse::<i32>()
                {
                    break pid;
                }
                std::thread::yield_now();
            };
            cancel.store(true, Ordering::Relaxed);
            assert!(matches!(runs.join().unwrap(), Err(ResetError::Cancelled)));
            pid
        });
        // Killed, it dies when it is scheduled next: gone then, or a zombie that init has yet to reap.
        let began = Instant::now();
        loop {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z") || state.contains(") X") {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{state}");
            std::thread::yield_now();
        }
    }
}
