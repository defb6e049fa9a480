//! A connection to one agent: a child process or a guest's port, its messages, and its end.
//!
//! One thread reads, one writes and one keeps the last lines of standard error, so that no agent can
//! block the controller. Whatever happens, the child and everything that it started are ended, through
//! their own process group. A guest's agent keeps running for the next controller.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
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
use crate::serial_handshake::open_session;
use crate::socket::connect;
use crate::tail::Tail;

/// How often to check whether the process has ended.
const LOOK: Duration = Duration::from_millis(5);
/// An agent whose input has ended cancels what it does and removes its disks: seconds, on slow
/// storage.
const LEAVE_WITHIN: Duration = Duration::from_secs(20);
/// A process that is asked to end by a signal does so at once, or not at all.
const TERMINATE_WITHIN: Duration = Duration::from_secs(2);
/// The end of a process and the rest of its output arrive at once, or never.
const MOMENT: Duration = Duration::from_millis(200);

/// A message received from an agent.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Number of the host.
    pub(crate) host: usize,
    /// Number of its connection: messages on an earlier one do not count.
    pub(crate) connection: u64,
    /// When it was received, by the controller's clock.
    pub(crate) at_ns: u64,
    pub(crate) what: Result<Report, FrameError>,
}

/// A connection to an agent.
pub(crate) struct Link {
    /// `None` once it is closed.
    to: Option<Sender<Command>>,
    child: Option<Child>,
    port: Option<Port>,
    tail: Tail,
    pub(crate) connection: u64,
    /// When a message was last received.
    pub(crate) heard: Instant,
}

/// The socket behind a guest's port.
struct Port {
    socket: UnixStream,
    /// Closed when no more messages will arrive.
    heard_all: Receiver<()>,
    /// It has been sent a goodbye, which it answers once its disks are removed.
    leaves: bool,
}

/// Receives messages from an agent and forwards them.
struct Ear {
    host: usize,
    connection: u64,
    clock: RealClock,
    inbox: Sender<Heard>,
}

impl Ear {
    /// Forwards a message; returns whether the receiver still exists.
    fn pass(&mut self, what: Result<Report, FrameError>) -> bool {
        let heard = Heard {
            host: self.host,
            connection: self.connection,
            at_ns: self.clock.now_ns(),
            what,
        };
        self.inbox.send(heard).is_ok()
    }

    /// Receives until the last message, or the end.
    fn hear(mut self, mut from: impl Read) {
        loop {
            let what = read_frame::<Report>(&mut from);
            let is_last = !matches!(&what, Ok(report) if *report != Report::Goodbye);
            if !self.pass(what) || is_last {
                return;
            }
        }
    }
}

/// Sends commands until there are no more.
fn send(commands: &Receiver<Command>, mut to: impl Write, mut clock: RealClock) {
    while let Ok(mut command) = commands.recv() {
        if let Command::Ping { sent_ns } = &mut command {
            *sent_ns = clock.now_ns();
        }
        // The reader notices an agent that is gone.
        if write_frame(&mut to, &command).is_err() {
            return;
        }
    }
}

impl Link {
    /// Starts a command whose pipes connect to an agent.
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
            // Ctrl-C is for the controller, which tells the agents to clean up. The group also makes
            // it possible to end all of it.
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

    /// Connects to the agent at a guest's port; `path` is this machine's end. If another controller holds
    /// the port, no answer arrives.
    pub(crate) fn at_port(
        path: &Path,
        (host, connection): (usize, u64),
        clock: &RealClock,
        inbox: &Sender<Heard>,
    ) -> Result<Self, HostError> {
        let connected = connect(path).and_then(|socket| {
            // Between two questions the answer is checked for.
            socket.set_read_timeout(Some(Duration::from_millis(100)))?;
            Ok((socket.try_clone()?, socket.try_clone()?, socket))
        });
        let (socket, output, mut line) = connected.map_err(|error| HostError::Start {
            program: path.display().to_string(),
            reason: error.to_string(),
        })?;
        let (queue, commands) = mpsc::channel();
        let (open, heard_all) = mpsc::channel();
        let nonce = format!("{}-{connection}", std::process::id());
        let mut ear = Ear { host, connection, clock: clock.clone(), inbox: inbox.clone() };
        let clock = clock.clone();
        // Closing the socket ends both threads.
        thread::spawn(move || {
            let _open: Sender<()> = open;
            let opened = open_session(&mut line, &nonce, &mut || true);
            match opened.and_then(|()| line.set_read_timeout(None)) {
                Ok(()) => {
                    thread::spawn(move || send(&commands, output, clock));
                    ear.hear(line);
                }
                Err(error) => {
                    ear.pass(Err(FrameError::Io(error)));
                }
            }
        });
        Ok(Self {
            to: Some(queue),
            child: None,
            port: Some(Port { socket, heard_all, leaves: false }),
            tail: Tail::default(),
            connection,
            heard: Instant::now(),
        })
    }

