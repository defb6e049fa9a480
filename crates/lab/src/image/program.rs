//! Stormeter as it is put into guests: its own file and, unless that is static, this machine's dynamic loader and
//! libraries.
//!
//! A binary from `cargo build` needs the libraries that it was linked with; a host has Debian's own, which may be
//! older. So on a host they are kept apart, and the loader is called explicitly.

use std::fs;
use std::path::Path;

use super::closure::place_of;
use super::cpio::Archive;
use super::elf::{loaded, needs};
use super::key::key;
use crate::error::{LabError, at};

/// A program to be put into images.
#[derive(Debug)]
pub(super) struct Program {
    file: Vec<u8>,
    /// The first is the interpreter, if there is one.
    libraries: Vec<Library>,
}

/// A library that is loaded with it.
#[derive(Debug)]
struct Library {
    /// Its path on this machine, without the leading slash.
    path: String,
    file: Vec<u8>,
}

/// The folder on a host with a dynamically linked stormeter and what it needs.
const APART: &str = "usr/lib/stormeter";

impl Program {
    /// Reads `binary` and what it needs below `root`, which is this machine's root except in tests.
    ///
    /// # Errors
    /// It is not a program for x86-64, or a library is not where Debian's loader looks for it.
    pub(super) fn read(binary: &Path, root: &Path) -> Result<Self, LabError> {
        let file = loaded(&fs::read(binary).map_err(at(binary))?);
        let first = needs(&file).ok_or_else(|| LabError::NoProgram { path: binary.into() })?;
        let mut libraries: Vec<Library> = Vec::new();
        // What a library needs is appended.
        let mut wanted: std::collections::VecDeque<String> = first.into();
        while let Some(name) = wanted.pop_front() {
            let is_there = |path: &String| {
                libraries.iter().any(|known| known.path == *path) || root.join(path).is_file()
            };
            let path = place_of(&name, is_there).ok_or_else(|| LabError::NoLibrary {
                library: name.clone(),
                program: binary.into(),
            })?;
            if libraries.iter().any(|known| known.path == path) {
                continue;
            }
            let from = root.join(&path);
            let file = loaded(&fs::read(&from).map_err(at(&from))?);
            wanted.extend(needs(&file).unwrap_or_default());
            libraries.push(Library { path, file });
        }
        Ok(Self { file, libraries })
    }

    /// The key of images that contain it.
    pub(super) fn key(&self) -> String {
        let of = |library: &'_ Library| [library.path.clone().into_bytes(), library.file.clone()];
        let libraries: Vec<Vec<u8>> = self.libraries.iter().flat_map(of).collect();
        let mut parts = vec![self.file.as_slice()];
        parts.extend(libraries.iter().map(Vec::as_slice));
        key(&parts)
    }

    /// Adds it where the kernel starts it, in a guest without other programs; the libraries go where the loader
    /// finds them.
    pub(super) fn put_as_init(&self, archive: &mut Archive) {
        archive.file("init", 0o755, &self.file);
        for Library { path, file } in &self.libraries {
            archive.file(path, 0o755, file);
        }
    }

    /// Adds it to the programs of a guest that has a shell and its own libraries.
    pub(super) fn put_as_command(&self, archive: &mut Archive) {
        const COMMAND: &str = "bin/stormeter";
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let Some(loader) = self.libraries.first() else {
            return archive.file(COMMAND, 0o755, &self.file);
        };
        let loader = name(&loader.path);
        let script = format!(
            "#!/bin/sh\nexec /{APART}/{loader} --library-path /{APART} /{APART}/stormeter \"$@\"\n"
        );
        archive.file(COMMAND, 0o755, script.as_bytes());
        archive.file(&format!("{APART}/stormeter"), 0o755, &self.file);
        for Library { path, file } in &self.libraries {
            archive.file(&format!("{APART}/{}", name(path)), 0o755, file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;

    fn this_test() -> PathBuf {
        std::env::current_exe().unwrap()
    }

    fn has(archive: Archive, name: &str) -> bool {
        let name = format!("{name}\0");
        archive.finish().windows(name.len()).any(|window| window == name.as_bytes())
    }

    #[test]
    fn what_is_not_static_comes_with_its_loader_and_its_libraries() {
        let program = Program::read(&this_test(), Path::new("/")).unwrap();
        let put = |how: &dyn Fn(&mut Archive)| {
            let mut archive = Archive::default();
            how(&mut archive);
            archive
        };
        for path in ["init", "lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu/libc.so.6"] {
            assert!(has(put(&|archive| program.put_as_init(archive)), path), "{path}");
        }
        for name in ["bin/stormeter", "usr/lib/stormeter/stormeter", "usr/lib/stormeter/libc.so.6"]
        {
            assert!(has(put(&|archive| program.put_as_command(archive)), name), "{name}");
        }
        let own = put(&|archive| program.put_as_command(archive));
        assert!(!has(own, "lib/x86_64-linux-gnu/libc.so.6"), "the guest's own library stays");
    }

    /// Runs it as the host's script does, with nothing but what is in the image.
    #[test]
    fn with_what_was_brought_along_it_runs() {
        let program = Program::read(&this_test(), Path::new("/")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, file: &[u8]| {
            let (text, path) = (folder.path().join("text"), folder.path().join(name));
            fs::write(&text, file).unwrap();
            // Done by a separate process: a child forked here meanwhile would inherit the file open for
            // writing, and a file that is open for writing cannot be executed.
            let install = Command::new("install").arg("-m700").args([&text, &path]).status();
            assert!(install.unwrap().success());
            path
        };
        let binary = put("stormeter", &program.file);
        let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        let libraries = program.libraries.iter();
        let paths: Vec<PathBuf> =
            libraries.map(|library| put(&name(&library.path), &library.file)).collect();
        let output = Command::new(&paths[0])
            .args(["--inhibit-cache", "--library-path"])
            .args([folder.path(), &binary])
            .arg("--list")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("with_what_was_brought_along"), "{output:?}");
    }

    #[test]
    fn another_library_is_another_key_and_a_missing_one_is_named() {
        let root = tempfile::tempdir().unwrap();
        let whole = Program::read(&this_test(), Path::new("/")).unwrap();
        let message = Program::read(&this_test(), root.path()).unwrap_err().to_string();
        assert!(message.contains("ld-linux") && message.contains("static"), "{message}");
        for Library { path, file } in &whole.libraries {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let again = Program::read(&this_test(), root.path()).unwrap();
        assert_eq!(again.key(), whole.key());
        let last = whole.libraries.last().unwrap();
        let mut other = last.file.clone();
        *other.last_mut().unwrap() ^= 1;
        fs::write(root.path().join(&last.path), other).unwrap();
        assert_ne!(Program::read(&this_test(), root.path()).unwrap().key(), whole.key());
    }

    #[test]
    fn what_is_static_comes_alone_and_what_is_no_program_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, super::super::elf::STATIC).unwrap();
        let program = Program::read(&path, folder.path()).unwrap();
        assert!(program.libraries.is_empty());
        let mut archive = Archive::default();
        program.put_as_command(&mut archive);
        assert!(!has(archive, "usr/lib/stormeter"));
        fs::write(&path, "#!/bin/sh\n").unwrap();
        let message = Program::read(&path, folder.path()).unwrap_err().to_string();
        assert!(message.contains("program"), "{message}");
    }
}
