//! Checks that every command of the README works: readers type these first.
//!
//! Blocks marked ```` ```sh ```` are checked; any other language (`console`, `text`) is not:
//! - ```` ```sh ````: the program must understand every stormeter command (it gets `--help` as the
//!   last argument, and checks all names and values before it); nothing is run.
//! - ```` ```sh run ````: every line is run, in an empty directory, one after another. What follows
//!   `run` is passed to each `stormeter compare` as further arguments, so that it ends soon:
//!   ```` ```sh run --size 16MiB --time-limit 5s ````. Paths below /srv, /mnt and /dev/shm become
//!   directories in that empty directory.
//!
//! A page that shows Markdown shows nothing of what follows the language.

mod blocks;
mod line;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::child::{output, succeed};
use crate::repository::{Repository, search_path, without_user};
use crate::steps::Finding;
pub(crate) use blocks::{Block, blocks};
use line::{Run, Words, parse, placed};

const README: &str = "README.md";
/// Exit code of a comparison without a verdict, which is acceptable for so short a run.
const INCONCLUSIVE: i32 = 4;

/// Checks or runs every command.
pub(crate) fn check(repository: &Repository) -> Finding {
    let text = std::fs::read_to_string(repository.root.join(README))
        .map_err(|error| format!("{README} cannot be read: {error}"))?;
    let blocks = blocks(&text);
    if !blocks.iter().any(|block| block.run.is_some()) {
        return Err(format!("{README} has no block marked ```sh run; nothing shows that it works"));
    }
    succeed(&mut repository.cargo(&["build", "--release", "--package", "stormeter"]))?;
    let reader = Reader {
        repository,
        directory: repository.scratch("readme")?,
        path: search_path(&[&repository.target.join("release")]),
    };
    let (mut ran, mut understood, mut problems) = (0, 0, Vec::new());
    for block in &blocks {
        for (number, line) in &block.commands {
            let done = match &block.run {
                Some(more) => reader.run(line, more).map(|done| ran += usize::from(done)),
                None => reader.understand(line).map(|done| understood += usize::from(done)),
            };
            if let Err(error) = done {
                problems.push(format!("{README}:{number}: {line}: {error}"));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let _ = std::fs::remove_dir_all(&reader.directory);
    Ok(format!("{ran} commands ran, {understood} more are understood"))
}

/// Runs the commands as a reader would.
struct Reader<'a> {
    repository: &'a Repository,
    /// The directory in which the commands run.
    directory: PathBuf,
    path: OsString,
}

impl Reader<'_> {
    /// Runs a line; false if it cannot be run here.
    fn run(&self, line: &str, more: &str) -> Result<bool, String> {
        let Some(run) = line::to_run(line, more, &self.repository.root)? else {
            println!("  (not here) {line}");
            return Ok(false);
        };
        let (command, directories) = placed(&run.command, &self.directory);
        println!("  $ {command}");
        for directory in directories {
            std::fs::create_dir_all(&directory)
                .map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
        }
        self.shell(&command, &run).map(|()| true)
    }

    fn shell(&self, command: &str, run: &Run) -> Result<(), String> {
        // With the repository's environment, like everything else: what is built is built as
        // before.
        let mut shell = self.repository.command("bash");
        shell.args(["-euo", "pipefail", "-c", command]).current_dir(&self.directory);
        shell.env("PATH", &self.path).stdin(std::process::Stdio::null());
        without_user(&mut shell, &self.directory);
        let done = shell.output().map_err(|error| format!("bash cannot be started: {error}"))?;
        match done.status.code() {
            Some(0) => Ok(()),
            Some(INCONCLUSIVE) if run.is_stormeter => Ok(()),
            _ => {
                let said = [done.stdout, done.stderr].concat();
                Err(format!("{}\n{}", done.status, String::from_utf8_lossy(&said).trim_end()))
            }
        }
    }

    /// Checks that the program understands a line's commands; false if it has none of ours.
    fn understand(&self, line: &str) -> Result<bool, String> {
        let mut any = false;
        for words in parse(line)? {
            match words {
                Words::Stormeter(arguments) => {
                    any = true;
                    let binary = self.repository.target.join("release/stormeter");
                    output(Command::new(&binary).args(&arguments).arg("--help"))?;
                }
                Words::Chore(name) if !crate::is_chore(&name) => {
                    return Err(format!("there is no chore '{name}'"));
                }
                Words::Chore(_) | Words::Other => {}
            }
        }
        Ok(any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(repository: &Repository) -> Reader<'_> {
        Reader { repository, directory: std::env::temp_dir(), path: search_path(&[]) }
    }

    #[test]
    fn a_line_fails_when_its_command_does() {
        let repository = Repository { root: ".".into(), target: "target".into() };
        let reader = reader(&repository);
        assert_eq!(reader.run("true", ""), Ok(true));
        assert_eq!(reader.run("cargo xtask test", ""), Ok(false));
        let error = reader.run("echo because; false | true", "").unwrap_err();
        assert!(error.contains("exit status: 1") && error.contains("because"), "{error}");
        assert!(reader.run("exit 4", "").is_err(), "only our own program ends so");
        assert!(reader.understand("cargo xtask nonsense").is_err());
    }
}
