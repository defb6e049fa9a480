//! One writer per results file.
//!
//! SQLite's own locks last for a transaction; a run lasts for minutes, and readers must be let in
//! meanwhile. So a run holds a lock on a separate file next to the results (`NAME-lock`). The
//! kernel releases it however the process ends. The results file itself cannot be locked like this:
//! closing any second descriptor of it would drop SQLite's POSIX locks.
//!
//! Another program's file may have that name. Ours is identified by its content; nothing else is
//! removed, and apart from ours only an empty file is locked. A run may be killed after it has created
//! the file and before it has written the content. Therefore the file is created with the sticky bit,
//! which means nothing on a regular file and is set by the call that creates it: an empty file that has
//! it is ours, too. (A temporary file that is renamed would be left behind by such a run.)

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use crate::error::ResultsError;

/// The content, by which a later run recognizes the lock file of a killed run.
const MARK: &[u8] = b"A run of stormeter writes the results file beside this.\n";
/// Permissions at creation: the usual ones, which the umask narrows, and the sticky bit.
const MODE: u32 = STICKY | 0o666;
const STICKY: u32 = 0o1000;

/// Held as long as a run may write.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
    path: PathBuf,
    is_ours: bool,
}

impl RunLock {
    /// Takes the lock next to `results`.
    ///
    /// # Errors
    /// `InUse` if another run holds it, `LockTaken` if its name is taken by another file, `Io` if
    /// the place cannot be written.
    pub(crate) fn take(results: &Path) -> Result<RunLock, ResultsError> {
        let path = path_of(results);
        let io = |source| ResultsError::Io { path: results.into(), source };
        loop {
            let (file, is_new) = match open(&path) {
                Ok(Some(opened)) => opened,
                // The previous holder removed it between our two attempts.
                Ok(None) => continue,
                Err(_) if is_odd(&path) => return Err(ResultsError::LockTaken { path }),
                Err(error) => return Err(io(error)),
            };
            let content = content(&file).map_err(io)?;
            let is_marked = content.as_deref() == Some(MARK);
            let is_ours =
                is_new || is_marked || is_unmarked(&file, content.as_deref()).map_err(io)?;
            if !is_ours && content.is_none_or(|content| !content.is_empty()) {
                return Err(ResultsError::LockTaken { path });
            }
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(ResultsError::InUse { path: results.into() });
                }
                Err(TryLockError::Error(error)) => return Err(io(error)),
            }
            // The previous holder may have removed the file between our open and our lock: then our
            // lock is on a file that no other process will find.
            if !is_at(&file, &path).map_err(io)? {
                continue;
            }
            let lock = RunLock { file, path, is_ours };
            if is_ours && !is_marked {
                // From its start: another run may have written a part.
                lock.file.write_all_at(MARK, 0).map_err(io)?;
            }
            return Ok(lock);
        }
    }

    /// Whether a run holds the lock next to `results`. Nothing is created. The lock file of a killed run
    /// is locked for an instant to find out.
    pub(crate) fn is_held(results: &Path) -> bool {
        let mut options = OpenOptions::new();
        let opened =
            options.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path_of(results));
        opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// The lock file of a results file.
fn path_of(results: &Path) -> PathBuf {
    let mut name = results.as_os_str().to_owned();
    name.push("-lock");
    PathBuf::from(name)
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Removed while it is locked, so that no later lock file is removed. A failure leaves a
        // file that locks nothing.
        if self.is_ours && is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

/// Creates the file, or opens it if it exists; returns whether it was created. `None` if it existed
/// and has disappeared. Does not follow symbolic links and does not wait for a FIFO.
fn open(path: &Path) -> io::Result<Option<(File, bool)>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(O_NOFOLLOW | O_NONBLOCK);
    match options.clone().create_new(true).mode(MODE).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(|file| Some((file, false))),
        },
        made => made.map(|file| Some((file, true))),
    }
}

/// Whether something other than a regular file is there.
fn is_odd(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file())
}

/// The start of a regular file; `None` for anything else.
fn content(file: &File) -> io::Result<Option<Vec<u8>>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut content = Vec::new();
    file.take(MARK.len() as u64 + 1).read_to_end(&mut content)?;
    Ok(Some(content))
}

/// Whether it is the file of a run that was killed before its content was complete.
fn is_unmarked(file: &File, content: Option<&[u8]>) -> io::Result<bool> {
    let is_sticky = file.metadata()?.permissions().mode() & STICKY != 0;
    Ok(is_sticky && content.is_some_and(|content| MARK.starts_with(content)))
}

/// Whether the path still refers to that file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let locked = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (locked.dev(), locked.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_and_goes_and_that_of_a_killed_run_goes_too() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path().join("results.db");
        let lock = directory.path().join("results.db-lock");
        assert!(!RunLock::is_held(&results));
        let first = RunLock::take(&results).unwrap();
        assert!(RunLock::is_held(&results));
        assert!(matches!(RunLock::take(&results), Err(ResultsError::InUse { .. })));
        let left = std::fs::read(&lock).unwrap();
        drop(first);
        assert!(!lock.exists());
        std::fs::write(&lock, left).unwrap();
        assert!(!RunLock::is_held(&results));
        drop(RunLock::take(&results).unwrap());
        assert!(!lock.exists());
    }

    #[test]
    fn that_of_a_run_killed_before_it_wrote_the_content_goes_too() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path().join("results.db");
        let lock = directory.path().join("results.db-lock");
        for written in [0, 7] {
            let (file, is_new) = open(&lock).unwrap().unwrap();
            assert!(is_new);
            file.write_all_at(&MARK[..written], 0).unwrap();
            drop(file);
            let taken = RunLock::take(&results).unwrap();
            assert_eq!(std::fs::read(&lock).unwrap(), MARK, "{written}");
            drop(taken);
            assert!(!lock.exists(), "{written}");
        }
    }

    #[test]
    fn somebodys_file_of_that_name_stays() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path().join("results.db");
        let lock = directory.path().join("results.db-lock");
        let refused = |what: &str| {
            let error = RunLock::take(&results).unwrap_err();
            assert!(matches!(error, ResultsError::LockTaken { .. }), "{what}: {error}");
            assert!(error.to_string().contains("results.db-lock"), "{error}");
        };
        std::fs::write(&lock, "precious").unwrap();
        refused("a file");
        assert_eq!(std::fs::read(&lock).unwrap(), b"precious");
        std::fs::remove_file(&lock).unwrap();

        std::fs::write(&lock, "").unwrap();
        drop(RunLock::take(&results).unwrap());
        assert_eq!(
            std::fs::read(&lock).unwrap(),
            b"",
            "an empty file may be another program's too"
        );
        std::fs::remove_file(&lock).unwrap();

        let other = directory.path().join("other");
        std::fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&other, &lock).unwrap();
        refused("a symbolic link");
        assert!(lock.is_symlink() && other.exists());
        std::fs::remove_file(&lock).unwrap();

        std::fs::create_dir(&lock).unwrap();
        refused("a directory");
        std::fs::remove_dir(&lock).unwrap();

        nix::unistd::mkfifo(&lock, nix::sys::stat::Mode::S_IRWXU).unwrap();
        refused("a FIFO");
        assert!(lock.exists());
    }
}
