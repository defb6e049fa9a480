//! Free space on a file system.

use std::path::{Path, PathBuf};

use crate::error::{LabDirectory, LabError, at};

/// Fails if there is too little space. `path` or one of its parents exists.
///
/// # Errors
/// Less than `need_bytes` are free for this user.
pub(crate) fn need_room(
    what: &'static str,
    path: &Path,
    need_bytes: u64,
    of: LabDirectory,
) -> Result<(), LabError> {
    let there = path.ancestors().find(|ancestor| ancestor.exists());
    let there: PathBuf = there.map_or_else(|| ".".into(), Path::to_owned);
    let found = nix::sys::statvfs::statvfs(&there).map_err(|errno| at(&there)(errno.into()))?;
    let free_bytes = found.blocks_available() * found.fragment_size();
    if free_bytes >= need_bytes {
        return Ok(());
    }
    Err(LabError::NoSpace { what, path: there, need_bytes, free_bytes, of })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_let_through_and_what_does_not_is_refused_with_both_sizes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("not/there/yet");
        need_room("a test", &path, 1, LabDirectory::Lab).unwrap();
        let error =
            need_room("a test", &path, u64::MAX / 2, LabDirectory::Lab).unwrap_err().to_string();
        for part in ["a test needs", "free", "another directory"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
