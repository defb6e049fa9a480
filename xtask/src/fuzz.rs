//! Long runs of the fuzzers, of protocols and of files from elsewhere: CI runs the same ones with few mutations.

use crate::child::succeed;
use crate::repository::Repository;

/// Mutations of each corpus if no number is given: takes some minutes.
const RUNS: u64 = 5_000_000;

/// Packages with their tests, and how many times fewer mutations each takes: a file is larger than a message.
const FUZZERS: [(&str, &[&str], u64); 4] = [
    ("stormeter-nfs", &["--test", "fuzz"], 1),
    ("stormeter-iscsi", &["--test", "fuzz"], 1),
    // Of every format, of fio, of job files, and within the bound of memory.
    (
        "stormeter-import",
        &["--lib", "--test", "fuzz_fio", "--test", "fuzz_job", "--test", "memory"],
        500,
    ),
    // Of tables as people print them.
    ("stormeter-audit", &["--test", "fuzz"], 500),
];

/// The chore `fuzz`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    let runs = match arguments {
        [] => RUNS,
        [runs] => runs.parse().map_err(|_| format!("'{runs}' is no number of mutations"))?,
        _ => return Err("fuzz takes one argument, the number of mutations".into()),
    };
    for (package, tests, fewer) in FUZZERS {
        let runs = runs.div_ceil(fewer);
        println!("{package}: {runs} mutations of each corpus");
        let arguments = ["test", "--release", "--package", package];
        let mut cargo = repository.cargo(&[&arguments[..], tests].concat());
        succeed(cargo.env("STORMETER_FUZZ_RUNS", runs.to_string()))?;
    }
    Ok(())
}
