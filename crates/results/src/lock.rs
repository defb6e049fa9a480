//! One writer a results file.
//!
//! SQLite's own locks last for a transaction; a run lasts for minutes, and readers must be let in
//! meanwhile. So a run holds a lock on a file of its own beside the results (`NAME-lock`). The
//! kernel releases it however the process ends. The results file itself cannot carry it: closing
//! any second descriptor of it would drop SQLite's POSIX locks.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Held as long as a run may write.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
    path: PathBuf,
}

impl RunLock {
    /// Takes the lock; `None` when another run holds it.
    pub(crate) fn take(results: &Path) -> io::Result<Option<RunLock>> {
        let mut name = results.as_os_str().to_owned();
        name.push("-lock");
        let path = PathBuf::from(name);
        loop {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The holder before us may have removed the file between our open and our lock: then
            // the lock is on a file that nobody else will find.
            match std::fs::metadata(&path) {
                Ok(found) if found.ino() == file.metadata()?.ino() => {
                    return Ok(Some(RunLock { file, path }));
                }
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Removed while it is held, so that nobody's later lock file is taken away. A failure
        // leaves an empty file that locks nothing.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}
