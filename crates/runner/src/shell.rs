//! Runs the user's commands in the shell, in bounded time, and ends them with all processes that they started.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// How often the end of a command is polled.
const LOOK: Duration = Duration::from_millis(10);

/// A command with its environment.
pub(crate) struct Shell<'a> {
    /// The command, as the shell reads it.
    pub(crate) command: &'a str,
    /// `STORMETER_DATASTORE`: the name of the datastore that the trial is on.
    pub(crate) datastore: &'a str,
    /// `STORMETER_URL`: its URL.
    pub(crate) url: &'a str,
    /// A command that takes longer is considered hung.
    pub(crate) limit: Duration,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum ShellError {
    /// The shell could not be started or waited for.
    Start(std::io::Error),
    /// It failed with this exit status.
    Failed(String),
    /// It did not end in time.
    Endless,
    /// It was cancelled.
    Stopped,
}

impl Shell<'_> {
    /// Runs the command and waits for its end. Its output goes to standard error.
    pub(crate) fn run(&self, stop: &dyn Fn() -> bool) -> Result<(), ShellError> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", self.command])
            .env("STORMETER_DATASTORE", self.datastore)
            .env("STORMETER_URL", self.url)
            .stdin(Stdio::null())
            // Standard output is for results.
            .stdout(std::io::stderr())
            // A process group of its own, so that all of it can be ended.
            .process_group(0)
            .spawn()
            .map_err(ShellError::Start)?;
        let outcome = self.wait(&mut child, stop);
        if outcome.is_err() {
            // The process group contains nothing else. A process that has ended needs no signal.
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            let _ = child.wait();
        }
        outcome
    }

    fn wait(&self, child: &mut Child, stop: &dyn Fn() -> bool) -> Result<(), ShellError> {
        let began = Instant::now();
        loop {
            match child.try_wait().map_err(ShellError::Start)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(ShellError::Failed(status.to_string())),
                None if stop() => return Err(ShellError::Stopped),
                None if began.elapsed() > self.limit => return Err(ShellError::Endless),
                None => std::thread::sleep(LOOK),
            }
        }
    }
}
