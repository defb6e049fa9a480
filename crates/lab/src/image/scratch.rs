//! The working folder of a build.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{LabError, at};

/// A working folder that is removed at the end, or by the next build. Builds run one at a time: concurrent
/// ones would get in each other's way.
pub(super) struct Scratch {
    pub(super) path: PathBuf,
    /// The lock.
    turn: fs::File,
}

const SCRATCH: &str = ".build-";
const TURN: &str = ".turn";

impl Scratch {
    pub(super) fn new(root: &Path) -> Result<Self, LabError> {
        fs::create_dir_all(root).map_err(at(root))?;
        let turn = root.join(TURN);
        let file = fs::File::create(&turn).map_err(at(&turn))?;
        // Waits until the other build has ended; the kernel releases the lock however it ends.
        file.lock().map_err(at(&turn))?;
        for entry in fs::read_dir(root).map_err(at(root))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let owner = name.strip_prefix(SCRATCH).and_then(|pid| pid.parse::<u32>().ok());
            if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = root.join(format!("{SCRATCH}{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(at(&path))?;
        Ok(Self { path, turn: file })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        // Unlocked explicitly, not by closing: a child that another thread has forked and that has not executed its
        // program yet has the file open, too.
        let _ = self.turn.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_of_a_killed_build_is_removed_by_the_next() {
        let root = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        let left = root.path().join(format!("{SCRATCH}{}", ended.id()));
        ended.wait().unwrap();
        fs::create_dir(&left).unwrap();
        fs::write(left.join("half"), "an image").unwrap();
        let scratch = Scratch::new(root.path()).unwrap();
        assert!(!left.exists());
        let path = scratch.path.clone();
        assert!(path.exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn one_builds_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let first = Scratch::new(root.path()).unwrap();
        let other = || fs::File::open(root.path().join(TURN)).unwrap().try_lock();
        assert!(matches!(other(), Err(fs::TryLockError::WouldBlock)));
        // As in a child that is forked meanwhile.
        let _forked = first.turn.try_clone().unwrap();
        drop(first);
        assert!(other().is_ok());
    }
}
