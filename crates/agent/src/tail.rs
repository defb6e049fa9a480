//! The last lines of a process's standard error: what it says when it fails.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// The rest of the output of a process that has ended arrives at once, or never.
const MOMENT: Duration = Duration::from_millis(200);
/// Lines that are kept, and characters of each.
const LINES: usize = 5;
const LINE_CHARACTERS: usize = 300;

/// The last lines of a standard error.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Closed when the stream ended.
    ended: Option<Arc<Mutex<mpsc::Receiver<()>>>>,
}

impl Tail {
    /// Reads a stream to its end on a separate thread.
    pub(crate) fn follow(stream: Option<ChildStderr>) -> Self {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let (open, ended) = mpsc::channel();
        if let Some(stream) = stream {
            let kept = lines.clone();
            thread::spawn(move || {
                let _open = open;
                // Bounded: a stream without line ends must not consume memory.
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

    /// Waits a moment for the rest if the process has just ended.
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
