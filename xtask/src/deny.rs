//! cargo-deny: known vulnerabilities, licences, sources and duplicates among the dependencies.
//!
//! Not part of the tests: it queries a database over the network, and a result can change from one
//! day to the next without any change here. deny.toml says what is allowed.

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
