//! The processes of a lab's guests: recognized by their arguments, ended one by one.
//!
//! A process id in a file may have been reused by another process. A process counts as a guest's if it
//! is this user's and its command line has the guest's own pid file after `-pidfile`: nothing else is
//! ever signalled. This also finds guests whose starter was killed before it could record anything.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

use crate::error::LabError;

/// How long a process may take to end by itself, and again after being killed.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// A guest's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its process id.
    pub(crate) pid: i32,
    /// The pid file that it was started with.
    pub(crate) pid_file: PathBuf,
}

impl Process {
    /// All of this user's guests whose pid files are below `directory`, an absolute path.
    pub(crate) fn below(directory: &Path) -> Vec<Process> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(pid) = pid else { continue };
            if let Some(pid_file) = pid_file_of(pid)
                && pid_file.starts_with(directory)
            {
                found.push(Process { pid, pid_file });
            }
        }
        found.sort_by(|a, b| a.pid_file.cmp(&b.pid_file).then(a.pid.cmp(&b.pid)));
        found
    }

    /// Whether the process still exists and is the same one.
    pub(crate) fn is_alive(&self) -> bool {
        pid_file_of(self.pid).as_ref() == Some(&self.pid_file)
    }

    /// Whether it holds nothing any more. A process that ends gives up its memory first, and with it its command line,
    /// and its files and locks after that, when all of its threads have ended (`do_exit` of Linux's kernel/exit.c).
    fn has_ended(&self) -> bool {
        let folder = format!("/proc/{}", self.pid);
        let Ok(line) = fs::read(format!("{folder}/cmdline")) else { return true };
        if !line.is_empty() {
            // Another process may have its number by now.
            return pid_file_in(&line).as_ref() != Some(&self.pid_file);
        }
        let Ok(stat) = fs::read_to_string(format!("{folder}/stat")) else { return true };
        // The state follows the program's name in parentheses (proc(5)).
        let waits = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']));
        let threads = fs::read_dir(format!("{folder}/task")).map_or(0, Iterator::count);
        waits && threads < 2
    }

    /// Ends it: first with a request, then by killing it.
    ///
    /// # Errors
    /// It survives both.
    pub(crate) fn end(&self) -> Result<(), LabError> {
        self.end_by(&[Signal::SIGTERM, Signal::SIGKILL])
    }

    fn end_by(&self, signals: &[Signal]) -> Result<(), LabError> {
        for &signal in signals {
            if self.has_ended() {
                return Ok(());
            }
            // It may end in between, which is fine.
            let _ = kill(Pid::from_raw(self.pid), signal);
            let end = Instant::now() + PATIENCE;
            while Instant::now() < end {
                if self.has_ended() {
                    return Ok(());
                }
                std::thread::sleep(LOOK);
            }
        }
        Err(LabError::Lives { pid: self.pid, guest: self.guest() })
    }

    /// Ends it at once, as a power cut would.
    ///
    /// # Errors
    /// It survives.
    pub(crate) fn kill(&self) -> Result<(), LabError> {
        self.end_by(&[Signal::SIGKILL])
    }

    /// The guest's name: the name of its pid file's folder.
    pub(crate) fn guest(&self) -> String {
        let folder = self.pid_file.parent().and_then(Path::file_name);
        folder.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its own memory: what it has written, which is freed when it ends (proc(5), `Private_Dirty` of
    /// `smaps_rollup`). Pages that it has only read belong to files (QEMU's, the frozen guest's), and count
    /// as private too as long as no other guest has read them.
    pub(crate) fn private_bytes(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).ok()?;
        let dirty = text.lines().find_map(|line| line.strip_prefix("Private_Dirty:"))?;
        Some(dirty.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    }
}

/// The argument after `-pidfile` in the command line of a process of this user. A process that has ended
/// but has not been waited for has no command line.
fn pid_file_of(pid: i32) -> Option<PathBuf> {
    let folder = format!("/proc/{pid}");
    if fs::metadata(&folder).ok()?.uid() != Uid::effective().as_raw() {
        return None;
    }
    pid_file_in(&fs::read(format!("{folder}/cmdline")).ok()?)
}

/// The argument after `-pidfile` in a command line.
fn pid_file_in(line: &[u8]) -> Option<PathBuf> {
    let mut words = line.split(|byte| *byte == 0);
    words.find(|word| *word == b"-pidfile")?;
    let path = words.next().filter(|path| !path.is_empty())?;
    Some(PathBuf::from(String::from_utf8_lossy(path).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    /// A process that looks like a guest.
    fn pretender(pid_file: &Path, script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script, "guest", "-pidfile"]).arg(pid_file);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        // One that a failing test leaves behind must not keep the test's output open.
        command.stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        // It writes a byte when its traps are set.
        let mut byte = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut byte).unwrap();
        child
    }

    #[test]
    fn guests_of_the_directory_are_found_and_those_of_others_are_not() {
        let (ours, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let script = "echo; read line; exit";
        let mut children = Vec::new();
        for directory in [&ours, &others] {
            let pid_file = directory.path().join("vm1/pid");
            let mut command = Command::new("sh");
            command.args(["-c", script, "guest", "-pidfile"]).arg(&pid_file);
            command.stdin(std::process::Stdio::piped());
            children.push(command.spawn().unwrap());
        }
        let named =
            |processes: &[Process]| processes.iter().map(|p| p.pid as u32).collect::<Vec<_>>();
        let end = Instant::now() + PATIENCE;
        let mut found = Process::below(ours.path());
        // Between fork and exec it still looks like this test.
        while found.is_empty() && Instant::now() < end {
            found = Process::below(ours.path());
        }
        assert_eq!(named(&found), [children[0].id()]);
        assert_eq!(found[0].guest(), "vm1");
        assert!(found[0].private_bytes().is_some_and(|bytes| bytes > 0));
        // The process id of a guest in another directory is not taken for ours.
        let stale = Process { pid: children[1].id() as i32, pid_file: ours.path().join("vm1/pid") };
        assert!(!stale.is_alive());
        stale.end().unwrap();
        assert!(children[1].try_wait().unwrap().is_none());
        for mut child in children {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }

    #[test]
    fn what_it_had_locked_is_free_when_it_has_ended() {
        let directory = tempfile::tempdir().unwrap();
        let pid_file = directory.path().join("vm1/pid");
        let lock = directory.path().join("lock");
        fs::File::create(&lock).unwrap();
        // Much memory takes a while to be given back.
        let script = format!(
            "exec 9<{}; flock 9; much=$(head -c 100000000 /dev/zero | tr '\\0' a); echo; read line",
            lock.display()
        );
        for _ in 0..3 {
            let mut child = pretender(&pid_file, &script);
            let mut all = Process::below(directory.path());
            all.retain(|process| process.pid as u32 == child.id());
            all[0].kill().unwrap();
            fs::File::open(&lock).unwrap().try_lock().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn one_that_does_not_listen_is_killed() {
        let directory = tempfile::tempdir().unwrap();
        let pid_file = directory.path().join("vm1/pid");
        // Without a child process: between fork and exec that would look like a second guest.
        let mut child = pretender(&pid_file, "trap '' TERM; echo; while :; do kill -STOP $$; done");
        let waiter = std::thread::spawn(move || child.wait().unwrap());
        let found = Process::below(directory.path());
        assert_eq!(found.len(), 1);
        found[0].end().unwrap();
        assert!(!found[0].is_alive());
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(waiter.join().unwrap().signal(), Some(9));
    }
}
