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
    let mut cargo =
        repository.cargo(&["run", "--release", "--quiet", "--package", "stormeter-bench", "--"]);
    succeed(cargo.args(arguments))
}
