//! Programs that a chore calls.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

/// Runs it; its output goes where ours goes.
///
/// # Errors
/// It cannot be started or fails.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("{} cannot be started: {error}", line(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", line(command))) }
}

/// Runs it and returns what it printed.
///
/// # Errors
/// It cannot be started or fails; the error contains its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", line(command)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}\n{}", line(command), output.status, said.trim_end()))
}

/// Runs it, passes its output through as it comes, and hands each line to `see` as well.
///
/// # Errors
/// It cannot be started or fails.
pub(crate) fn watch(command: &mut Command, see: &(impl Fn(&str) + Sync)) -> Result<(), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{} cannot be started: {error}", line(command)))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let status = std::thread::scope(|scope| {
        if let Some(err) = err {
            scope.spawn(move || pass_on(err, std::io::stderr(), see));
        }
        if let Some(out) = out {
            pass_on(out, std::io::stdout(), see);
        }
        child.wait()
    });
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", line(command))),
        Err(error) => Err(format!("{}: {error}", line(command))),
    }
}

fn pass_on(from: impl Read, mut to: impl Write, see: &impl Fn(&str)) {
    let mut from = BufReader::new(from);
    let mut bytes = Vec::new();
    while from.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        // The reader may have gone away; the check continues without it.
        let _ = to.write_all(&bytes);
        see(String::from_utf8_lossy(&bytes).trim_end());
        bytes.clear();
    }
}

/// The command as it would be typed, without its environment.
pub(crate) fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn failure_tells_the_command_its_status_and_its_words() {
        let error = output(&mut shell("echo no such luck >&2; exit 3")).unwrap_err();
        assert!(error.contains("sh -c") && error.contains("exit status: 3"), "{error}");
        assert!(error.ends_with("no such luck"), "{error}");
        let error = succeed(&mut Command::new("/nonexistent/tool")).unwrap_err();
        assert!(error.contains("tool cannot be started"), "{error}");
    }

    #[test]
    fn every_line_of_either_stream_is_seen() {
        let lines = Mutex::new(Vec::new());
        watch(&mut shell("echo a; echo b >&2; printf c"), &|line| {
            lines.lock().unwrap().push(line.to_owned());
        })
        .unwrap();
        let mut lines = lines.into_inner().unwrap();
        lines.sort();
        assert_eq!(lines, ["a", "b", "c"]);
        assert!(watch(&mut shell("exit 1"), &|_| {}).is_err());
    }
}
