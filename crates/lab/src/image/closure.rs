//! Programs with the shared libraries that they need, out of unpacked packages into an archive.
//!
//! The libraries are those that the programs' dynamic sections name (System V ABI, chapter 5,
//! "Dynamic Section"), looked for where Debian puts them; what loads itself later (plug-ins) is not
//! found this way and is listed by the recipe.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::cpio::Archive;
use crate::error::{LabError, at};

/// Folders of libraries, as they are below the root of unpacked packages.
const FOLDERS: [&str; 4] =
    ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64"];

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
            // The kernel looks for an interpreter at its own path and nowhere else.
            let found = match library.strip_prefix('/') {
                Some(interpreter) => Some(interpreter.to_owned()).filter(is_there),
                None => FOLDERS.iter().map(|folder| format!("{folder}/{library}")).find(is_there),
            };
            let found = found.ok_or_else(|| LabError::Library {
                library: library.clone(),
                program: path.into(),
            })?;
            self.copy(&found, archive)?;
        }
        Ok(())
    }
}

/// What a 64-bit ELF file for x86 wants to be loaded with it: its interpreter, by its path, and its
/// libraries, by their names. Nothing for what is no such file, or is broken.
pub(super) fn needs(file: &[u8]) -> Option<Vec<String>> {
    /// Program headers (ELF-64 object file format, version 1.5, section 6) and dynamic tags (8).
    const LOAD: u64 = 1;
    const DYNAMIC: u64 = 2;
    const INTERPRETER: u64 = 3;
    const NEEDED: u64 = 1;
    const STRINGS: u64 = 5;
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, length: usize| -> Option<u64> {
        let bytes = file.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let text = |at: usize| -> Option<String> {
        let rest = file.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    };
    let (start, size, count) = (number(32, 8)? as usize, number(54, 2)? as usize, number(56, 2)?);
    // Kind, place in the file, place in memory, length in the file.
    let mut segments = Vec::new();
    for index in 0..count as usize {
        let at = start.checked_add(index.checked_mul(size)?)?;
        segments.push((
            number(at, 4)?,
            number(at + 8, 8)? as usize,
            number(at + 16, 8)?,
            number(at + 32, 8)?,
        ));
    }
    let mut found = Vec::new();
    if let Some((_, at, ..)) = segments.iter().find(|segment| segment.0 == INTERPRETER) {
        found.push(text(*at)?);
    }
    let Some(&(_, dynamic, _, length)) = segments.iter().find(|segment| segment.0 == DYNAMIC)
    else {
        return Some(found);
    };
    let mut tags = Vec::new();
    for index in 0..(length / 16) as usize {
        let at = dynamic.checked_add(index * 16)?;
        tags.push((number(at, 8)?, number(at + 8, 8)?));
    }
    let address = tags.iter().find(|(tag, _)| *tag == STRINGS)?.1;
    let strings = segments.iter().find_map(|&(kind, at, memory, length)| {
        let inside = kind == LOAD && (memory..memory.saturating_add(length)).contains(&address);
        inside.then(|| at.saturating_add((address - memory) as usize))
    })?;
    for (_, offset) in tags.iter().filter(|(tag, _)| *tag == NEEDED) {
        found.push(text(strings.checked_add(*offset as usize)?)?);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_this_machine_names_its_c_library() {
        let file = fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = needs(&file).unwrap();
        assert!(needs.iter().any(|name| name.starts_with("libc.")), "{needs:?}");
    }

    #[test]
    fn broken_files_are_answered() {
        let file = fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in (0..4096).step_by(7) {
            let _ = needs(&file[..length]);
        }
        let mut wild = file[..8192].to_vec();
        for at in (16..4096).step_by(5) {
            wild[at] ^= 0xff;
            let _ = needs(&wild);
        }
        assert_eq!(needs(b"#!/bin/sh"), None);
    }

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
