//! Finds Ceph's programs, and names the package of a missing one.
//!
//! Administrators' directories are searched as well: an ordinary user's PATH may omit them.

use std::path::PathBuf;
use std::process::Command;

use crate::CephError;

/// A program of another project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The Debian package.
    pub(crate) package: &'static str,
}

pub(crate) const MON: Program = Program { name: "ceph-mon", package: "ceph-mon" };
pub(crate) const MGR: Program = Program { name: "ceph-mgr", package: "ceph-mgr" };
pub(crate) const OSD: Program = Program { name: "ceph-osd", package: "ceph-osd" };
pub(crate) const CEPH: Program = Program { name: "ceph", package: "ceph-common" };
pub(crate) const MONMAPTOOL: Program = Program { name: "monmaptool", package: "ceph-base" };
pub(crate) const SHELL: Program = Program { name: "sh", package: "dash" };
pub(crate) const SETSID: Program = Program { name: "setsid", package: "util-linux" };

/// All that a cluster needs.
const ALL: [Program; 7] = [MON, MGR, OSD, CEPH, MONMAPTOOL, SHELL, SETSID];

/// Variables from which Ceph's programs take arguments: those of the caller are for another cluster.
const VARIABLES: [&str; 3] = ["CEPH_ARGS", "CEPH_CONF", "CEPH_KEYRING"];

impl Program {
    /// The path of the program.
    ///
    /// # Errors
    /// It is not installed.
    pub(crate) fn path(self) -> Result<PathBuf, CephError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
            .map(|directory| directory.join(self.name))
            .find(|file| file.is_file())
            .ok_or(CephError::Missing { program: self.name, package: self.package })
    }

    /// A command of it, without what the environment would add.
    pub(crate) fn command(self) -> Result<Command, CephError> {
        let mut command = Command::new(self.path()?);
        for name in VARIABLES {
            command.env_remove(name);
        }
        Ok(command)
    }
}

/// Checks that everything is installed.
///
/// # Errors
/// The first that is missing.
pub(crate) fn check() -> Result<(), CephError> {
    ALL.iter().try_for_each(|program| program.path().map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        assert!(SHELL.path().is_ok());
        let error = Program { name: "no-such-daemon", package: "no-package" }.path().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no-such-daemon is not installed"), "{text}");
        assert!(text.ends_with("no-package"), "{text}");
    }
}
