//! The example jobs of fio, which the tests of `crates/import` translate.
//!
//! They are not part of this repository (fio's licence). Where Debian's package `fio-examples` is not installed, it is
//! unpacked below the target directory once; installing it needs root, and images of Debian leave documentation out.

use std::path::{Path, PathBuf};

use crate::child::succeed;
use crate::repository::Repository;

/// Names the directory to the tests.
pub(crate) const VARIABLE: &str = "STORMETER_FIO_EXAMPLES";
const INSTALLED: &str = "usr/share/doc/fio/examples";

/// The directory with the jobs.
///
/// # Errors
/// There is none, and the package cannot be downloaded.
pub(crate) fn directory(repository: &Repository) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Ok(named.into());
    }
    let unpacked = repository.target.join("fio-examples");
    let places = [Path::new("/").join(INSTALLED), unpacked.join(INSTALLED)];
    if let Some(found) = places.iter().find(|place| place.is_dir()) {
        return Ok(found.clone());
    }
    // Moved into place when it is complete.
    let partial = repository.target.join("fio-examples.partial");
    let failed = |error: std::io::Error| format!("{}: {error}", partial.display());
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(failed)?;
    }
    std::fs::create_dir_all(&partial).map_err(failed)?;
    let download = || {
        let mut apt_get = repository.command("apt-get");
        succeed(apt_get.args(["download", "-qq", "fio-examples"]).current_dir(&partial))
    };
    if download().is_err() {
        // The lists of packages may be old, or there may be none yet.
        succeed(repository.command("apt-get").args(["update", "-qq"]))?;
        download()?;
    }
    let entries = std::fs::read_dir(&partial).map_err(failed)?;
    let package =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some());
    let package = package.ok_or("apt-get downloaded no package fio-examples")?;
    succeed(repository.command("dpkg-deb").arg("-x").arg(&package).arg(&partial))?;
    std::fs::remove_file(&package).map_err(failed)?;
    std::fs::rename(&partial, &unpacked).map_err(failed)?;
    Ok(unpacked.join(INSTALLED))
}
