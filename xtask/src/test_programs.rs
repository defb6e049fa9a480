//! The programs that contain the tests, run several at a time.
//!
//! `cargo test` runs one after the other, and the longest ones wait for most of their time: for a cluster to notice that a
//! disk is gone, for a trial's window to end. The processors would be idle.

use std::collections::VecDeque;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child::{line, output};
use crate::marked::Mark;
use crate::repository::Repository;

/// A program with tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestProgram {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The folder of its package, in which cargo runs it.
    folder: PathBuf,
    /// Its tests are of a package as others see it, in a file of their own.
    is_integration: bool,
}

impl TestProgram {
    /// From a line that cargo prints; `None` if it is about anything else.
    fn read(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            return None;
        }
        let kinds = message["target"]["kind"].as_array()?;
        Some(Self {
            path: message["executable"].as_str()?.into(),
            folder: Path::new(message["manifest_path"].as_str()?).parent()?.into(),
            is_integration: kinds.iter().any(|kind| kind == "test"),
        })
    }

    /// The command that runs it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).arg("--quiet");
        command
    }
}

/// Builds the programs of the whole workspace. Those with integration tests are the first: they take longest.
///
/// # Errors
/// They cannot be built.
pub(crate) fn build(repository: &Repository) -> Result<Vec<TestProgram>, String> {
    let format = "--message-format=json-render-diagnostics";
    let mut cargo = repository.cargo(&["test", "--workspace", "--no-run", "--quiet", format]);
    let mut programs: Vec<TestProgram> =
        output(&mut cargo)?.lines().filter_map(TestProgram::read).collect();
    programs.sort_by_key(|program| !program.is_integration);
    Ok(programs)
}

/// How commands are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// How many run at a time.
    pub(crate) at_once: usize,
    /// How long one may take; then it is ended with all that it has started.
    pub(crate) limit: Duration,
    /// How long what it has started may live on after it.
    pub(crate) grace: Duration,
}

