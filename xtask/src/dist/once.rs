//! The binaries built, and the packages made of them.

use std::path::PathBuf;

use super::packages::{self, Binary};
use super::release::Release;
use crate::repository::Repository;
use crate::static_binary::{self, Haste};
use crate::target;

/// Builds the binaries and makes the packages; returns their directory.
pub(super) fn make(repository: &Repository, haste: Haste) -> Result<PathBuf, String> {
    let release = Release::of(repository)?;
    let into = empty(repository.target.join("dist"))?;
    packages::make(repository, &release, &binaries(repository, haste)?, &into)?;
    Ok(into)
}

/// The binaries for all machines.
pub(super) fn binaries(repository: &Repository, haste: Haste) -> Result<Vec<Binary>, String> {
    let build = |target| static_binary::build(repository, target, haste).map(|path| (target, path));
    target::ALL.into_iter().map(build).collect()
}

/// The directory without what was in it.
pub(super) fn empty(directory: PathBuf) -> Result<PathBuf, String> {
    let made = match std::fs::remove_dir_all(&directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => std::fs::create_dir_all(&directory),
    };
    made.map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
    Ok(directory)
}
