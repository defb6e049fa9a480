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
mod services;
mod suite;
mod system;
mod usage;
mod worker;

use std::collections::BTreeMap;
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
    /// The router's initial file system.
    #[serde(default)]
    pub router: PathBuf,
    /// The worker guest's initial file system.
    pub worker: PathBuf,
    /// The host's initial file system.
    pub host: PathBuf,
    /// The same with the programs of services.
    #[serde(default)]
    pub server: PathBuf,
    /// Hosts with the kernels of other suites, by suite.
    #[serde(default)]
    pub others: BTreeMap<String, HostImages>,
}

/// The files that a host with the kernel of another suite is started from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostImages {
    /// The folder of the system.
    pub system: PathBuf,
    /// The kernel, an ELF file.
    pub kernel: PathBuf,
    /// The host's initial file system.
    pub host: PathBuf,
    /// The same with the programs of services.
    #[serde(default)]
    pub server: PathBuf,
}

impl Images {
    /// The folders of all systems.
    pub(crate) fn systems(&self) -> impl Iterator<Item = &Path> {
        let others = self.others.values().map(|other| other.system.as_path());
        std::iter::once(self.system.as_path()).chain(others)
    }

    /// The kernel's release of a host with the kernel of `suite`; `None` if the system has been removed.
    pub(crate) fn host_release(&self, suite: Option<&str>) -> Option<String> {
        let other = suite.and_then(|suite| self.others.get(suite));
        system::release(other.map_or(&self.system, |other| &other.system))
    }

    /// Kernel and initial file system of a host with the kernel of `suite`, with or without services; `None`: of this
    /// machine's suite, which is also what a suite that was not asked for gets.
    pub(crate) fn host_files(&self, suite: Option<&str>, services: bool) -> (&Path, &Path) {
        let other = suite.and_then(|suite| self.others.get(suite));
        let (kernel, host, server) = match other {
            Some(other) => (&other.kernel, &other.host, &other.server),
            None => (&self.kernel, &self.host, &self.server),
        };
        (kernel, if services { server } else { host })
    }
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

    /// Builds what is missing or whose inputs have changed, and hosts with the kernels of other suites (`trixie`).
    /// `say` receives progress messages.
    ///
    /// # Errors
    /// A tool, a suite, a package or a module is missing, the disk is full, or `binary` cannot run in a guest.
    pub fn build(
        &self,
        binary: &Path,
        suites: &[String],
        say: &mut dyn FnMut(&str),
    ) -> Result<Images, LabError> {
        if let Some(bad) = suites.iter().find(|suite| !is_suite(suite)) {
            return Err(LabError::NotASuite { said: bad.clone() });
        }
        let program = Program::read(binary, Path::new("/"))?;
        let system = system::build(&self.root, None, say)?;
        let built = suites
            .iter()
            .map(|suite| Ok((suite.clone(), system::build(&self.root, Some(suite), say)?)));
        let others = built.collect::<Result<_, LabError>>()?;
        Self::with_program(system, others, &program, say)
    }

    /// The result of the last builds, with a worker guest for this binary, and hosts with the kernels of these suites.
    ///
    /// # Errors
    /// Nothing was built for this version of the recipe or for a suite, or `binary` cannot run in a guest.
    pub fn images<'s>(
        &self,
        binary: &Path,
        suites: impl Iterator<Item = &'s str>,
        say: &mut dyn FnMut(&str),
    ) -> Result<Images, LabError> {
        let program = Program::read(binary, Path::new("/"))?;
        let cache = || self.root.clone();
        let system = system::current(&self.root, None)
            .ok_or_else(|| LabError::NotBuilt { cache: cache() })?;
        let found = suites.map(|suite| {
            let found = system::current(&self.root, Some(suite));
            let missing = || LabError::SuiteNotBuilt { suite: suite.into(), cache: cache() };
            Ok((suite.to_owned(), found.ok_or_else(missing)?))
        });
        let others = found.collect::<Result<_, LabError>>()?;
        Self::with_program(system, others, &program, say)
    }

    fn with_program(
        system: PathBuf,
        others: BTreeMap<String, PathBuf>,
        program: &Program,
        say: &mut dyn FnMut(&str),
    ) -> Result<Images, LabError> {
        // Services are programs of this machine's suite, whatever the kernel.
        let layer = &system;
        let other = |(suite, system): (String, PathBuf)| {
            let kernel = system.join(system::KERNEL);
            let host = worker::host(&system, None, program, say)?;
            let server = worker::host(&system, Some(layer), program, say)?;
            Ok((suite, HostImages { system, kernel, host, server }))
        };
        let others = others.into_iter().map(other).collect::<Result<_, LabError>>()?;
        Ok(Images {
            kernel: system.join(system::KERNEL),
            storage: system.join(system::STORAGE),
            router: system.join(system::ROUTER),
            worker: worker::image(&system, program, say)?,
            host: worker::host(&system, None, program, say)?,
            server: worker::host(&system, Some(&system), program, say)?,
            system,
            others,
        })
    }
}

/// Whether this may be the name of a suite of Debian, as in `trixie` or `bookworm-backports`.
pub(crate) fn is_suite(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(is_part)
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
        let error = cache
            .images(&std::env::current_exe().unwrap(), [].into_iter(), &mut |_| {})
            .unwrap_err();
        assert!(error.to_string().contains("stormeter lab build"), "{error}");
        let error = cache.images(&text, [].into_iter(), &mut |_| {}).unwrap_err();
        assert!(matches!(error, LabError::NoProgram { .. }), "{error}");
    }
}
