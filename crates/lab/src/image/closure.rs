//! Copies programs and the shared libraries that they need from unpacked packages into an archive.
//!
//! The libraries are those named in the programs' dynamic sections, looked for where Debian puts them; what
//! programs load later (plug-ins) cannot be found this way and is listed in the recipe.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::cpio::Archive;
use super::elf::needs;
use crate::error::{LabError, at};

/// Library folders, relative to the root of unpacked packages or of a machine: those that a dynamic loader
/// searches by default, and the one that FRR's programs name.
const FOLDERS: [&str; 7] = [
    "lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu",
    "lib64",
    "usr/lib64",
    "lib",
    "usr/lib",
    "usr/lib/x86_64-linux-gnu/frr",
];

/// Copies programs (paths without the leading slash) with what they need.
#[derive(Debug)]
pub(crate) struct Closure<'a> {
    /// Where packages were unpacked.
    pub(crate) root: &'a Path,
    /// What has been copied already.
    done: BTreeSet<String>,
}

impl<'a> Closure<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, done: BTreeSet::new() }
    }

    /// # Errors
    /// The name of a file or library that is in none of the packages.
    pub(crate) fn copy(&mut self, path: &str, archive: &mut Archive) -> Result<(), LabError> {
        if !self.done.insert(path.into()) {
            return Ok(());
        }
        let from = self.root.join(path);
        // Links are followed: a library must be found under the name by which others refer to it.
        let bytes = fs::read(&from).map_err(at(&from))?;
        archive.file(path, 0o755, &bytes);
        let Some(needs) = needs(&bytes) else { return Ok(()) };
        for library in needs {
            let is_there = |candidate: &String| {
                self.done.contains(candidate) || self.root.join(candidate).exists()
            };
            let found = place_of(&library, is_there);
            let found = found.ok_or_else(|| LabError::Library {
                library: library.clone(),
                program: path.into(),
            })?;
            self.copy(&found, archive)?;
        }
        Ok(())
    }
}

/// The location, below the root, of something that a program needs.
pub(super) fn place_of(needed: &str, is_there: impl Fn(&String) -> bool) -> Option<String> {
    // The kernel looks for an interpreter at its exact path only.
    match needed.strip_prefix('/') {
        Some(interpreter) => Some(interpreter.to_owned()).filter(is_there),
        None => FOLDERS.iter().map(|folder| format!("{folder}/{needed}")).find(is_there),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_no_package_has_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::copy(std::env::current_exe().unwrap(), root.path().join("tool")).unwrap();
        let mut archive = Archive::default();
        let error = Closure::new(root.path()).copy("tool", &mut archive).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("tool") && message.contains(".so"), "{message}");
    }
}
