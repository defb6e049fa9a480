//! The processes that a command has started, however far they are from it: found by a mark that they inherit in their
//! environment.
//!
//! A session or a process group would miss what has left it, as daemons do.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const NAME: &str = "STORMETER_STARTED_BY";

/// A mark, as a process has it in its environment.
#[derive(Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// Puts a mark of its own on a command that is about to start.
    pub(crate) fn put_on(command: &mut Command) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let last = LAST.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}-{last}", std::process::id());
        command.env(NAME, &value);
        Self(format!("{NAME}={value}"))
    }

    /// The processes with this mark that have not ended, each with its command line.
    pub(crate) fn running(&self) -> Vec<(Pid, String)> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let running = entries.flatten().filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            // A process that has ended and was not waited for has neither.
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let is_marked = environment.split(|byte| *byte == 0).any(|it| it == self.0.as_bytes());
            is_marked.then(|| (Pid::from_raw(number), command_line(&entry.path())))
        });
        running.collect()
    }

    /// Ends them at once, and says what they were.
    pub(crate) fn end(&self) -> Vec<String> {
        let running = self.running();
        for (process, _) in &running {
            // It may have ended by itself just now.
            let _ = kill(*process, Signal::SIGKILL);
        }
        running.into_iter().map(|(process, line)| format!("{process} {line}")).collect()
    }
}

fn command_line(process: &Path) -> String {
    let bytes = std::fs::read(process.join("cmdline")).unwrap_or_default();
    let words =
        bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_string_lossy());
    words.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_its_session_is_found_and_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "setsid sleep 1000 & wait"]);
        let mark = Mark::put_on(&mut command);
        assert!(mark.running().is_empty());
        let mut shell = command.spawn().unwrap();
        let is_sleep = |(_, line): &(Pid, String)| line == "sleep 1000";
        while !mark.running().iter().any(is_sleep) {
            std::thread::yield_now();
        }
        // The one that is in the same session ends first, and the other has no parent left.
        shell.kill().unwrap();
        shell.wait().unwrap();
        let ended = mark.end();
        assert!(ended.len() == 1 && ended[0].ends_with(" sleep 1000"), "{ended:?}");
        while !mark.running().is_empty() {
            std::thread::yield_now();
        }
    }
}
