//! A connection to one agent: a child process, what it says, and its end.
//!
//! One thread reads, one writes and one keeps the last lines of standard error, so that no agent can hold
//! the controller up. Whatever happens, the child and all that it started are ended, by a process
//! group that is theirs alone.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command as Process, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use stormeter_datastore::RealClock;
use stormeter_disk::Clock;

use crate::error::HostError;
use crate::frame::{FrameError, read_frame, write_frame};
use crate::message::{Command, Report};

/// How often an ending is looked for.
const LOOK: Duration = Duration::from_millis(5);
/// An agent whose input ended gives up what it does and removes its disks: seconds, on slow storage.
const LEAVE_WITHIN: Duration = Duration::from_secs(20);
/// What is asked to end by a signal does so at once, or not at all.
const TERMINATE_WITHIN: Duration = Duration::from_secs(2);
/// The end of a process and the rest of what it said are there at once, or never.
const MOMENT: Duration = Duration::from_millis(200);
/// Lines of standard error that are kept, and characters of each.
const LINES: usize = 5;
const LINE_CHARACTERS: usize = 300;

/// What was heard of an agent.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Which host's.
    pub(crate) host: usize,
    /// Which of its connections: what an earlier one said does not count.
    pub(crate) connection: u64,
    /// When, by the controller's clock.
    pub(crate) at_ns: u64,
    pub(crate) what: Result<Report, FrameError>,
}

/// A connection to an agent.
pub(crate) struct Link {
    /// `None` once it is closed.
    to: Option<Sender<Command>>,
    child: Option<Child>,
    tail: Tail,
    pub(crate) connection: u64,
    /// When it was last heard of.
    pub(crate) heard: Instant,
}

impl Link {
    /// Starts a command whose pipes are the way to an agent.
    pub(crate) fn start(
        mut process: Process,
        (host, connection): (usize, u64),
        clock: &RealClock,
        inbox: &Sender<Heard>,
    ) -> Result<Self, HostError> {
        let mut child = process
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the controller: the agents have to be told to clean up. And so that all of
            // it can be ended.
            .process_group(0)
            .spawn()
            .map_err(|error| HostError::Start {
                program: process.get_program().to_string_lossy().into_owned(),
                reason: error.to_string(),
            })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let tail = Tail::follow(child.stderr.take());
        let (Some(input), Some(output)) = (input, output) else {
            end(&mut child);
            return Err(HostError::Gone {
                reason: "it has no pipes".into(),
                stderr: String::new(),
            });
        };
        let mut link = Self::over(output, input, (host, connection), clock, inbox);
        link.child = Some(child);
        link.tail = tail;
        Ok(link)
    }

    /// A connection over streams.
    pub(crate) fn over(
        mut from: impl Read + Send + 'static,
        mut to: impl Write + Send + 'static,
        (host, connection): (usize, u64),
        clock: &RealClock,
        inbox: &Sender<Heard>,
    ) -> Self {
        let (queue, commands) = mpsc::channel::<Command>();
        let mut sent = clock.clone();
        // Neither thread is joined: an agent that hangs holds its pipes until it is ended.
        thread::spawn(move || {
            while let Ok(mut command) = commands.recv() {
                if let Command::Ping { sent_ns } = &mut command {
                    *sent_ns = sent.now_ns();
                }
                // An agent that is gone is seen by the reader.
                if write_frame(&mut to, &command).is_err() {
                    return;
                }
            }
        });
        let (inbox, mut clock) = (inbox.clone(), clock.clone());
        thread::spawn(move || {
            loop {
                let what = read_frame::<Report>(&mut from);
                let is_last = what.is_err();
                let heard = Heard { host, connection, at_ns: clock.now_ns(), what };
                if inbox.send(heard).is_err() || is_last {
                    return;
                }
            }
        });
        let tail = Tail::default();
        Self { to: Some(queue), child: None, tail, connection, heard: Instant::now() }
    }

