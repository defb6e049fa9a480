//! The directory of a lab: ownership, locking, and the guests that run in it.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

use super::mark::{self, Lock};
use super::state::{self, FILE, State};
use crate::error::{LabError, at};
use crate::qemu::folder::{PID_FILE, is_guests};
use crate::qemu::{Guest, Process, image_tool};

/// A lab's directory, locked for this process while this lives.
#[derive(Debug)]
pub(super) struct Directory {
    /// Absolute and without links, so that its spelling is unique.
    pub(super) path: PathBuf,
    lock: Lock,
}

const GUESTS: &str = "guests";
/// The lock file of labs from before the marker file existed: an empty file.
const OLD_LOCK: &str = "lock";

/// What a study has done and not undone, one fault a line.
pub(super) const FAULTS: &str = "lab.json.faults";
/// The record of the snapshot in the lab's directory.
pub(super) const SNAPSHOT: &str = "lab.json.snapshot";
/// Its successor, while it is being written.
pub(super) const NEW_SNAPSHOT: &str = "lab.json.snapshot.new";

/// Locked while a desktop's guest is frozen.
pub(super) const FREEZING: &str = "freezing";

/// Files of a lab in addition to its marker.
const OWN_FILES: [&str; 6] = [FILE, state::NEW, FAULTS, SNAPSHOT, NEW_SNAPSHOT, FREEZING];

/// The guest with this name and its folder.
pub(super) fn guest(directory: &Path, name: &str) -> Guest {
    Guest { name: name.into(), folder: directory.join(GUESTS).join(name) }
}

impl Directory {
    /// Creates the directory or takes it over: an empty one, or one that a lab has left.
    ///
    /// # Errors
    /// It belongs to another user, contains other things, or another process works in it.
    pub(super) fn claim(path: &Path) -> Result<Self, LabError> {
        if !path.exists() {
            // Other users must not see consoles or give commands.
            fs::DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(at(path))?;
        }
        let path = fs::canonicalize(path).map_err(at(path))?;
        check_owner(&path)?;
        let is_empty = fs::read_dir(&path).map_err(at(&path))?.next().is_none();
        if !is_empty && !is_labs(&path) {
            return Err(mark::foreign(&path));
        }
        let lock = Lock::take(&path)?;
        Ok(Self { path, lock })
    }

    /// Opens the directory of a lab that has been started.
    pub(super) fn open(path: &Path) -> Result<Self, LabError> {
        let path = existing(path)?;
        let lock = Lock::take(&path)?;
        Ok(Self { path, lock })
    }

    /// Fails if guests run in the directory.
    pub(super) fn check_idle(&self) -> Result<(), LabError> {
        let guests = self.processes().len();
        if guests == 0 {
            return Ok(());
        }
        Err(LabError::Running { directory: self.path.clone(), guests })
    }

    /// Ends every guest by its process id; storage guests last, because a VM whose storage is gone
    /// would wait for it. Returns their number.
    pub(super) fn end_guests(&self) -> Result<usize, LabError> {
        let state = State::read(&self.path);
        let serves = |process: &Process| {
            let storage = state.iter().flat_map(|state| &state.lab.storage);
            storage.into_iter().any(|storage| storage.name == process.guest())
        };
        image_tool::end_below(&self.path);
        let processes = self.processes();
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

    /// The running guests: processes that were started with the pid file in a folder of ours.
    fn processes(&self) -> Vec<Process> {
        let folders = self.guests();
        let is_ours = |process: &Process| {
            folders.iter().any(|folder| folder.join(PID_FILE) == process.pid_file)
        };
        Process::below(&self.path).into_iter().filter(is_ours).collect()
    }

    /// The folders of guests: those with a marker, and those named in the lab's own file.
    fn guests(&self) -> Vec<PathBuf> {
        let all = self.path.join(GUESTS);
        let named =
            state::names(&self.path).unwrap_or_default().into_iter().map(|name| all.join(name));
        let mut folders: Vec<PathBuf> = named.collect();
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            if is_guests(&entry.path()) && !folders.contains(&entry.path()) {
                folders.push(entry.path());
            }
        }
        folders
    }

