//! Chromium without a window, as a reader of pages: opened, asked, photographed.
//!
//! It is spoken to over two pipes (`--remote-debugging-pipe`): messages of the Chrome DevTools Protocol, each ended by a
//! zero byte. So there is no port, and it ends with the process that started it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::PeerError;
use crate::error::at;
use crate::program::{CHROMIUM, SHELL};

/// How long it may take to answer; usually milliseconds, and a second at its start.
const PATIENCE: Duration = Duration::from_secs(120);
/// Its descriptors 3 and 4 are the two pipes.
const ON_PIPES: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// A browser with one page; ends when it is dropped.
#[derive(Debug)]
pub struct Chromium {
    // In the order of dropping: its input, whose end it ends with, and its directory.
    input: Option<ChildStdin>,
    answers: Receiver<Value>,
    process: Child,
    session: String,
    last: u64,
    scratch: TempDir,
}

/// How a page is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// In the dark colours.
    pub is_dark: bool,
}

impl Chromium {
    /// Starts one, with an empty page.
    ///
    /// # Errors
    /// It is not there, or does not answer.
    pub fn start() -> Result<Self, PeerError> {
        let scratch = TempDir::with_prefix("chromium").map_err(at(&std::env::temp_dir()))?;
        let profile = format!("--user-data-dir={}", scratch.path().display());
        let failed = |source| PeerError::Start { program: CHROMIUM.name.to_owned(), source };
        let mut process = Command::new(SHELL.path()?)
            .args(["-c", ON_PIPES])
            .arg(CHROMIUM.path()?)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let input = process.stdin.take();
        let answers = process.stdout.take().map(read).unwrap_or_else(|| channel().1);
        let mut browser =
            Self { input, answers, process, session: String::new(), last: 0, scratch };
        let page = browser.ask("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", attach)?;
        browser.session = session["sessionId"].as_str().unwrap_or_default().to_owned();
        Ok(browser)
    }

    /// Opens a page; does not wait until it is complete.
    ///
    /// # Errors
    /// It does not answer.
    pub fn open(&mut self, url: &str) -> Result<(), PeerError> {
        self.ask("Page.navigate", json!({ "url": url })).map(|_| ())
    }

    /// The value of an expression in the page; `Null` where it has none or failed.
    ///
    /// # Errors
    /// It does not answer.
    pub fn value(&mut self, expression: &str) -> Result<Value, PeerError> {
        let order = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.ask("Runtime.evaluate", order)?;
        Ok(answer["result"]["value"].take())
    }

    /// The page as a picture (PNG).
    ///
    /// # Errors
    /// It does not answer, or the file cannot be written.
    pub fn picture(&mut self, look: Look, file: &Path) -> Result<(), PeerError> {
        let Look { width, height, is_dark } = look;
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.ask("Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", media)?;
        // What is drawn again on a change is drawn in the next frame.
        std::thread::sleep(Duration::from_millis(300));
        let picture = self.ask("Page.captureScreenshot", json!({ "format": "png" }))?;
        self.write(&picture, file)
    }

    /// The page as it is printed (PDF).
    ///
    /// # Errors
    /// It does not answer, or the file cannot be written.
    pub fn print(&mut self, file: &Path) -> Result<(), PeerError> {
        let printed = self.ask("Page.printToPDF", json!({ "preferCSSPageSize": true }))?;
        self.write(&printed, file)
    }

    fn write(&self, answer: &Value, file: &Path) -> Result<(), PeerError> {
        let data = answer["data"].as_str().unwrap_or_default();
        let bytes = STANDARD.decode(data).map_err(|_| self.silent())?;
        std::fs::write(file, bytes).map_err(at(file))
    }

    /// The result of a command.
    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, PeerError> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let failed = |source| PeerError::Start { program: CHROMIUM.name.to_owned(), source };
        if let Some(input) = &mut self.input {
            let mut bytes = message.to_string().into_bytes();
            bytes.push(0);
            input.write_all(&bytes).map_err(failed)?;
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let mut answer = self.answers.recv_timeout(left).map_err(|_| self.silent())?;
            if answer["id"] != json!(self.last) {
                continue;
            }
            return match answer.get("error") {
                None => Ok(answer["result"].take()),
                Some(error) => Err(failed(std::io::Error::other(format!("{method}: {error}")))),
            };
        }
    }

    fn silent(&self) -> PeerError {
        let log = format!("it ran in {}", self.scratch.path().display());
        PeerError::NotReady { program: CHROMIUM.name, waited_s: PATIENCE.as_secs(), log }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.ask("Browser.close", json!({}));
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads messages on a thread of its own, until the browser ends.
fn read(output: ChildStdout) -> Receiver<Value> {
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut bytes = Vec::new();
        while output.read_until(0, &mut bytes).is_ok_and(|count| count > 0) {
            bytes.pop();
            let message = serde_json::from_slice(&bytes).unwrap_or_default();
            bytes.clear();
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    answers
}
