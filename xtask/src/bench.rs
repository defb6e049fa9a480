//! The figures beside fio's: the package stormeter-bench, with what it needs.

use crate::child::succeed;
use crate::peers;
use crate::repository::Repository;
use crate::steps::Finding;

/// The chore `bench`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    peers::install(repository)?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    start(repository, &arguments)
}

/// The gates that CI holds: instruction counts, which do not depend on the machine's other work.
pub(crate) fn check(repository: &Repository) -> Finding {
    start(repository, &["--short"])?;
    Ok(String::new())
}

fn start(repository: &Repository, arguments: &[&str]) -> Result<(), String> {
    // Built together with the program, which the other steps build too: alone, cargo would build what they share
    // anew, with fewer features.
    let packages = ["--package", "stormeter", "--package", "stormeter-bench"];
    succeed(repository.cargo(&["build", "--release", "--quiet"]).args(packages))?;
    succeed(repository.command(repository.target.join("release/stormeter-bench")).args(arguments))
}
