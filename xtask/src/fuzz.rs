//! Long runs of the protocol fuzzers: CI runs the same ones with few mutations.

use crate::child::succeed;
use crate::repository::Repository;

/// Mutations of each corpus if no number is given: takes some minutes.
const RUNS: u64 = 5_000_000;

/// The chore `fuzz`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    let runs = match arguments {
        [] => RUNS,
        [runs] => runs.parse().map_err(|_| format!("'{runs}' is no number of mutations"))?,
        _ => return Err("fuzz takes one argument, the number of mutations".into()),
    };
    for package in ["stormeter-nfs", "stormeter-iscsi"] {
        println!("{package}: {runs} mutations of each corpus");
        let mut cargo =
            repository.cargo(&["test", "--release", "--package", package, "--test", "fuzz"]);
        succeed(cargo.env("STORMETER_FUZZ_RUNS", runs.to_string()))?;
    }
    Ok(())
}