    /// Removes everything that a lab has created; the directory itself if nothing else is in it.
    pub(super) fn clear(self) -> Result<(), LabError> {
        for folder in self.guests() {
            gone(fs::remove_dir_all(&folder)).map_err(at(&folder))?;
        }
        // A folder that was not marked yet is empty. If other files were put there, it is not, and
        // stays.
        let all = self.path.join(GUESTS);
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            let _ = fs::remove_dir(entry.path());
        }
        let _ = fs::remove_dir(&all);
        let is_old = state::names(&self.path).is_some();
        for name in OWN_FILES {
            let path = self.path.join(name);
            gone(fs::remove_file(&path)).map_err(at(&path))?;
        }
        let old = self.path.join(OLD_LOCK);
        if is_old
            && fs::symlink_metadata(&old).is_ok_and(|found| found.is_file() && found.len() == 0)
        {
            let _ = fs::remove_file(&old);
        }
        // The marker goes last.
        self.lock.remove(&self.path)?;
        // Other files may have been put there.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

/// A file that did not exist counts as removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Whether the directory has a lab's marker, or the file in which a lab describes itself.
fn is_labs(path: &Path) -> bool {
    mark::is_labs(path) || (!path.join(mark::LAB).is_symlink() && state::names(path).is_some())
}

/// The directory of a lab that has been started, and its stored state.
pub(super) fn started(path: &Path) -> Result<(PathBuf, State), LabError> {
    let path = existing(path)?;
    match State::read(&path) {
        Some(state) => Ok((path, state)),
        None => Err(LabError::NoLab { directory: path }),
    }
}

fn existing(path: &Path) -> Result<PathBuf, LabError> {
    let no_lab = || LabError::NoLab { directory: path.to_owned() };
    let path = fs::canonicalize(path).map_err(|_| no_lab())?;
    if is_labs(&path) {
        check_owner(&path)?;
        return Ok(path);
    }
    // It looks like a lab, but belongs to another user.
    let looks = [FILE, OLD_LOCK, mark::LAB, GUESTS].iter().any(|name| path.join(name).exists());
    Err(if looks { mark::foreign(&path) } else { no_lab() })
}

fn check_owner(path: &Path) -> Result<(), LabError> {
    let found = fs::metadata(path).map_err(at(path))?;
    if !found.is_dir() {
        return Err(LabError::NotOurs { directory: path.into(), why: "it is not a directory" });
    }
    if found.uid() != Uid::effective().as_raw() {
        return Err(LabError::NotOurs { directory: path.into(), why: "it is another user's" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qemu::folder::make;

    #[test]
    fn a_directory_with_other_things_is_not_taken_and_nothing_of_it_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("photos");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("cat.jpg"), "cat").unwrap();
        let error = Directory::claim(&path).unwrap_err().to_string();
        assert!(error.contains("other things") && error.contains("another directory"), "{error}");
        assert!(matches!(Directory::open(&path), Err(LabError::NoLab { .. })));
        assert!(path.join("cat.jpg").exists());
        let error = Directory::claim(&path.join("cat.jpg")).unwrap_err().to_string();
        assert!(error.contains("not a directory"), "{error}");
    }

    #[test]
    fn one_works_in_it_at_a_time_and_what_was_made_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/lab");
        let first = Directory::claim(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        assert!(matches!(Directory::claim(&path), Err(LabError::Busy { .. })));
        fs::create_dir_all(guest(&first.path, "vm1").folder).unwrap();
        make(&guest(&first.path, "vm1").folder).unwrap();
        fs::write(path.join(FILE), "half").unwrap();
        // As in a child that is forked meanwhile.
        let _forked = first.lock.forked();
        drop(first);
        let second = Directory::claim(&path).unwrap();
        second.clear().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn foreign_files_stay() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("lab");
        let first = Directory::claim(&path).unwrap();
        make(&guest(&first.path, "vm1").folder).unwrap();
        let mine = ["notes.txt", "lab.json.copy", "lock", "guests/own/disk.qcow2"];
        fs::create_dir(path.join("guests/own")).unwrap();
        mine.iter().for_each(|name| fs::write(path.join(name), "mine").unwrap());
        first.clear().unwrap();
        assert!(mine.iter().all(|name| path.join(name).exists()));
        assert!(!path.join(mark::LAB).exists() && !path.join("guests/vm1").exists());
    }

    /// Everything in a directory, with contents.
    fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(path).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                found.extend(contents(&path));
            }
            found.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
        found.sort();
        found
    }

