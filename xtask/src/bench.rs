//! Benchmarks against fio: builds and runs the package stormeter-bench with what it needs.

use crate::child::succeed;
use crate::peers;
use crate::repository::Repository;
use crate::steps::Finding;

/// Built together: built separately, cargo would rebuild the dependencies that both share.
const PACKAGES: [&str; 2] = ["stormeter", "stormeter-bench"];

/// The chore `bench`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    peers::install(repository)?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    start(repository, &arguments)
}

/// The gates that CI enforces: instruction counts, which do not depend on what else the machine
/// does.
pub(crate) fn check(repository: &Repository) -> Finding {
    start(repository, &["--short"])?;
    Ok(String::new())
}

fn start(repository: &Repository, arguments: &[&str]) -> Result<(), String> {
    let mut cargo = repository.cargo(&["build", "--release", "--quiet"]);
    cargo.args(PACKAGES.map(|package| format!("--package={package}")));
    succeed(&mut cargo)?;
    succeed(repository.command(repository.target.join("release/stormeter-bench")).args(arguments))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::child::output;

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
