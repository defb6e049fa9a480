//! Which QEMU this is.

use std::process::Command;

use crate::error::{LabError, tool};

/// The program; what it emulates is what Debian's kernel for amd64 runs on.
pub(crate) const QEMU: &str = "qemu-system-x86_64";

/// The line in which it tells its version.
///
/// # Errors
/// It is not there: the package that has it.
pub(crate) fn version() -> Result<String, LabError> {
    let output =
        Command::new(QEMU).arg("--version").output().map_err(|source| tool(QEMU, source))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
