//! The `ceph` command, and other programs of Ceph that do one thing and end.
//!
//! `ceph` is a Python program that takes half a second to start: several commands go to one process,
//! a line each.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::CephError;
use crate::directory::Directory;
use crate::program::CEPH;

/// How long the monitor may take to answer, in seconds, and a batch in addition to that.
const CONNECT_S: u64 = 20;
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(5);

/// Sends commands to the monitor, as they would be typed after `ceph`, and returns the answers of those that
/// give JSON.
///
/// # Errors
/// The monitor does not answer in time, or refuses one of them.
pub(crate) fn ceph(directory: &Directory, lines: &[String]) -> Result<Vec<Value>, CephError> {
    let said = batch(directory, lines, "json")?;
    let values: Result<Vec<Value>, _> =
        serde_json::Deserializer::from_str(&said.output).into_iter().collect();
    values.map_err(|_| failed(directory, lines, "no JSON", &said))
}

/// The same for commands whose answer is a number, which some do not give as JSON.
pub(crate) fn ceph_numbers(directory: &Directory, lines: &[String]) -> Result<Vec<u64>, CephError> {
    let said = batch(directory, lines, "plain")?;
    let numbers: Result<Vec<u64>, _> = said.output.split_whitespace().map(str::parse).collect();
    numbers.map_err(|_| failed(directory, lines, "no numbers", &said))
}

fn batch(directory: &Directory, lines: &[String], format: &str) -> Result<Said, CephError> {
    let mut command = CEPH.command()?;
    command.arg("-c").arg(directory.conf());
    command.args(["--format", format, "--connect-timeout", &CONNECT_S.to_string()]);
    let said = run(&mut command, &lines.join("\n"), PATIENCE)?;
    // A refused line does not change how a batch ends.
    if said.errors.lines().any(|line| line.starts_with("Error E") || line == "Invalid command") {
        return Err(failed(directory, lines, "refused", &said));
    }
    Ok(said)
}

fn failed(directory: &Directory, lines: &[String], what: &str, said: &Said) -> CephError {
    CephError::Command {
        command: format!("ceph -c {}: {}", directory.conf().display(), lines.join("; ")),
        status: what.into(),
        said: format!("{}{}", said.errors, said.output),
    }
}

/// Registers the key of a new daemon.
pub(crate) fn import_key(directory: &Directory, daemon: &str) -> Result<(), CephError> {
    let mut command = CEPH.command()?;
    command.arg("-c").arg(directory.conf());
    command.args(["--connect-timeout", &CONNECT_S.to_string(), "auth", "import", "-i"]);
    run(command.arg(directory.keyring(daemon)), "", PATIENCE).map(drop)
}

/// What a program printed.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Runs a program to its end.
///
/// # Errors
/// It fails, or takes too long and is ended.
pub(crate) fn run(
    command: &mut Command,
    input: &str,
    patience: Duration,
) -> Result<Said, CephError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| CephError::Start { program: program.clone(), source };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let output = collect(child.stdout.take());
    let errors = collect(child.stderr.take());
    // The input fits into the pipe. One that ends without reading it is judged by how it ends.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes());
    }
    let end = Instant::now() + patience;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break Some(status);
        }
        if Instant::now() >= end {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        thread::sleep(LOOK);
    };
    let text = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
    let said = Said { output: text(output), errors: text(errors) };
    if status.is_some_and(|status| status.success()) {
        return Ok(said);
    }
    let status = status.map_or_else(
        || format!("ended after {} s without an answer", patience.as_secs()),
        |status| status.to_string(),
    );
    let arguments: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    Err(CephError::Command {
        command: format!("{program} {} {input}", arguments.join(" ")),
        status,
        said: format!("{}{}", said.errors, said.output),
    })
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::SHELL;

    fn shell(script: &str, patience: Duration) -> Result<Said, CephError> {
        run(SHELL.command().unwrap().args(["-c", script]), "in\n", patience)
    }

    #[test]
    fn a_program_has_its_input_and_its_output_is_returned() {
        let said = shell("cat; echo oops >&2", PATIENCE).unwrap();
        assert_eq!((said.output.as_str(), said.errors.as_str()), ("in\n", "oops\n"));
    }

    #[test]
    fn one_that_fails_or_hangs_is_an_error_with_what_it_said() {
        let error = shell("echo why >&2; exit 3", PATIENCE).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("why"), "{error}");
        let error = shell("exec sleep 600", Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.contains("without an answer"), "{error}");
    }
}
