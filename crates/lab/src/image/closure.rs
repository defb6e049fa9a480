//! Programs with the shared libraries that they need, out of unpacked packages into an archive.
//!
//! The libraries are those that the programs' dynamic sections name, looked for where Debian puts them; what
//! loads itself later (plug-ins) is not found this way and is listed by the recipe.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::cpio::Archive;
use super::elf::needs;
use crate::error::{LabError, at};

/// Folders of libraries, as they are below the root of unpacked packages and of a machine: those that a dynamic
/// loader searches without being told to.
const FOLDERS: [&str; 6] =
    ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib"];

/// Copies programs (paths without the first slash) with what they need.
#[derive(Debug)]
pub(crate) struct Closure<'a> {
    /// Where packages were unpacked.
    pub(crate) root: &'a Path,
    /// What was copied already.
    done: BTreeSet<String>,
}

impl<'a> Closure<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, done: BTreeSet::new() }
    }

    /// # Errors
    /// A file or a library is in none of the packages: its name.
    pub(crate) fn copy(&mut self, path: &str, archive: &mut Archive) -> Result<(), LabError> {
        if !self.done.insert(path.into()) {
            return Ok(());
        }
        let from = self.root.join(path);
        // Links are followed: a library is found under the name that others call it by.
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

/// Where something that a program needs is, below the root.
pub(super) fn place_of(needed: &str, is_there: impl Fn(&String) -> bool) -> Option<String> {
    // The kernel looks for an interpreter at its own path and nowhere else.
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
