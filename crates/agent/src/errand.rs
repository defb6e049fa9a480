//! An errand: the program itself, run on a host with other arguments, for what is no trial.
//!
//! What it prints comes back line by line as it is printed, and the controller can answer each line, so that both know
//! what the other knows when the host loses its power. Its standard input is a text that the controller sends with the
//! order, and then the answers. There is no shell in between, and nothing but the agent's own program can be run.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command as Process, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::frame::FrameError;
use crate::tail::Tail;

/// How often a running errand looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);
/// How often it looks for an answer.
const ANSWER_LOOK: Duration = Duration::from_millis(1);

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
        let (answers_in, answers) = mpsc::channel();
        let mut line = |printed| {
            if let Some(answer) = line(printed) {
                // A program that has ended reads none.
                let _ = answers_in.send(answer);
            }
        };
        self.run_with(&mut line, &answers, cancel)
    }

    /// The same with answers that come from elsewhere.
    pub(crate) fn run_with(
        &self,
        line: &mut dyn FnMut(String),
        answers: &Receiver<String>,
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
        let result = self.follow(&mut child, line, answers, cancel);
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
        answers: &Receiver<String>,
        cancel: &AtomicBool,
    ) -> std::io::Result<ErrandEnd> {
        let tail = Tail::follow(child.stderr.take());
        let (lines_in, lines) = mpsc::channel();
        let output = child.stdout.take();
        thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
                let Ok(line) = line else { return };
                if lines_in.send(line).is_err() {
                    return;
                }
            }
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
            while let Ok(answer) = answers.try_recv() {
                tell(&mut to, &answer);
            }
            match lines.recv_timeout(if to.is_some() { ANSWER_LOOK } else { LOOK }) {
                Ok(printed) => line(printed),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
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
