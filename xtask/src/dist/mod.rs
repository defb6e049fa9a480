//! Packages of a release: the chore `dist`, which makes them, and tries them where they are to run.
//!
//! Everything in them follows from the commit: the same commit makes the same bytes, on any machine with the same
//! compilers, and `--twice` shows it.

mod check;
mod checksums;
mod deb;
mod documents;
mod emulated;
mod file;
mod image;
mod installed;
mod linked;
mod once;
mod packages;
mod page;
mod podman;
mod release;
mod root;
mod rpm;
mod sbom;
mod tarball;
mod third_party;
mod tree;
mod twice;

use crate::peers;
use crate::repository::Repository;
use crate::static_binary::Haste;
use check::{NEEDS, check_all};
pub(crate) use check::{NEEDS_HERE, check_here};
use once::make;

const USAGE: &str = "dist takes --twice, --quick, --try or nothing";

/// The chore `dist`: once, or `--twice`, with `--quick` as the checks build; or `--try`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    let mut haste = Haste::None;
    let mut twice = false;
    if arguments.iter().any(|argument| argument == "--try") {
        return try_out(repository, arguments);
    }
    for argument in arguments {
        match argument.as_str() {
            "--quick" => haste = Haste::Some,
            "--twice" => twice = true,
            _ => return Err(USAGE.into()),
        }
    }
    peers::install(repository)?;
    let made = if twice { twice::make(repository, haste)? } else { make(repository, haste)? };
    for (name, bytes) in packages::contents(&made)? {
        println!("{} {:>9} {name}", checksums::sha256(&bytes), bytes.len());
    }
    println!("packages: {}", made.display());
    Ok(())
}

/// Makes the packages, installs them and runs what is in them.
fn try_out(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    if arguments.len() > 1 {
        return Err(USAGE.into());
    }
    peers::install(repository)?;
    let missing = peers::missing(repository, NEEDS);
    if !missing.is_empty() {
        return Err(format!("{} missing; see cargo xtask peers", missing.join(", ")));
    }
    println!("{}", check_all(repository)?);
    Ok(())
}
