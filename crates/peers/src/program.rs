//! Finds programs, and names the package of a missing one.
//!
//! Administrators' directories are searched as well: servers are there, and an ordinary user's PATH
//! omits them.

use std::path::{Path, PathBuf};

use crate::PeerError;

/// A program from another project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The Debian package.
    pub(crate) package: &'static str,
}

pub(crate) const GANESHA: Program = Program { name: "ganesha.nfsd", package: "nfs-ganesha" };
pub(crate) const TGTD: Program = Program { name: "tgtd", package: "tgt" };
pub(crate) const TGTADM: Program = Program { name: "tgtadm", package: "tgt" };
pub(crate) const NFS_LS: Program = Program { name: "nfs-ls", package: "libnfs-utils" };
pub(crate) const NFS_CP: Program = Program { name: "nfs-cp", package: "libnfs-utils" };
pub(crate) const ISCSI_LS: Program = Program { name: "iscsi-ls", package: "libiscsi-bin" };
pub(crate) const ISCSI_INQ: Program = Program { name: "iscsi-inq", package: "libiscsi-bin" };
pub(crate) const QEMU_IMG: Program = Program { name: "qemu-img", package: "qemu-utils" };
pub(crate) const QEMU_IO: Program = Program { name: "qemu-io", package: "qemu-utils" };
pub(crate) const PROMETHEUS: Program = Program { name: "prometheus", package: "prometheus" };
pub(crate) const PROMTOOL: Program = Program { name: "promtool", package: "prometheus" };
pub(crate) const CHROMIUM: Program = Program { name: "chromium", package: "chromium" };
pub(crate) const SHELL: Program = Program { name: "sh", package: "dash" };

/// Names a directory with programs of Prometheus, which `cargo xtask test` unpacks and does not install.
const UNPACKED: &str = "STORMETER_PROMETHEUS";

impl Program {
    /// The path of the program.
    ///
    /// # Errors
    /// It is not installed.
    pub(crate) fn path(self) -> Result<PathBuf, PeerError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
            .chain(std::env::var_os(UNPACKED).map(PathBuf::from))
            .map(|directory| directory.join(self.name))
            .find(|file| file.is_file())
            .ok_or(PeerError::Missing { program: self.name, package: self.package })
    }
}

/// A file that a program loads, below one of the machine's library directories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plugin {
    /// Its path with `*` for one directory.
    pub(crate) file: &'static str,
    /// The Debian package.
    pub(crate) package: &'static str,
}

pub(crate) const GANESHA_VFS: Plugin =
    Plugin { file: "/usr/lib/*/ganesha/libfsalvfs.so", package: "nfs-ganesha-vfs" };
pub(crate) const GANESHA_MEM: Plugin =
    Plugin { file: "/usr/lib/*/ganesha/libfsalmem.so", package: "nfs-ganesha-mem" };
pub(crate) const QEMU_ISCSI: Plugin =
    Plugin { file: "/usr/lib/*/qemu/block-iscsi.so", package: "qemu-block-extra" };

impl Plugin {
    /// Finds it.
    ///
    /// # Errors
    /// It is not installed.
    pub(crate) fn check(self) -> Result<(), PeerError> {
        let (before, after) = self.file.split_once("/*/").unwrap_or(("/", self.file));
        let before = Path::new(before);
        let there = std::fs::read_dir(before)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.path().join(after).is_file());
        // Distributions without a directory per architecture have it directly below.
        if there || before.join(after).is_file() {
            return Ok(());
        }
        Err(PeerError::MissingFile { file: self.file, package: self.package })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        assert!(SHELL.path().is_ok());
        let error = Program { name: "no-such-server", package: "no-package" }.path().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no-such-server") && text.contains("apt-get install no-package"));
        assert!(text.contains("cargo xtask peers"), "{text}");
        let plugin = Plugin { file: "/usr/lib/*/no-such.so", package: "no-package" };
        assert!(plugin.check().unwrap_err().to_string().contains("cargo xtask peers"));
    }
}
