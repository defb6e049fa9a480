//! cargo-deny: known vulnerabilities, licences, sources and doubles among the dependencies.
//!
//! Not among the tests: it asks a database on the network, and what was right yesterday may be
//! wrong today without anything having changed here. deny.toml says what is allowed.

use crate::child::{output, succeed};
use crate::repository::Repository;

/// The chore `deny`.
pub(crate) fn run(repository: &Repository) -> Result<(), String> {
    if output(&mut repository.cargo(&["deny", "--version"])).is_err() {
        println!("cargo-deny is missing; it is built now, which takes some minutes");
        succeed(&mut repository.cargo(&["install", "--locked", "cargo-deny"]))?;
    }
    succeed(&mut repository.cargo(&["deny", "--workspace", "check"]))
}