    /// A connection over streams.
    pub(crate) fn over(
        from: impl Read + Send + 'static,
        to: impl Write + Send + 'static,
        (host, connection): (usize, u64),
        clock: &RealClock,
        inbox: &Sender<Heard>,
    ) -> Self {
        let (queue, commands) = mpsc::channel::<Command>();
        let sent = clock.clone();
        // Neither thread is joined: an agent that hangs holds its pipes until it is ended.
        thread::spawn(move || send(&commands, to, sent));
        let ear = Ear { host, connection, clock: clock.clone(), inbox: inbox.clone() };
        thread::spawn(move || ear.hear(from));
        let tail = Tail::default();
        Self { to: Some(queue), child: None, port: None, tail, connection, heard: Instant::now() }
    }

    /// Sends a command. A failure to deliver it shows in what is received.
    pub(crate) fn say(&mut self, command: Command) {
        if let Some(port) = &mut self.port {
            port.leaves |= command == Command::Goodbye;
        }
        if let Some(to) = &self.to {
            let _ = to.send(command);
        }
    }

    /// The last lines of its standard error.
    pub(crate) fn stderr(&self) -> String {
        self.tail.settle();
        self.tail.text()
    }

    /// How it ended, if it has or does so in a moment: ` (exit status 1)`.
    pub(crate) fn ending(&self) -> String {
        let Some(child) = &self.child else { return String::new() };
        match ended(child, MOMENT) {
            Some(WaitStatus::Exited(_, code)) => format!(" (exit status {code})"),
            Some(WaitStatus::Signaled(_, signal, _)) => format!(" (ended by {signal})"),
            _ => String::new(),
        }
    }

    /// Closes its input, upon which an agent cleans up and exits.
    pub(crate) fn close(&mut self) {
        self.to = None;
    }

    /// Ends it at once, for one that hangs. What it can still remove, it removes when its input ends.
    pub(crate) fn kill(mut self) {
        self.close();
        if let Some(port) = &mut self.port {
            port.leaves = false;
        }
        if let Some(mut child) = self.child.take() {
            wait(&child, TERMINATE_WITHIN);
            end(&mut child);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
        if let Some(port) = self.port.take() {
            if port.leaves {
                let _ = port.heard_all.recv_timeout(LEAVE_WITHIN);
            }
            // An agent that got no goodbye takes this as the end of its controller.
            let _ = port.socket.shutdown(Shutdown::Both);
        }
        if let Some(mut child) = self.child.take() {
            wait(&child, LEAVE_WITHIN);
            end(&mut child);
        }
    }
}

/// Waits for the child's end for a while; returns whether it ended. The child is not reaped, so that its
/// process id, which is also its group's, is not reused.
fn wait(child: &Child, within: Duration) -> bool {
    ended(child, within).is_some()
}

/// Like [`wait`], but returns how it ended.
fn ended(child: &Child, within: Duration) -> Option<WaitStatus> {
    let began = Instant::now();
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::Pid(Pid::from_raw(child.id() as i32)), flags) {
            Ok(WaitStatus::StillAlive) if began.elapsed() > within => return None,
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => thread::sleep(LOOK),
            Ok(status) => return Some(status),
            // It was reaped elsewhere.
            Err(_) => return Some(WaitStatus::StillAlive),
        }
    }
}

/// Ends a child and everything that it started, and reaps it, so that no zombie remains.
pub(crate) fn end(child: &mut Child) {
    // The group is ours: nothing else is in it.
    let group = Pid::from_raw(child.id() as i32);
    if !wait(child, Duration::ZERO) {
        let _ = killpg(group, Signal::SIGTERM);
        // A stopped process receives no signal until it continues.
        let _ = killpg(group, Signal::SIGCONT);
        wait(child, TERMINATE_WITHIN);
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}
