//! The commands of docs/install.md, run where they are meant for: blocks marked ```` ```sh run PLACE ````.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::child;
use crate::readme::{Block, blocks};
use crate::repository::Repository;

const PAGE: &str = "docs/install.md";
/// The first verdict takes less than a minute; what takes longer is ended, and fails.
const LIMIT: &str = "60";
/// Exit code of a comparison without a verdict.
const INCONCLUSIVE: i32 = 4;

/// Where the commands of a block are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A clean Debian, in the directory of the downloads.
    Debian,
    /// A root with nothing but what RPM installed.
    Rpm,
    /// On this machine, with podman.
    Container,
}

impl Place {
    const ALL: [Self; 3] = [Self::Debian, Self::Rpm, Self::Container];

    fn word(self) -> &'static str {
        match self {
            Self::Debian => "debian",
            Self::Rpm => "rpm",
            Self::Container => "container",
        }
    }
}

/// How a line of the page is run in a place.
pub(super) type Runner = Box<dyn Fn(&str) -> Command>;

/// The blocks of the page.
///
/// # Errors
/// It cannot be read, names an unknown place, or has no commands for one of them.
pub(super) fn read(repository: &Repository) -> Result<Vec<Block>, String> {
    let path = repository.root.join(PAGE);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let blocks = blocks(&text);
    checked(&blocks)?;
    Ok(blocks)
}

fn checked(blocks: &[Block]) -> Result<(), String> {
    let words: Vec<&str> = blocks.iter().filter_map(|block| block.run.as_deref()).collect();
    let known = Place::ALL.map(Place::word);
    if let Some(wrong) = words.iter().find(|word| !known.contains(word)) {
        return Err(format!(
            "{PAGE}: '{wrong}' is no place; a place is one of {}",
            known.join(", ")
        ));
    }
    match known.iter().find(|word| !words.contains(word)) {
        Some(word) => Err(format!("{PAGE} has no block marked ```sh run {word}")),
        None => Ok(()),
    }
}

/// Runs the commands for a place; returns how long the longest took.
///
/// # Errors
/// A command fails or takes more than a minute.
pub(super) fn run(blocks: &[Block], place: Place, runner: &Runner) -> Result<Duration, String> {
    let mut longest = Duration::ZERO;
    let here = blocks.iter().filter(|block| block.run.as_deref() == Some(place.word()));
    for (number, line) in here.flat_map(|block| &block.commands) {
        println!("  ({}) $ {line}", place.word());
        let started = Instant::now();
        one(line, runner).map_err(|error| format!("{PAGE}:{number}: {line}: {error}"))?;
        longest = longest.max(started.elapsed());
    }
    Ok(longest)
}

fn one(line: &str, runner: &Runner) -> Result<(), String> {
    let mut command = runner(line.strip_prefix("sudo ").unwrap_or(line));
    let done = command.stdin(Stdio::null()).output();
    let done = done.map_err(|error| format!("{}: {error}", child::line(&command)))?;
    let measures = ["demo", "compare"].iter().any(|word| line.split(' ').any(|it| it == *word));
    match done.status.code() {
        Some(0) => Ok(()),
        Some(INCONCLUSIVE) if measures => Ok(()),
        _ => {
            let said = [done.stdout, done.stderr].concat();
            Err(format!("{}\n{}", done.status, String::from_utf8_lossy(&said).trim_end()))
        }
    }
}

/// A shell that runs a line for at most a minute.
pub(super) const SHELL: [&str; 5] = ["timeout", LIMIT, "bash", "-euo", "pipefail"];

#[cfg(test)]
mod tests {
    use super::*;

    fn shell() -> Runner {
        Box::new(|line| {
            let mut command = Command::new(SHELL[0]);
            command.args(&SHELL[1..]).args(["-c", line]);
            command
        })
    }

    #[test]
    fn every_place_has_a_block_and_no_other_is_named() {
        let page = |places: &[&str]| -> String {
            places.iter().map(|place| format!("```sh run {place}\ntrue\n```\n")).collect()
        };
        assert_eq!(checked(&blocks(&page(&["debian", "rpm", "container"]))), Ok(()));
        let error = checked(&blocks(&page(&["debian", "rpm"]))).unwrap_err();
        assert!(error.contains("sh run container"), "{error}");
        let error = checked(&blocks(&page(&["debian", "fedora"]))).unwrap_err();
        assert!(error.contains("'fedora'"), "{error}");
    }

    #[test]
    fn only_a_measurement_may_be_inconclusive() {
        let run = |line: &str| {
            let text = format!("```sh run debian\n{line}\n```\n");
            super::run(&blocks(&text), Place::Debian, &shell())
        };
        assert!(run("sudo true").is_ok());
        assert!(run("sh -c 'exit 4' demo").is_ok());
        let error = run("echo why; exit 4").unwrap_err();
        assert!(error.starts_with("docs/install.md:2: ") && error.ends_with("why"), "{error}");
    }
}
