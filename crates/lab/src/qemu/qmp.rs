//! QEMU's control socket: one command and its answer at a time, as lines of JSON (QEMU Machine
//! Protocol Specification, docs/interop/qmp-spec).
//!
//! Our own client: the crates for it bring all commands of one QEMU version as types, and about
//! twenty are used here.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::LabError;

/// How long an answer may take on a machine that is busy starting guests.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(5);

/// A connection after its greeting.
#[derive(Debug)]
pub(crate) struct Qmp {
    guest: String,
    reader: BufReader<UnixStream>,
    log: std::path::PathBuf,
}

impl Qmp {
    /// Connects and leaves the capabilities negotiation mode.
    pub(crate) fn connect(guest: &str, socket: &Path, log: &Path) -> Result<Self, LabError> {
        let failed =
            |source| LabError::QmpSocket { guest: guest.into(), source, log: log.to_owned() };
        let stream = stormeter_agent::connect(socket).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut qmp =
            Self { guest: guest.into(), reader: BufReader::new(stream), log: log.to_owned() };
        qmp.line()?;
        qmp.run("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Runs a command and returns what it returns.
    ///
    /// # Errors
    /// QEMU refuses it, or is gone.
    pub(crate) fn run(&mut self, command: &str, arguments: Value) -> Result<Value, LabError> {
        let line = json!({"execute": command, "arguments": arguments}).to_string() + "\n";
        self.reader.get_mut().write_all(line.as_bytes()).map_err(|error| self.failed(error))?;
        loop {
            let mut answer = self.line()?;
            if let Some(error) = answer.get("error") {
                let said = error["desc"].as_str().unwrap_or("it does not say why").to_owned();
                return Err(LabError::Qmp { command: command.into(), said });
            }
            // Events may arrive in between.
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
        }
    }

    /// Waits until a migration, in either direction, is complete.
    pub(crate) fn wait_for_migration(&mut self) -> Result<(), LabError> {
        let end = Instant::now() + PATIENCE;
        loop {
            let info = self.run("query-migrate", json!({}))?;
            match info["status"].as_str() {
                Some("completed") => return Ok(()),
                Some(status @ ("failed" | "cancelled")) => {
                    let why = info["error-desc"].as_str().unwrap_or(status).to_owned();
                    return Err(LabError::Qmp { command: "migrate".into(), said: why });
                }
                _ if Instant::now() >= end => {
                    let said = "it takes too long".into();
                    return Err(LabError::Qmp { command: "migrate".into(), said });
                }
                _ => std::thread::sleep(LOOK),
            }
        }
    }

    fn line(&mut self) -> Result<Value, LabError> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).map_err(|error| self.failed(error))?;
        if read == 0 {
            return Err(self.failed(io::Error::other("it has ended")));
        }
        serde_json::from_str(&line).map_err(|error| self.failed(io::Error::other(error)))
    }

    fn failed(&self, source: io::Error) -> LabError {
        LabError::QmpSocket { guest: self.guest.clone(), source, log: self.log.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_agent::listen;

    /// A QEMU that sends these lines: the first unasked, then one after each line it receives.
    fn qemu(lines: &'static [&'static str]) -> (tempfile::TempDir, Result<Qmp, LabError>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("qmp");
        let listener = listen(&path).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            for line in lines {
                writeln!(stream, "{line}").unwrap();
                if reader.read_line(&mut String::new()).unwrap() == 0 {
                    return;
                }
            }
        });
        let qmp = Qmp::connect("vm1", &path, Path::new("vm1.log"));
        (directory, qmp)
    }

    #[test]
    fn answers_are_told_from_events_and_errors_are_reported() {
        const LINES: &[&str] = &[
            r#"{"QMP": {}}"#,
            r#"{"return": {}}"#,
            "{\"event\": \"STOP\"}\n{\"return\": {\"status\": \"running\"}}",
            r#"{"error": {"class": "GenericError", "desc": "no such disk"}}"#,
        ];
        let (_directory, qmp) = qemu(LINES);
        let mut qmp = qmp.unwrap();
        assert_eq!(qmp.run("query-status", json!({})).unwrap()["status"], "running");
        let error = qmp.run("eject", json!({"id": "x"})).unwrap_err().to_string();
        assert!(error.contains("eject") && error.contains("no such disk"), "{error}");
    }

    #[test]
    fn one_that_ends_is_noticed() {
        let (_directory, qmp) = qemu(&[r#"{"QMP": {}}"#]);
        let error = qmp.unwrap_err().to_string();
        assert!(error.contains("vm1 does not answer") && error.contains("vm1.log"), "{error}");
    }
}
