//! The binary for 64-bit ARM, run by QEMU's user mode, which is called by name: the kernel need not know it.

use std::path::Path;
use std::process::Command;

use crate::repository::Repository;
use crate::static_binary;

/// The emulator of a program.
pub(crate) const EMULATOR: &str = "qemu-aarch64";

/// Checks that it is static, tells its version, prints the committed schema and compares two directories.
///
/// # Errors
/// It does not.
pub(super) fn check(repository: &Repository, binary: &Path) -> Result<(), String> {
    let start = || {
        let mut command = Command::new(EMULATOR);
        command.arg(binary);
        command
    };
    static_binary::inspect(binary)?;
    static_binary::try_out(repository, &start)
}
