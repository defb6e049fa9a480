//! The directory of a lab: whose it is, who works in it, what runs in it.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

use super::state::{FILE, State};
use crate::error::{LabError, at};
use crate::qemu::{Guest, Process};

/// A directory that is a lab's, and locked for this process as long as this lives.
#[derive(Debug)]
pub(super) struct Directory {
    /// Absolute and without links, so that it is always spelt alike.
    pub(super) path: PathBuf,
    lock: File,
}

const LOCK: &str = "lock";
const GUESTS: &str = "guests";

/// Where the guests' folders are.
pub(super) fn guest(directory: &Path, name: &str) -> Guest {
    Guest { name: name.into(), folder: directory.join(GUESTS).join(name) }
}

impl Directory {
    /// Makes it or takes it over: an empty directory, or one that a lab has left.
    ///
    /// # Errors
    /// It is somebody else's, has other things in it, or somebody works in it.
    pub(super) fn claim(path: &Path) -> Result<Self, LabError> {
        if !path.exists() {
            // Nobody else may look at consoles or give commands.
            fs::DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(at(path))?;
        }
        let path = fs::canonicalize(path).map_err(at(path))?;
        check_owner(&path)?;
        let names: Vec<String> = fs::read_dir(&path)
            .map_err(at(&path))?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        // A lab that was killed before it could write anything has made its lock.
        let is_labs = names.iter().any(|name| name == FILE || name == LOCK);
        if !names.is_empty() && !is_labs {
            return Err(LabError::NotOurs { directory: path, why: "there are other things in it" });
        }
        Self::lock(path)
    }

    /// The directory of a lab that was started.
    pub(super) fn open(path: &Path) -> Result<Self, LabError> {
        let path = existing(path)?;
        Self::lock(path)
    }

    fn lock(path: PathBuf) -> Result<Self, LabError> {
        let file = path.join(LOCK);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&file)
            .map_err(at(&file))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, lock }),
            Err(TryLockError::WouldBlock) => Err(LabError::Busy { directory: path }),
            Err(TryLockError::Error(source)) => Err(at(&file)(source)),
        }
    }

    /// Refuses a directory with guests in it.
    pub(super) fn check_idle(&self) -> Result<(), LabError> {
        let guests = Process::below(&self.path).len();
        if guests == 0 {
            return Ok(());
        }
        Err(LabError::Running { directory: self.path.clone(), guests })
    }

    /// Ends every guest, by its own process id; storage guests last, for a VM whose storage is gone
    /// waits for it. How many there were.
    pub(super) fn end_guests(&self) -> Result<usize, LabError> {
        let state = State::read(&self.path);
        let serves = |process: &Process| {
            let storage = state.iter().flat_map(|state| &state.lab.storage);
            storage.into_iter().any(|storage| storage.name == process.guest())
        };
        let processes = Process::below(&self.path);
        let (storage, others): (Vec<&Process>, Vec<&Process>) =
            processes.iter().partition(|process| serves(process));
        for side_by_side in [others, storage] {
            let results: Vec<Result<(), LabError>> = std::thread::scope(|scope| {
                let ends: Vec<_> =
                    side_by_side.iter().map(|process| scope.spawn(|| process.end())).collect();
                ends.into_iter().filter_map(|end| end.join().ok()).collect()
            });
            results.into_iter().collect::<Result<(), LabError>>()?;
        }
        Ok(processes.len())
    }

    /// Removes what a lab has made; the directory itself when nothing else is in it.
    pub(super) fn clear(self) -> Result<(), LabError> {
        for entry in fs::read_dir(&self.path).map_err(at(&self.path))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let removed = match name.as_str() {
                GUESTS => fs::remove_dir_all(&path),
                // The lock is the last.
                _ if name.starts_with("lab.json") => fs::remove_file(&path),
                _ => Ok(()),
            };
            removed.map_err(at(&path))?;
        }
        let lock = self.path.join(LOCK);
        fs::remove_file(&lock).map_err(at(&lock))?;
        // Somebody may have put something of his own there.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

/// A directory in which a lab was started, and its own description of it.
pub(super) fn started(path: &Path) -> Result<(PathBuf, State), LabError> {
    let path = existing(path)?;
    match State::read(&path) {
        Some(state) => Ok((path, state)),
        None => Err(LabError::NoLab { directory: path }),
    }
}

impl Drop for Directory {
    /// Not by closing it: a child that another thread has forked and that is not its own program yet has the lock, too.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

fn existing(path: &Path) -> Result<PathBuf, LabError> {
    let no_lab = || LabError::NoLab { directory: path.to_owned() };
    let path = fs::canonicalize(path).map_err(|_| no_lab())?;
    if !path.join(FILE).exists() && !path.join(LOCK).exists() {
        return Err(no_lab());
    }
    check_owner(&path)?;
    Ok(path)
}

fn check_owner(path: &Path) -> Result<(), LabError> {
    let found = fs::metadata(path).map_err(at(path))?;
    if !found.is_dir() {
        return Err(LabError::NotOurs { directory: path.into(), why: "it is no directory" });
    }
    if found.uid() != Uid::effective().as_raw() {
        return Err(LabError::NotOurs { directory: path.into(), why: "it is another user's" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_other_things_is_not_taken_and_nothing_of_it_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("photos");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("cat.jpg"), "cat").unwrap();
        let error = Directory::claim(&path).unwrap_err().to_string();
        assert!(error.contains("other things") && error.contains("--dir"), "{error}");
        assert!(matches!(Directory::open(&path), Err(LabError::NoLab { .. })));
        assert!(path.join("cat.jpg").exists());
        let error = Directory::claim(&path.join("cat.jpg")).unwrap_err().to_string();
        assert!(error.contains("no directory"), "{error}");
    }

    #[test]
    fn one_works_in_it_at_a_time_and_what_was_made_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/lab");
        let first = Directory::claim(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        assert!(matches!(Directory::claim(&path), Err(LabError::Busy { .. })));
        fs::create_dir_all(guest(&first.path, "vm1").folder).unwrap();
        fs::write(path.join(FILE), "half").unwrap();
        // As a child has it that is forked meanwhile.
        let _forked = first.lock.try_clone().unwrap();
        drop(first);
        let second = Directory::claim(&path).unwrap();
        second.clear().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_somebody_put_there_stays() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("lab");
        let first = Directory::claim(&path).unwrap();
        fs::write(path.join("notes.txt"), "mine").unwrap();
        first.clear().unwrap();
        assert!(path.join("notes.txt").exists() && !path.join(LOCK).exists());
    }

    #[test]
    fn guests_that_a_killed_up_has_left_are_found_and_ended() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("lab");
        let lab = Directory::claim(&path).unwrap();
        let pid_file = guest(&lab.path, "vm1").pid_file();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "echo; read line", "guest", "-pidfile"])
            .arg(&pid_file)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let error = lab.check_idle().unwrap_err().to_string();
        assert!(error.contains("1 guests") && error.contains("lab down"), "{error}");
        // To wait for a child closes what it reads from, at whose end it would end by itself.
        let _keys = child.stdin.take();
        let waiter = std::thread::spawn(move || child.wait().unwrap());
        assert_eq!(lab.end_guests().unwrap(), 1);
        waiter.join().unwrap();
        lab.check_idle().unwrap();
    }
}
