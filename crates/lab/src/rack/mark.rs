//! Marks a directory as a lab's: a file of our own, with a name and contents that no other program uses. Without it
//! nothing is removed from a directory and no process there is killed.
//!
//! It is also the lab's lock, and the first file that is created in a directory. A process that is killed, at
//! whatever moment, therefore leaves a directory that is still recognized as a lab's.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use crate::error::{LabError, at};

/// The marker and lock file.
pub(super) const LAB: &str = "stormeter-lab.lock";
/// Its contents.
const WORDS: &[u8] = b"A lab of stormeter is in this directory.\n";

/// The marker file, locked for this process while this lives.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Locks the directory, and marks it if it has no marker yet; the caller has to know that it may be marked.
    ///
    /// # Errors
    /// Another process works in it, or something else has the marker's name.
    pub(super) fn take(directory: &Path) -> Result<Self, LabError> {
        let path = directory.join(LAB);
        loop {
            let mut options = OpenOptions::new();
            // Does not follow a link and does not wait for a FIFO.
            options.read(true).write(true).create(true).custom_flags(O_NOFOLLOW | O_NONBLOCK);
            let file = match options.open(&path) {
                Ok(file) => file,
                Err(_) if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) => {
                    return Err(foreign(directory));
                }
                Err(error) => return Err(at(&path)(error)),
            };
            if !is_ours(&file).map_err(at(&path))? {
                return Err(foreign(directory));
            }
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LabError::Busy { directory: directory.into() });
                }
                Err(TryLockError::Error(source)) => return Err(at(&path)(source)),
            }
            // The previous holder may have removed the file between our opening and locking it.
            if !is_at(&file, &path).map_err(at(&path))? {
                continue;
            }
            if file.metadata().map_err(at(&path))?.len() < WORDS.len() as u64 {
                file.write_all_at(WORDS, 0).map_err(at(&path))?;
            }
            return Ok(Self { file });
        }
    }

    /// Removes the marker, then releases the lock.
    pub(super) fn remove(self, directory: &Path) -> Result<(), LabError> {
        let path = directory.join(LAB);
        fs::remove_file(&path).map_err(at(&path))
    }

    /// The open file, as a child inherits it that is forked meanwhile.
    #[cfg(test)]
    pub(super) fn forked(&self) -> File {
        self.file.try_clone().unwrap()
    }
}

impl Drop for Lock {
    /// Unlocked explicitly, not by closing: a child that another thread has forked and that has not executed its
    /// program yet has the lock, too.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Whether the directory has a lab's marker: a file of that name with those contents, or with a prefix of them that a
/// killed process has left.
pub(super) fn is_labs(directory: &Path) -> bool {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK);
    options.open(directory.join(LAB)).is_ok_and(|file| is_ours(&file).unwrap_or(false))
}

pub(super) fn foreign(directory: &Path) -> LabError {
    let why = "there are other things in it";
    LabError::NotOurs { directory: directory.into(), why }
}

fn is_ours(file: &File) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut words = Vec::new();
    file.take(WORDS.len() as u64 + 1).read_to_end(&mut words)?;
    Ok(WORDS.starts_with(&words))
}

/// Whether the path still refers to that file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let locked = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (locked.dev(), locked.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_one_who_was_killed_while_he_wrote_it_is_a_mark() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LAB);
        assert!(!is_labs(directory.path()));
        for words in [0, 7, WORDS.len()] {
            fs::write(&path, &WORDS[..words]).unwrap();
            assert!(is_labs(directory.path()), "{words}");
            drop(Lock::take(directory.path()).unwrap());
            assert_eq!(fs::read(&path).unwrap(), WORDS);
        }
    }

    #[test]
    fn what_else_has_its_name_is_foreign() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LAB);
        let refused = || {
            assert!(!is_labs(directory.path()));
            let refused = Lock::take(directory.path());
            assert!(matches!(refused, Err(LabError::NotOurs { .. })), "{refused:?}");
        };
        fs::write(&path, "precious").unwrap();
        refused();
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(directory.path().join("nowhere"), &path).unwrap();
        refused();
        assert!(path.is_symlink() && !directory.path().join("nowhere").exists());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused();
    }
}
