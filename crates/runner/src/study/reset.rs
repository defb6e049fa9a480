//! The state from which a trial starts: the same before each, where the study asks for it.
//!
//! A published comparison rolled its storage back to one snapshot before every run; only a command of
//! the user's can do that, so one can be given.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Rolling back a large snapshot takes minutes; what takes longer than this hangs.
const LIMIT: Duration = Duration::from_secs(1800);
/// How often an ending is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Whether a trial's failure is that of the command: the storage did nothing wrong.
pub(crate) fn is_reset_failure(reason: &str) -> bool {
    reason.starts_with("the reset command")
}

/// Why the state before a trial could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The shell could not be started.
    #[error("the reset command could not be started: {0}")]
    Start(std::io::Error),
    /// It said that it failed.
    #[error(
        "the reset command `{command}` ended with {status}; run it by hand to see what it says"
    )]
    Failed {
        /// The command.
        command: String,
        /// Its exit status.
        status: String,
    },
    /// It does not end.
    #[error("the reset command `{command}` did not end within {} minutes", LIMIT.as_secs() / 60)]
    Endless {
        /// The command.
        command: String,
    },
    /// The study was asked to stop meanwhile.
    #[error("interrupted while the reset command ran")]
    Cancelled,
}

/// Runs the command by the shell and waits for its end. Its output goes to standard error.
///
/// # Errors
/// It cannot be started, fails, does not end, or the study is cancelled; what it started is ended then.
pub(crate) fn run_command(
    command: &str,
    datastore: &str,
    url: &str,
    cancel: &AtomicBool,
) -> Result<(), ResetError> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .env("STORMETER_DATASTORE", datastore)
        .env("STORMETER_URL", url)
        .stdin(Stdio::null())
        // Standard output is for results.
        .stdout(std::io::stderr())
        // A group of its own, so that all of it can be ended.
        .process_group(0)
        .spawn()
        .map_err(ResetError::Start)?;
    let outcome = wait(&mut child, command, cancel);
    if outcome.is_err() {
        // Its group is ours: nothing else is in it. A process that is gone needs no signal.
        let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
        let _ = child.wait();
    }
    outcome
}

fn wait(child: &mut Child, command: &str, cancel: &AtomicBool) -> Result<(), ResetError> {
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(ResetError::Start)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                return Err(ResetError::Failed {
                    command: command.into(),
                    status: status.to_string(),
                });
            }
            None if cancel.load(Ordering::Relaxed) => return Err(ResetError::Cancelled),
            None if began.elapsed() > LIMIT => {
                return Err(ResetError::Endless { command: command.into() });
            }
            None => std::thread::sleep(LOOK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(is_reset_failure(&message), "{message}");
    }

    #[test]
    fn an_endless_command_and_what_it_started_end_with_the_study() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let command = format!("sleep 1000 & echo $! > {}; wait", file.display());
        // The flag is raised once the grandchild is known: earlier the shell may not have got anywhere.
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
