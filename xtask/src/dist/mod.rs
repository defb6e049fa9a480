//! Packages of a release: the chore `dist`, and the step that makes them and installs them.
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

pub(crate) use check::{NEEDS, check};

use crate::peers;
use crate::repository::Repository;
use crate::static_binary::Haste;
use once::make;

/// The chore `dist`: once, or `--twice`, with `--quick` as the checks build.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    let mut haste = Haste::None;
    let mut twice = false;
    for argument in arguments {
        match argument.as_str() {
            "--quick" => haste = Haste::Some,
            "--twice" => twice = true,
            _ => return Err("dist takes --twice, --quick or nothing".into()),
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
