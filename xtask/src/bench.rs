//! Benchmarks against fio: builds and runs the package stormeter-bench with what it needs.

use std::process::Command;
use std::time::Duration;

use crate::child::{output, succeed};
use crate::peers;
use crate::repository::Repository;
use crate::steps::Finding;
use crate::test_programs::{Manner, run_all};

/// Built together: built separately, cargo would rebuild the dependencies that both share.
const PACKAGES: [&str; 2] = ["stormeter", "stormeter-bench"];

/// The chore `bench`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    peers::install(repository)?;
    build(repository)?;
    succeed(program(repository).args(arguments))
}

/// Several at once: instructions do not depend on what else the machine does.
const MANNER: Manner =
    Manner { at_once: 2, limit: Duration::from_secs(900), grace: Duration::from_secs(20) };

/// The gates that CI enforces, which are instruction counts.
pub(crate) fn check(repository: &Repository) -> Finding {
    build(repository)?;
    let sections = output(program(repository).arg("gates"))?;
    let gates = sections.lines().map(|section| {
        let mut command = program(repository);
        command.args(["--short", "--only", section]);
        command.arg("--dir").arg(repository.target.join(format!("bench-{section}")));
        command
    });
    run_all(gates.collect(), MANNER, &|text| print!("{text}"))?;
    Ok(format!("{} sections", sections.lines().count()))
}

fn build(repository: &Repository) -> Result<(), String> {
    let mut cargo = repository.cargo(&["build", "--release", "--quiet"]);
    succeed(cargo.args(PACKAGES.map(|package| format!("--package={package}"))))
}

fn program(repository: &Repository) -> Command {
    repository.command(repository.target.join("release/stormeter-bench"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What cargo builds for these packages on this machine: name, version and features.
    fn built(repository: &Repository, more: &[&str]) -> BTreeSet<String> {
        let mut cargo = repository.cargo(&["tree", "--prefix=none", "--format={p} {f}"]);
        cargo.args(["--edges=normal,no-proc-macro"]).args(more);
        let lines = output(&mut cargo).unwrap();
        // `(*)` marks a repeated entry.
        lines.lines().map(|line| line.trim_end_matches(" (*)").to_string()).collect()
    }

    #[test]
    fn the_gates_are_built_from_what_the_program_was_built_from() {
        let repository = Repository::open().unwrap();
        let program = built(&repository, &["--package=stormeter"]);
        let packages = PACKAGES.map(|package| format!("--package={package}"));
        let gates: Vec<&str> = packages.iter().map(String::as_str).collect();
        let rebuilt: Vec<_> = program.difference(&built(&repository, &gates)).cloned().collect();
        assert!(program.len() > 50 && rebuilt.is_empty(), "{rebuilt:#?}");
    }
}