    #[test]
    fn what_looks_like_a_lab_and_is_foreign_is_refused_and_untouched() {
        // What is in the directory in addition to `guests/web`.
        for files in [
            &[("lock", "")][..],
            &[("lock", "12345\n"), ("README", "readme")],
            &[],
            &[("lab.json", "{}")],
            &[("lab.json", r#"{"version": 4, "lab": "home"}"#), ("lock", "")],
            &[(mark::LAB, "another program's")],
        ] {
            let parent = tempfile::tempdir().unwrap();
            let path = parent.path().join("notalab");
            fs::create_dir_all(path.join("guests/web")).unwrap();
            fs::write(path.join("guests/web/disk.qcow2"), "precious").unwrap();
            files.iter().for_each(|(name, text)| fs::write(path.join(name), text).unwrap());
            let before = contents(&path);
            let (mut child, _keys) = pretender(&path.join("guests/web/pid"));
            for refused in [
                Directory::claim(&path).map(drop),
                Directory::open(&path).map(drop),
                started(&path).map(drop),
            ] {
                assert!(matches!(refused, Err(LabError::NotOurs { .. })), "{files:?}: {refused:?}");
            }
            assert_eq!(contents(&path), before, "{files:?}");
            assert!(child.try_wait().unwrap().is_none(), "it still runs");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_process_of_a_foreign_folder_in_a_lab_is_not_ended() {
        let parent = tempfile::tempdir().unwrap();
        let lab = Directory::claim(&parent.path().join("lab")).unwrap();
        let folder = guest(&lab.path, "own").folder;
        fs::create_dir_all(&folder).unwrap();
        let (mut child, _keys) = pretender(&folder.join(PID_FILE));
        lab.check_idle().unwrap();
        assert_eq!(lab.end_guests().unwrap(), 0);
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn one_that_was_killed_before_it_could_write_anything_is_taken_up_and_ended() {
        let parent = tempfile::tempdir().unwrap();
        for words in ["", "A lab of"] {
            let path = parent.path().join("lab");
            fs::create_dir(&path).unwrap();
            fs::write(path.join(mark::LAB), words).unwrap();
            // A guest's folder that has not been marked yet.
            fs::create_dir_all(path.join("guests/vm1")).unwrap();
            drop(Directory::claim(&path).unwrap());
            Directory::open(&path).unwrap().clear().unwrap();
            assert!(!path.exists());
        }
    }

    /// Like labs from before marker files existed.
    #[test]
    fn the_guests_of_a_lab_without_marks_are_those_that_its_file_names() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("lab");
        fs::create_dir_all(path.join("guests/vm1")).unwrap();
        fs::create_dir_all(path.join("guests/own")).unwrap();
        fs::write(path.join("guests/vm1/console.log"), "").unwrap();
        fs::write(path.join("guests/own/disk"), "mine").unwrap();
        fs::write(path.join(OLD_LOCK), "").unwrap();
        let text = r#"{"version": 3, "lab": {"storage": [], "hosts": [{"name": "../own"}], "vms": [{"name": "vm1"}]}}"#;
        fs::write(path.join(FILE), text).unwrap();
        Directory::open(&path).unwrap().clear().unwrap();
        let own = path.canonicalize().unwrap().join("guests/own");
        let left: Vec<PathBuf> = contents(&path).into_iter().map(|(path, _)| path).collect();
        assert_eq!(left.len(), 3, "{left:?}");
        assert!(own.join("disk").exists());
    }

    /// A process that looks like a guest; it ends when its second part does.
    fn pretender(pid_file: &Path) -> (std::process::Child, std::process::ChildStdin) {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "echo; read line", "guest", "-pidfile"])
            .arg(pid_file)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        // Waiting for a child closes its standard input, at whose end it would exit.
        let keys = child.stdin.take().unwrap();
        (child, keys)
    }

    #[test]
    fn guests_that_a_killed_up_has_left_are_found_and_ended() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("lab");
        let lab = Directory::claim(&path).unwrap();
        let guest = guest(&lab.path, "vm1");
        make(&guest.folder).unwrap();
        let (mut child, _keys) = pretender(&guest.pid_file());
        let error = lab.check_idle().unwrap_err().to_string();
        assert!(error.contains("1 guests") && error.contains("lab down"), "{error}");
        let waiter = std::thread::spawn(move || child.wait().unwrap());
        assert_eq!(lab.end_guests().unwrap(), 1);
        waiter.join().unwrap();
        lab.check_idle().unwrap();
    }
}
