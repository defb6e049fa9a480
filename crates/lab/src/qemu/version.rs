//! The version of QEMU.

use std::process::Command;

use crate::error::{LabError, tool};

/// The program; it emulates what Debian's amd64 kernel runs on.
pub(crate) const QEMU: &str = "qemu-system-x86_64";

/// The line in which QEMU reports its version.
///
/// # Errors
/// QEMU is missing; the error names the package that has it.
pub(crate) fn version() -> Result<String, LabError> {
    let output =
        Command::new(QEMU).arg("--version").output().map_err(|source| tool(QEMU, source))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
