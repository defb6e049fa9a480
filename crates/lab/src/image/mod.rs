//! Kernel and images of the guests, built from Debian packages and kept in a cache directory.
//!
//! A *system* is everything that depends on packages: the kernel, its modules, the storage guest's image. Its
//! folder is named by the hash of its inputs and appears by a rename, so that a killed build leaves nothing that
//! could be mistaken for one. A worker guest's image is a system's modules with stormeter as init; a host's is the
//! system's programs with stormeter appended, and the libraries that it needs. Both are made in a moment and
//! without a network.

mod closure;
mod cpio;
mod elf;
mod free_space;
mod kernel;
mod key;
mod modules;
mod packages;
mod program;
mod recipe;
mod scratch;
mod system;
mod usage;
mod worker;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) use free_space::need_room;
pub(crate) use key::key;
pub(crate) use packages::last_words;
pub(crate) use usage::Held;

use self::program::Program;
use crate::error::LabError;

/// The files that guests are started from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Images {
    /// The folder of the system.
    pub system: PathBuf,
    /// The kernel, an ELF file.
    pub kernel: PathBuf,
    /// The storage guest's initial file system.
    pub storage: PathBuf,
    /// The worker guest's initial file system.
    pub worker: PathBuf,
    /// The host's initial file system.
    pub host: PathBuf,
}

/// The directory in which images, packages and templates are kept.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The given directory, or `stormeter/lab` in the user's cache directory (XDG Base Directory
    /// Specification).
    pub fn at(given: Option<&Path>) -> Self {
        let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let root = given.map(Path::to_owned).unwrap_or_else(|| {
            of("XDG_CACHE_HOME")
                .map(PathBuf::from)
                .or_else(|| of("HOME").map(|home| PathBuf::from(home).join(".cache")))
                .unwrap_or_else(std::env::temp_dir)
                .join("stormeter/lab")
        });
        // Made absolute because processes that get these paths have other working directories.
        Self { root: std::path::absolute(&root).unwrap_or(root) }
    }

    /// Builds what is missing or whose inputs have changed. `say` receives progress messages.
    ///
    /// # Errors
    /// A tool, a package or a module is missing, the disk is full, or `binary` cannot run in a guest.
    pub fn build(&self, binary: &Path, say: &mut dyn FnMut(&str)) -> Result<Images, LabError> {
        let program = Program::read(binary, Path::new("/"))?;
        let system = system::build(&self.root, say)?;
        Self::with_program(system, &program, say)
    }

    /// The result of the last build, with a worker guest for this binary.
    ///
    /// # Errors
    /// Nothing was built for this version of the recipe, or `binary` cannot run in a guest.
    pub fn images(&self, binary: &Path, say: &mut dyn FnMut(&str)) -> Result<Images, LabError> {
        let program = Program::read(binary, Path::new("/"))?;
        let system = system::current(&self.root)
            .ok_or_else(|| LabError::NotBuilt { cache: self.root.clone() })?;
        Self::with_program(system, &program, say)
    }

    fn with_program(
        system: PathBuf,
        program: &Program,
        say: &mut dyn FnMut(&str),
    ) -> Result<Images, LabError> {
        Ok(Images {
            kernel: system.join(system::KERNEL),
            storage: system.join(system::STORAGE),
            worker: worker::image(&system, program, say)?,
            host: worker::host(&system, program, say)?,
            system,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn without_a_build_one_is_asked_for() {
        let root = tempfile::tempdir().unwrap();
        let text = root.path().join("script");
        fs::write(&text, "#!/bin/sh\n").unwrap();
        let cache = Cache::at(Some(root.path()));
        let error = cache.images(&std::env::current_exe().unwrap(), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("stormeter lab build"), "{error}");
        let error = cache.images(&text, &mut |_| {}).unwrap_err();
        assert!(matches!(error, LabError::NoProgram { .. }), "{error}");
    }
}
