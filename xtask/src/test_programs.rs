//! The programs that contain the tests, run several at a time.
//!
//! `cargo test` runs one after the other, and the longest ones wait for most of their time: for a cluster to notice that a
//! disk is gone, for a trial's window to end. The processors would be idle.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::child::{line, output};
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

/// Runs commands, `at_once` of them at a time. `ended` gets the output of each when it has ended.
///
/// # Errors
/// The commands that failed.
pub(crate) fn run_all(
    commands: Vec<Command>,
    at_once: usize,
    ended: &(impl Fn(&str) + Sync),
) -> Result<(), String> {
    let queue = Mutex::new(VecDeque::from(commands));
    let failed = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let fail = |why| failed.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(mut command) = next() {
                    match command.stdin(std::process::Stdio::null()).output() {
                        Err(error) => {
                            fail(format!("{} cannot be started: {error}", line(&command)));
                        }
                        Ok(output) => {
                            ended(&String::from_utf8_lossy(&output.stdout));
                            ended(&String::from_utf8_lossy(&output.stderr));
                            if !output.status.success() {
                                fail(format!("{}: {}", line(&command), output.status));
                            }
                        }
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

    #[test]
    fn all_are_run_and_each_that_fails_is_named() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let said = Mutex::new(String::new());
        let ended = |text: &str| said.lock().unwrap().push_str(text);
        let commands = vec![shell("echo one"), shell("echo two; exit 3"), shell("echo three >&2")];
        let error = run_all(commands, 2, &ended).unwrap_err();
        assert!(error.contains("two") && error.contains("exit status: 3"), "{error}");
        assert!(!error.contains("one") && !error.contains("three"), "{error}");
        let mut words: Vec<String> =
            said.into_inner().unwrap().split_whitespace().map(str::to_owned).collect();
        words.sort();
        assert_eq!(words, ["one", "three", "two"]);
        assert_eq!(run_all(vec![shell("exit 0")], 2, &|_| ()), Ok(()));
    }
}
