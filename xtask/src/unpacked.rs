//! Debian packages that tests need and that are not installed: they are unpacked below the target directory once.
//!
//! Installing needs root. Images of Debian leave documentation out, and a package with a service would start it.

use std::path::{Path, PathBuf};

use crate::child::succeed;
use crate::repository::Repository;

/// A directory of a package.
pub(crate) struct Unpacked {
    /// Names the directory to the tests, and overrides all else.
    pub(crate) variable: &'static str,
    /// The Debian package.
    pub(crate) package: &'static str,
    /// Whose package it is, if not this machine's.
    pub(crate) architecture: Option<&'static str>,
    /// The directory within it.
    pub(crate) directory: &'static str,
    /// A file in the directory.
    pub(crate) file: &'static str,
}

/// What the tests need. The example jobs of fio, which the tests of `crates/import` translate, are under fio's licence
/// and not part of this repository. Prometheus scrapes a run in the tests of `crates/cli`.
pub(crate) const ALL: [Unpacked; 2] = [
    Unpacked {
        variable: "STORMETER_FIO_EXAMPLES",
        package: "fio-examples",
        architecture: None,
        directory: "usr/share/doc/fio/examples",
        file: "null.fio",
    },
    Unpacked {
        variable: "STORMETER_PROMETHEUS",
        package: "prometheus",
        architecture: None,
        directory: "usr/bin",
        file: "prometheus",
    },
];

impl Unpacked {
    /// The directory: the named one, that of the installed package, or the unpacked one.
    ///
    /// # Errors
    /// There is none, and the package cannot be downloaded.
    pub(crate) fn directory(&self, repository: &Repository) -> Result<PathBuf, String> {
        if let Some(named) = std::env::var_os(self.variable) {
            return Ok(named.into());
        }
        let name = [Some(self.package), self.architecture].into_iter().flatten();
        let name = name.collect::<Vec<_>>().join("-");
        let unpacked = repository.target.join(&name);
        let places = [Path::new("/").join(self.directory), unpacked.join(self.directory)];
        if let Some(found) = places.iter().find(|place| place.join(self.file).is_file()) {
            return Ok(found.clone());
        }
        // Moved into place when it is complete.
        let partial = repository.target.join(format!("{name}.partial"));
        let failed = |error: std::io::Error| format!("{}: {error}", partial.display());
        for old in [&partial, &unpacked].into_iter().filter(|old| old.exists()) {
            std::fs::remove_dir_all(old).map_err(failed)?;
        }
        std::fs::create_dir_all(&partial).map_err(failed)?;
        self.unpack(repository, &partial)?;
        std::fs::rename(&partial, &unpacked).map_err(failed)?;
        Ok(unpacked.join(self.directory))
    }

    /// Downloads the package and unpacks it in a directory.
    fn unpack(&self, repository: &Repository, into: &Path) -> Result<(), String> {
        let apt_get = |arguments: &[&str]| {
            let mut command = repository.command("apt-get");
            command.args(self.apt_state(repository)?).args(arguments).current_dir(into);
            succeed(&mut command)
        };
        let download = || apt_get(&["download", "-qq", self.package]);
        if download().is_err() {
            // The lists of packages may be old, or there may be none yet.
            apt_get(&["update", "-qq"])?;
            download()?;
        }
        let failed = |error: std::io::Error| format!("{}: {error}", into.display());
        let entries = std::fs::read_dir(into).map_err(failed)?;
        let package =
            entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some());
        let none = || format!("apt-get downloaded no package {}", self.package);
        let package = package.ok_or_else(none)?;
        succeed(repository.command("dpkg-deb").arg("-x").arg(&package).arg(into))?;
        std::fs::remove_file(&package).map_err(failed)
    }

    /// The options with which apt-get uses lists of packages of another architecture, which are not the machine's own.
    fn apt_state(&self, repository: &Repository) -> Result<Vec<String>, String> {
        let Some(architecture) = self.architecture else { return Ok(Vec::new()) };
        let state = repository.target.join(format!("apt-{architecture}"));
        for part in ["lists/partial", "cache/archives/partial"] {
            let part = state.join(part);
            std::fs::create_dir_all(&part)
                .map_err(|error| format!("{} cannot be made: {error}", part.display()))?;
        }
        let place = state.display();
        Ok([
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures={architecture}"),
            format!("Dir::State={place}"),
            "Dir::State::status=/dev/null".to_owned(),
            format!("Dir::Cache={place}/cache"),
            // The user of downloads may not enter the target directory.
            "APT::Sandbox::User=root".to_owned(),
        ]
        .into_iter()
        .flat_map(|option| ["-o".to_owned(), option])
        .collect())
    }
}
