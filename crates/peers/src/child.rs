//! A server's process, which ends when ours does, however that happens.
//!
//! A shell in between starts the server, reports its process id, and kills it when the pipe that we
//! hold is closed, which the kernel does for us even after SIGKILL. The kernel's own mechanism
//! (PR_SET_PDEATHSIG) follows the thread that forked, and a test's thread ends before its process.
//! The shell has its own process group, so that signals from a terminal or a supervisor to our
//! group do not end the guard and leave the server running.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use crate::PeerError;
use crate::error::at;
use crate::program::{Program, SHELL};

/// `$0` is the log, the rest is the server's command line. A shell's background command reads from
/// /dev/null unless redirected, hence descriptor 3. Once the server has ended, its process id must
/// not be killed any more: it may have been reused.
const GUARD: &str = "exec 3<&0
\"$@\" 3<&- </dev/null >>\"$0\" 2>&1 &
server=$!
(cat <&3 >/dev/null 2>&1; kill -9 $server) >/dev/null 2>&1 &
guard=$!
exec 3<&-
echo $server
wait $server
kill -9 $guard 2>/dev/null
";

/// How long a killed process may take to disappear.
const END: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// A running server.
#[derive(Debug)]
pub(crate) struct Guarded {
    shell: Child,
    pid: u32,
}

impl Guarded {
    /// Starts it in `folder`, with its output appended to `log`, an absolute path.
    pub(crate) fn start(
        program: Program,
        arguments: &[String],
        environment: &[(&str, &str)],
        folder: &Path,
        log: &Path,
    ) -> Result<Self, PeerError> {
        let failed = |source| PeerError::Start { program: program.name.to_owned(), source };
        File::options().create(true).append(true).open(log).map_err(at(log))?;
        let mut shell = Command::new(SHELL.path()?)
            .arg("-c")
            .arg(GUARD)
            .arg(log)
            .arg(program.path()?)
            .args(arguments)
            .envs(environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(output) = shell.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(failed)?;
        }
        let pid = line.trim().parse().map_err(|_| {
            failed(std::io::Error::other(format!(
                "the shell printed '{line}' instead of a process id"
            )))
        })?;
        Ok(Self { shell, pid })
    }

    /// The process id of the server itself.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it is still running.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.shell.try_wait(), Ok(None))
    }

    /// Waits for it to end by itself.
    pub(crate) fn ends_within(&mut self, patience: Duration) -> bool {
        wait_until(patience, || !self.is_running())
    }

    /// Ends it with SIGKILL and waits until it is gone; does nothing if it already is.
    pub(crate) fn kill(&mut self) {
        // The guard sees the end of this pipe and kills the server.
        drop(self.shell.stdin.take());
        if !self.ends_within(END) {
            // The guard itself was killed. The process id is still the server's, because the shell
            // has not reaped it.
            if let Ok(pid) = i32::try_from(self.pid) {
                let _ = signal::kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            let _ = self.shell.kill();
            let _ = self.shell.wait();
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server again if it ended or did not answer, because some reasons are temporary: a port
/// that was taken between being found free and being bound; a portmapper that ended with its process.
pub(crate) fn with_attempts<T>(
    mut start: impl FnMut() -> Result<T, PeerError>,
) -> Result<T, PeerError> {
    const ATTEMPTS: usize = 5;
    for _ in 1..ATTEMPTS {
        match start() {
            // A start that took its whole time limit will not be quicker.
            Err(PeerError::Ended { .. } | PeerError::NotReady { waited_s: 0, .. }) => {}
            done => return done,
        }
    }
    start()
}

/// Polls until the condition holds, or patience ends.
pub(crate) fn wait_until(patience: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + patience;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}

/// The end of a log, for an error message.
pub(crate) fn tail(log: &Path) -> String {
    const LINES: usize = 60;
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLEEP: Program = Program { name: "sleep", package: "coreutils" };
    const PATIENCE: Duration = Duration::from_secs(10);

    fn exists(pid: u32) -> bool {
        Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn the_process_id_is_the_servers_and_dropping_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let child = Guarded::start(SLEEP, &["600".into()], &[], directory.path(), &log).unwrap();
        let pid = child.pid();
        let is_sleep = || {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
        };
        // Between fork and exec it is still named sh.
        assert!(wait_until(PATIENCE, is_sleep));
        drop(child);
        assert!(!exists(pid));
    }

    #[test]
    fn one_that_ends_by_itself_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let mut child =
            Guarded::start(SHELL, &["-c".into(), "echo why".into()], &[], directory.path(), &log)
                .unwrap();
        assert!(child.ends_within(PATIENCE));
        assert_eq!(tail(&log), "why");
        child.kill();
    }

    /// The test runs itself a second time to have a process that can be killed.
    #[test]
    fn it_ends_when_its_owner_is_killed() {
        const OWNER: &str = "STORMETER_PEERS_OWNER";
        if let Some(log) = std::env::var_os(OWNER) {
            let child =
                Guarded::start(SLEEP, &["600".into()], &[], Path::new("/"), Path::new(&log))
                    .unwrap();
            eprintln!("pid {}", child.pid());
            std::io::stdin().read_line(&mut String::new()).unwrap();
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let mut owner = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "child::tests::it_ends_when_its_owner_is_killed"])
            .env(OWNER, directory.path().join("log"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(owner.stderr.take().unwrap()).lines();
        let pid: u32 = lines
            .find_map(|line| line.unwrap().strip_prefix("pid ").map(|pid| pid.parse().unwrap()))
            .unwrap();
        assert!(exists(pid));
        owner.kill().unwrap();
        owner.wait().unwrap();
        assert!(wait_until(PATIENCE, || !exists(pid)), "{pid} outlived its owner");
    }
}