    /// Sends a command. That it cannot arrive is seen by what comes back.
    pub(crate) fn say(&self, command: Command) {
        if let Some(to) = &self.to {
            let _ = to.send(command);
        }
    }

    /// What it said last on its standard error.
    pub(crate) fn stderr(&self) -> String {
        self.tail.settle();
        self.tail.text()
    }

    /// How it ended, if it did or does so in a moment: ` (exit status 1)`.
    pub(crate) fn ending(&self) -> String {
        let Some(child) = &self.child else { return String::new() };
        match ended(child, MOMENT) {
            Some(WaitStatus::Exited(_, code)) => format!(" (exit status {code})"),
            Some(WaitStatus::Signaled(_, signal, _)) => format!(" (ended by {signal})"),
            _ => String::new(),
        }
    }

    /// Ends its input: an agent cleans up then and leaves.
    pub(crate) fn close(&mut self) {
        self.to = None;
    }

    /// Ends it at once: for one that hangs. What it can still remove, it removes when its input ends.
    pub(crate) fn kill(mut self) {
        self.close();
        if let Some(mut child) = self.child.take() {
            wait(&child, TERMINATE_WITHIN);
            end(&mut child);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
        if let Some(mut child) = self.child.take() {
            wait(&child, LEAVE_WITHIN);
            end(&mut child);
        }
    }
}

/// Waits for the child's end for a while; whether it came. Its end note is left where it is, so that its
/// process id, which is its group's, stays its own.
fn wait(child: &Child, within: Duration) -> bool {
    ended(child, within).is_some()
}

/// As [`wait`], with how it ended.
fn ended(child: &Child, within: Duration) -> Option<WaitStatus> {
    let began = Instant::now();
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::Pid(Pid::from_raw(child.id() as i32)), flags) {
            Ok(WaitStatus::StillAlive) if began.elapsed() > within => return None,
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => thread::sleep(LOOK),
            Ok(status) => return Some(status),
            // Somebody else took its end note.
            Err(_) => return Some(WaitStatus::StillAlive),
        }
    }
}

/// Ends a child and all that it started, and takes its end note, so that no zombie stays.
pub(crate) fn end(child: &mut Child) {
    // Its group is ours: nothing else is in it.
    let group = Pid::from_raw(child.id() as i32);
    if !wait(child, Duration::ZERO) {
        let _ = killpg(group, Signal::SIGTERM);
        // One that is stopped hears nothing until it goes on.
        let _ = killpg(group, Signal::SIGCONT);
        wait(child, TERMINATE_WITHIN);
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}

/// The last lines of a standard error.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Closed when the stream ended.
    ended: Option<Arc<Mutex<mpsc::Receiver<()>>>>,
}

impl Tail {
    /// Follows a stream to its end, on a thread of its own.
    pub(crate) fn follow(stream: Option<ChildStderr>) -> Self {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let (open, ended) = mpsc::channel();
        if let Some(stream) = stream {
            let kept = lines.clone();
            thread::spawn(move || {
                let _open = open;
                // Bounded: a stream without line ends must not take memory.
                let mut stream = BufReader::new(stream);
                loop {
                    let mut bytes = Vec::new();
                    let mut line = stream.by_ref().take(64 << 10);
                    match line.read_until(b'\n', &mut bytes) {
                        Ok(0) | Err(_) => return,
                        Ok(_) => keep(&kept, &bytes),
                    }
                }
            });
        }
        Self { lines, ended: Some(Arc::new(Mutex::new(ended))) }
    }

    /// Waits a moment for the rest, where the process has just ended.
    pub(crate) fn settle(&self) {
        if let Some(ended) = &self.ended {
            let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = ended.recv_timeout(MOMENT);
        }
    }

    pub(crate) fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
    }
}

fn keep(lines: &Mutex<VecDeque<String>>, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let text: String = text.chars().filter(|c| !c.is_control()).take(LINE_CHARACTERS).collect();
    if text.trim().is_empty() {
        return;
    }
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push_back(text);
    while lines.len() > LINES {
        lines.pop_front();
    }
}
