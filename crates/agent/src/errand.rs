//! An errand: the program itself, run on a host with other arguments, for what is no trial.
//!
//! What it prints comes back line by line as it is printed, and the controller can answer each line, so that both know
//! what the other knows when the host loses its power. Its standard input is a text that the controller sends with the
//! order, and then the answers. There is no shell in between, and nothing but the agent's own program can be run.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command as Process, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::frame::FrameError;
use crate::tail::Tail;

/// How often a running errand looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The beginning of its standard input.
    pub input: String,
    /// Answers to its lines follow; otherwise its standard input ends there.
    pub is_answered: bool,
}

/// What reaches the end that runs an errand, from either side. It comes through one channel, so that waiting for one is
/// waiting for the other: an emulated processor feels every look.
#[derive(Debug)]
pub(crate) enum Heard {
    /// From the controller, for its standard input.
    Answer(String),
    /// A line that it printed.
    Printed(String),
    /// It prints no more.
    Silent,
}

/// How an errand ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrandEnd {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The last lines of its standard error.
    pub said: String,
}

/// Why an errand brought no end back.
#[derive(Debug, thiserror::Error)]
pub enum ErrandError {
    /// The program could not be run.
    #[error("the program cannot be run there: {0}")]
    Run(String),
    /// The host is gone, or cannot be reached.
    #[error("the host is gone: {0}")]
    Gone(#[from] FrameError),
    /// The agent is another version.
    #[error("its agent is of version {0}; put the same version there")]
    Version(String),
}

impl Errand {
    /// Runs it with this program on this machine. `line` receives what it prints and returns the answer, a line with
    /// its end, if there is one; `cancel` ends it.
    ///
    /// # Errors
    /// It could not be started.
    pub fn run(
        &self,
        line: &mut dyn FnMut(String) -> Option<String>,
        cancel: &AtomicBool,
    ) -> Result<ErrandEnd, ErrandError> {
        let (sender, heard) = mpsc::channel();
        let answers = sender.clone();
        let mut line = |printed| {
            if let Some(answer) = line(printed) {
                // A program that has ended reads none.
                let _ = answers.send(Heard::Answer(answer));
            }
        };
        self.run_with(&mut line, &sender, &heard, cancel)
    }

    /// The same with answers that others send to `heard`, whose other end is `sender`.
    pub(crate) fn run_with(
        &self,
        line: &mut dyn FnMut(String),
        sender: &Sender<Heard>,
        heard: &Receiver<Heard>,
        cancel: &AtomicBool,
    ) -> Result<ErrandEnd, ErrandError> {
        let cannot = |error: std::io::Error| ErrandError::Run(error.to_string());
        let mut process = Process::new(own_program().map_err(cannot)?);
        process.args(&self.arguments);
        let mut child = process
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        let result = self.follow(&mut child, line, sender.clone(), heard, cancel);
        if result.is_err() {
            let _ = child.kill();
            let _ = child.wait();
        }
        result.map_err(cannot)
    }

    fn follow(
        &self,
        child: &mut Child,
        line: &mut dyn FnMut(String),
        sender: Sender<Heard>,
        heard: &Receiver<Heard>,
        cancel: &AtomicBool,
    ) -> std::io::Result<ErrandEnd> {
        let tail = Tail::follow(child.stderr.take());
        let output = child.stdout.take();
        thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                if sender.send(Heard::Printed(line)).is_err() {
                    return;
                }
            }
            let _ = sender.send(Heard::Silent);
        });
        let mut to = child.stdin.take();
        // A program that does not read its input closes it.
        let tell = |to: &mut Option<ChildStdin>, text: &str| {
            if to.as_mut().is_some_and(|to| to.write_all(text.as_bytes()).is_err()) {
                *to = None;
            }
        };
        tell(&mut to, &self.input);
        if !self.is_answered {
            to = None;
        }
        loop {
            match heard.recv_timeout(LOOK) {
                Ok(Heard::Answer(answer)) => tell(&mut to, &answer),
                Ok(Heard::Printed(printed)) => line(printed),
                Ok(Heard::Silent) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if cancel.load(Ordering::Relaxed) {
                let _ = child.kill();
            }
        }
        let status = child.wait()?;
        tail.settle();
        Ok(ErrandEnd { code: status.code(), said: tail.text() })
    }
}

/// What runs this program again. Where its loader was called explicitly, as on a lab's hosts, the system takes the loader
/// for the program; the command that called it is found by its name.
fn own_program() -> std::io::Result<PathBuf> {
    const COMMAND: &str = "stormeter";
    let own = std::env::current_exe()?;
    let name = own.file_name().unwrap_or_default().to_string_lossy();
    Ok(if name.starts_with("ld-") { COMMAND.into() } else { own })
}