/// Runs commands. `ended` gets the output of each when it has ended.
///
/// # Errors
/// The commands that failed, took too long, or left something running.
pub(crate) fn run_all(
    commands: Vec<Command>,
    manner: Manner,
    ended: &(impl Fn(&str) + Sync),
) -> Result<(), String> {
    let queue = Mutex::new(VecDeque::from(commands));
    let failed = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let fail = |why| failed.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    std::thread::scope(|scope| {
        for _ in 0..manner.at_once {
            scope.spawn(|| {
                while let Some(mut command) = next() {
                    if let Err(why) = run(&mut command, manner, ended) {
                        fail(format!("{}: {why}", line(&command)));
                    }
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        failed if failed.is_empty() => Ok(()),
        failed => Err(failed.join("\n")),
    }
}

/// Runs one command. Its output goes to a file: a pipe would be open for as long as anything that it left running.
fn run(command: &mut Command, manner: Manner, ended: &impl Fn(&str)) -> Result<(), String> {
    let cannot = |error| format!("cannot be started: {error}");
    let mut output = tempfile::tempfile().map_err(cannot)?;
    let mark = Mark::put_on(command);
    command.stdin(Stdio::null());
    command.stdout(output.try_clone().map_err(cannot)?);
    command.stderr(output.try_clone().map_err(cannot)?);
    let mut child = command.spawn().map_err(cannot)?;
    let began = Instant::now();
    let status = before(manner.limit, || child.try_wait().transpose());
    let result = match status {
        None => {
            let running = mark.end().join("; ");
            // It was among them.
            let _ = child.wait();
            Err(format!("not ended after {} s; it ran: {running}", manner.limit.as_secs()))
        }
        Some(Ok(status)) if status.success() => {
            match before(manner.grace, || mark.running().is_empty().then_some(())) {
                Some(()) => Ok(()),
                None => Err(format!("left running: {}", mark.end().join("; "))),
            }
        }
        Some(status) => {
            // A failed test may leave anything.
            mark.end();
            Err(status.map_or_else(|error| error.to_string(), |status| status.to_string()))
        }
    };
    let head = format!("\n{}: {:.1} s\n", line(command), began.elapsed().as_secs_f64());
    let mut text = head.into_bytes();
    let read = output.rewind().and_then(|()| output.read_to_end(&mut text));
    ended(&String::from_utf8_lossy(&text));
    read.map_err(|error| format!("its output: {error}")).and(result)
}

/// Looks until there is something, for as long as this.
fn before<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        match look() {
            None if began.elapsed() < limit => std::thread::sleep(Duration::from_millis(10)),
            found => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_told_from_what_else_cargo_builds() {
        let program = |kind: &str, is_test: bool| {
            serde_json::json!({
                "reason": "compiler-artifact",
                "manifest_path": "/a/b/Cargo.toml",
                "target": {"kind": [kind]},
                "profile": {"test": is_test},
                "executable": "/target/debug/deps/one-1",
            })
            .to_string()
        };
        let found = TestProgram::read(&program("test", true)).unwrap();
        assert_eq!(found.path, Path::new("/target/debug/deps/one-1"));
        assert_eq!((found.folder.as_path(), found.is_integration), (Path::new("/a/b"), true));
        assert!(!TestProgram::read(&program("lib", true)).unwrap().is_integration);
        assert_eq!(TestProgram::read(&program("bin", false)), None);
        assert_eq!(TestProgram::read("   Compiling one"), None);
        assert_eq!(TestProgram::read("{\"reason\": \"build-finished\"}"), None);
    }

    const MANNER: Manner =
        Manner { at_once: 2, limit: Duration::from_secs(600), grace: Duration::from_secs(600) };

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn all_are_run_and_each_that_fails_is_named() {
        let said = Mutex::new(String::new());
        let ended = |text: &str| said.lock().unwrap().push_str(text);
        let commands = vec![shell("echo one"), shell("echo two; exit 3"), shell("echo three >&2")];
        let error = run_all(commands, MANNER, &ended).unwrap_err();
        assert!(error.contains("two") && error.contains("exit status: 3"), "{error}");
        assert!(!error.contains("one") && !error.contains("three"), "{error}");
        let words: Vec<String> =
            said.into_inner().unwrap().split_whitespace().map(str::to_owned).collect();
        // Each below its command and its time.
        for word in ["one", "three", "two"] {
            assert!(words.contains(&word.to_owned()), "{words:?}");
        }
        assert_eq!(run_all(vec![shell("exit 0")], MANNER, &|_| ()), Ok(()));
    }

    #[test]
    fn one_that_does_not_end_is_ended_and_its_output_kept() {
        let said = Mutex::new(String::new());
        let ended = |text: &str| said.lock().unwrap().push_str(text);
        let manner = Manner { limit: Duration::from_secs(2), ..MANNER };
        let error =
            run_all(vec![shell("echo started; sleep 1000 & wait")], manner, &ended).unwrap_err();
        // The shell has it in its line, here and among what ran.
        assert!(error.contains("not ended"), "{error}");
        assert_eq!(error.matches("sleep 1000").count(), 3, "{error}");
        assert!(said.into_inner().unwrap().ends_with(" s\nstarted\n"));
    }

    #[test]
    fn what_is_left_running_is_ended_and_named_and_holds_nothing_up() {
        let manner = Manner { grace: Duration::ZERO, ..MANNER };
        let error = run_all(vec![shell("sleep 1000 & exit 0")], manner, &|_| ()).unwrap_err();
        assert!(error.contains("left running"), "{error}");
        assert_eq!(error.matches("sleep 1000").count(), 2, "{error}");
        // What is only about to end is waited for.
        assert_eq!(run_all(vec![shell("sleep 0.2 & exit 0")], MANNER, &|_| ()), Ok(()));
    }
}
