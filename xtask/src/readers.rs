//! Programs of others that read what is exported and documented, and that Debian has no package of: the chore `readers`.
//!
//! They come from PyPI, into an environment of Python below the target directory, and from the Go module proxy. That
//! takes minutes and needs the network, so it is apart from `cargo xtask test`; what Debian has is tested there.

use std::path::Path;

use crate::child::{output, succeed};
use crate::repository::Repository;

/// Names the directory to the tests.
const VARIABLE: &str = "STORMETER_READERS";
/// From PyPI.
const PACKAGES: [&str; 3] = ["duckdb==2.0.1", "fio-plot==1.1.21", "hdrhistogram==0.10.8"];
const ACTIONLINT: &str = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";
/// Parts of the names of the tests that use them.
const TESTS: [&str; 4] = ["duckdb", "hdrhistograms_python", "fio_plot", "actionlint"];

/// Gets the programs, if they are not there yet, and runs the tests that use them.
///
/// # Errors
/// A program cannot be had, or a test fails.
pub(crate) fn run(repository: &Repository) -> Result<(), String> {
    let directory = repository.target.join("readers");
    python(repository, &directory)?;
    actionlint(repository, &directory)?;
    let mut cargo =
        repository.cargo(&["test", "--package", "stormeter", "--test", "command", "--"]);
    cargo.args(TESTS).env(VARIABLE, &directory);
    let said = output(&mut cargo)?;
    print!("{said}");
    // A name that is no test's would pass unnoticed.
    let expected = format!("{} passed", TESTS.len());
    if said.contains(&expected) { Ok(()) } else { Err(format!("{expected} was expected")) }
}

fn python(repository: &Repository, directory: &Path) -> Result<(), String> {
    let python = directory.join("bin/python3");
    if !python.exists() {
        succeed(repository.command("python3").args(["-m", "venv"]).arg(directory))?;
    }
    let mut pip = repository.command(python);
    succeed(
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES),
    )
}

fn actionlint(repository: &Repository, directory: &Path) -> Result<(), String> {
    if directory.join("actionlint").exists() {
        return Ok(());
    }
    succeed(repository.command("go").args(["install", ACTIONLINT]).env("GOBIN", directory))
}
