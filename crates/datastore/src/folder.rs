//! Our own folder on the user's file system: `.stormeter-<run id>-<number>`.
//!
//! Everything goes through descriptors of the folder and never through a path again, and no
//! symbolic link is followed, so that no other process can redirect us between a check and its use. We
//! remove only the files that we create, by name, and the folder if it is then empty: other files in it
//! stay.

use std::fs::{File, ReadDir};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, fstat, mkdirat};
use nix::unistd::{UnlinkatFlags, fsync, unlinkat};
use stormeter_disk::DatastoreFact;

use crate::owner::{MAX_MARK_BYTES, Owner, is_run_id};
use crate::{DatastoreError, Filesystem};

/// The prefix of every folder's name.
const PREFIX: &str = ".stormeter-";
pub(crate) const MARK: &str = "owner.json";
pub(crate) const NEW_MARK: &str = "owner.json.new";
/// The file with which the file system's abilities are probed.
pub(crate) const PROBE: &str = "probe";

/// A folder that carries our mark, held open.
pub(crate) struct Folder {
    parent: OwnedFd,
    fd: OwnedFd,
    name: String,
    path: PathBuf,
}

/// The name of the folder for a run's datastore.
pub(crate) fn folder_name(run_id: &str, number: u32) -> String {
    format!("{PREFIX}{run_id}-{number}")
}

/// The run in such a folder's name; `None` if the name is not one that we create.
pub(crate) fn run_of_folder(name: &str) -> Option<&str> {
    let (run_id, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let number: u32 = number.parse().ok()?;
    (is_run_id(run_id) && name == folder_name(run_id, number)).then_some(run_id)
}

/// The name of a disk's file.
pub(crate) fn disk_name(disk: u32) -> String {
    format!("disk-{disk:05}")
}

/// The disk whose file has this name.
pub(crate) fn disk_of_file(name: &str) -> Option<u32> {
    let disk = name.strip_prefix("disk-")?.parse().ok()?;
    (name == disk_name(disk)).then_some(disk)
}

/// Whether other hosts may work in a directory too, or whether that is unknown.
pub(crate) fn is_shared(directory: &Path) -> bool {
    Filesystem::of(directory).is_none_or(|found| found.is_shared())
}

impl Folder {
    /// Creates the folder, or takes over that of an earlier process of the same run. Returns the
    /// mark that it now carries.
    pub(crate) fn claim(
        directory: &Path,
        name: &str,
        run_id: &str,
    ) -> Result<(Self, Owner), DatastoreError> {
        let parent = open_directory(directory)?;
        let path = directory.join(name);
        let mut owner = Owner::here(run_id);
        let mut made = false;
        match mkdirat(&parent, name, Mode::S_IRWXU) {
            Ok(()) => made = true,
            Err(Errno::EEXIST) => {
                let taken = || DatastoreError::NameTaken { path: path.clone() };
                let folder = Self::open(directory, name).map_err(|_| taken())?;
                match folder.owner() {
                    Some(old) if old.run_id == run_id => {
                        let remedy = format!("remove it (rm -r {})", path.display());
                        old.refuse_if_used(&path, is_shared(directory), remedy)?;
                        owner.continue_with(&old);
                    }
                    Some(_) => return Err(taken()),
                    // A run that was killed between creating the folder and marking it.
                    None if folder.is_empty() => {}
                    None => return Err(taken()),
                }
            }
            // procfs and sysfs give other errors for the same refusal.
            Err(Errno::ENOENT) => {
                return Err(DatastoreError::NoPermission {
                    action: "create a folder in",
                    path: directory.into(),
                });
            }
            Err(errno) => {
                return Err(DatastoreError::system("create a folder in", directory, errno));
            }
        }
        let folder = Self::open(directory, name)
            .map_err(|error| DatastoreError::system("open", &path, error))?;
        if let Err(error) = folder.write_owner(&owner) {
            if made {
                folder.remove(0);
            }
            return Err(error);
        }
        Ok((folder, owner))
    }

    /// Opens the folder of this name, whatever its origin.
    pub(crate) fn open(directory: &Path, name: &str) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let parent = open(directory, flags, Mode::empty())?;
        let fd = openat(&parent, name, flags | OFlag::O_NOFOLLOW, Mode::empty())?;
        Ok(Self { parent, fd, name: name.into(), path: directory.join(name) })
    }

    /// The folder's path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the file system that it is on (`st_dev`).
    pub(crate) fn device_number(&self) -> Option<u64> {
        fstat(&self.fd).ok().map(|stat| stat.st_dev)
    }

    fn is_empty(&self) -> bool {
        self.list()
            .is_ok_and(|entries| entries.flatten().all(|entry| entry.file_name() == NEW_MARK))
    }

    /// The mark, if there is a valid one.
    pub(crate) fn owner(&self) -> Option<Owner> {
        let file = self.open_file(MARK, OFlag::O_RDONLY | OFlag::O_NONBLOCK).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MAX_MARK_BYTES as u64).read_to_end(&mut bytes).ok()?;
        Owner::parse(&bytes)
    }

    /// Replaces the mark atomically: it is never half written.
    pub(crate) fn write_owner(&self, owner: &Owner) -> Result<(), DatastoreError> {
        let write = || -> io::Result<()> {
            self.unlink(NEW_MARK)?;
            let mut file = self.create_file(NEW_MARK, OFlag::empty())?;
            file.write_all(&owner.to_json())?;
            file.sync_all()?;
            renameat(&self.fd, NEW_MARK, &self.fd, MARK)?;
            Ok(())
        };
        write().map_err(|error| DatastoreError::system("write", self.path.join(MARK), error))
    }

    /// Puts the names of the folder and of the files in it on stable storage.
    pub(crate) fn sync(&self) -> Result<(), DatastoreError> {
        fsync(&self.fd)
            .and_then(|()| fsync(&self.parent))
            .map_err(|errno| DatastoreError::system("sync", &self.path, errno))
    }

    /// Opens a file in the folder; never through a symbolic link.
    pub(crate) fn open_file(&self, name: &str, flags: OFlag) -> nix::Result<File> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        openat(&self.fd, name, flags, Mode::empty()).map(File::from)
    }

    /// Creates a file that does not exist yet, for reading and writing.
    pub(crate) fn create_file(&self, name: &str, flags: OFlag) -> nix::Result<File> {
        let flags = flags
            | OFlag::O_RDWR
            | OFlag::O_CREAT
            | OFlag::O_EXCL
            | OFlag::O_NOFOLLOW
            | OFlag::O_CLOEXEC;
        openat(&self.fd, name, flags, Mode::S_IRUSR | Mode::S_IWUSR).map(File::from)
    }

    /// Removes a file from the folder; a missing file is fine.
    pub(crate) fn unlink(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Its contents. The name in /proc belongs to the descriptor: it is right even after the folder was
    /// moved.
    fn list(&self) -> io::Result<ReadDir> {
        std::fs::read_dir(format!("/proc/self/fd/{}", self.fd.as_raw_fd()))
            .or_else(|_| std::fs::read_dir(&self.path))
    }

    /// Removes those of the first `count` disks that exist, as far as possible.
    pub(crate) fn remove_disks(&self, count: u32) {
        let Ok(entries) = self.list() else { return };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let is_disk = |name: &String| disk_of_file(name).is_some_and(|disk| disk < count);
        // List them all first: what a listing shows while files disappear depends on the file system.
        for name in names.filter(is_disk).collect::<Vec<_>>() {
            // Anything that cannot be removed shows up when the folder is not empty.
            let _ = self.unlink(&name);
        }
    }

    /// Removes our files and the folder. If the folder stays, says why.
    pub(crate) fn remove(&self, disks: u32) -> Option<DatastoreFact> {
        self.remove_disks(disks);
        for name in [PROBE, NEW_MARK, MARK] {
            let _ = self.unlink(name);
        }
        let path = self.path.display().to_string();
        match unlinkat(&self.parent, self.name.as_str(), UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => None,
            Err(Errno::ENOTEMPTY | Errno::EEXIST) => Some(DatastoreFact::ForeignFiles { path }),
            Err(errno) => Some(DatastoreFact::NotRemoved { path, said: errno.desc().to_owned() }),
        }
    }
}

/// Opens a datastore's directory.
fn open_directory(directory: &Path) -> Result<OwnedFd, DatastoreError> {
    let path = || directory.to_path_buf();
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    open(directory, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::ENOENT => DatastoreError::Missing { path: path() },
        Errno::ENOTDIR => DatastoreError::NotADirectory { path: path() },
        errno => DatastoreError::system("open", directory, errno),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const RUN: &str = "0123456789abcdef";
    const NAME: &str = ".stormeter-0123456789abcdef-0";

    fn claim(directory: &Path) -> Result<(Folder, Owner), DatastoreError> {
        Folder::claim(directory, NAME, RUN)
    }

    #[test]
    fn it_is_made_marked_and_removed_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, owner) = claim(directory.path()).unwrap();
        assert_eq!(folder.owner(), Some(owner));
        folder.create_file(&disk_name(0), OFlag::empty()).unwrap();
        assert_eq!(folder.remove(1), None);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn it_is_found_again_after_its_directory_was_moved() {
        let directory = tempfile::tempdir().unwrap();
        let (before, after) = (directory.path().join("before"), directory.path().join("after"));
        fs::create_dir(&before).unwrap();
        let (folder, _) = claim(&before).unwrap();
        folder.create_file(&disk_name(0), OFlag::empty()).unwrap();
        fs::rename(&before, &after).unwrap();
        assert_eq!(folder.remove(1), None);
        assert_eq!(fs::read_dir(after).unwrap().count(), 0);
    }

    #[test]
    fn only_names_that_we_give_are_ours() {
        assert_eq!(folder_name(RUN, 0), NAME);
        assert_eq!(run_of_folder(NAME), Some(RUN));
        assert_eq!(run_of_folder(".stormeter-0123456789abcdef-4294967295"), Some(RUN));
        for name in [
            ".stormeter-evil",
            ".stormeter-0123456789abcdef",
            ".stormeter-0123456789abcdef-",
            ".stormeter-0123456789abcdef-00",
            ".stormeter-0123456789abcdef-+1",
            ".stormeter-0123456789abcdef-0-0",
            ".stormeter-0123456789ABCDEF-0",
            "stormeter-0123456789abcdef-0",
        ] {
            assert_eq!(run_of_folder(name), None, "{name}");
        }
        assert_eq!(disk_of_file("disk-00042"), Some(42));
        for name in ["disk-42", "disk-+0042", "disk-00042.bak", "disk-", "disk-000042"] {
            assert_eq!(disk_of_file(name), None, "{name}");
        }
    }

    #[test]
    fn disks_beyond_the_count_and_names_alike_stay() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, _) = claim(directory.path()).unwrap();
        for name in ["disk-00000", "disk-00001", "disk-00002", "disk-0", "disk-00000~"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        folder.remove_disks(2);
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["disk-0", "disk-00000~", "disk-00002", "owner.json"]);
        // Bounded by what exists rather than by what a mark says.
        folder.remove_disks(u32::MAX);
        assert!(!folder.path().join("disk-00002").exists());
    }

    #[test]
    fn foreign_files_survive_the_removal() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, _) = claim(directory.path()).unwrap();
        let photo = folder.path().join("holiday.jpg");
        fs::write(&photo, "precious").unwrap();
        let path = folder.path().display().to_string();
        assert_eq!(folder.remove(3), Some(DatastoreFact::ForeignFiles { path }));
        assert_eq!(fs::read_to_string(photo).unwrap(), "precious");
    }

    #[test]
    fn a_name_taken_by_others_is_refused_and_untouched() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(NAME);
        let refused = |what: &str| {
            let error = claim(directory.path()).err().unwrap();
            assert!(matches!(error, DatastoreError::NameTaken { .. }), "{what}: {error}");
            assert!(error.to_string().contains("move it away"), "{error}");
        };
        fs::write(&path, "a file").unwrap();
        refused("file");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
        fs::remove_file(&path).unwrap();

        fs::create_dir(&path).unwrap();
        fs::write(path.join("disk-00000"), "not ours").unwrap();
        refused("folder without a mark");
        fs::write(path.join("owner.json"), "{\"magic\":\"other\"}").unwrap();
        refused("folder with another's mark");
        fs::write(path.join("owner.json"), Owner::here("fedcba9876543210").to_json()).unwrap();
        refused("folder of another run");
        assert_eq!(fs::read_to_string(path.join("disk-00000")).unwrap(), "not ours");
        fs::remove_dir_all(&path).unwrap();

        let elsewhere = directory.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("owner.json"), Owner::here(RUN).to_json()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        refused("symbolic link");
    }

    #[test]
    fn the_same_run_goes_on_with_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, mut owner) = claim(directory.path()).unwrap();
        owner.prepared = true;
        folder.write_owner(&owner).unwrap();
        drop(folder);
        let (_, owner) = claim(directory.path()).unwrap();
        assert!(owner.prepared);
    }

    #[test]
    fn an_unmarked_empty_folder_of_a_killed_run_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join(NAME)).unwrap();
        fs::write(directory.path().join(NAME).join(NEW_MARK), "{\"mag").unwrap();
        assert!(claim(directory.path()).is_ok());
    }

    #[test]
    fn links_inside_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, _) = claim(directory.path()).unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "safe").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(disk_name(0))).unwrap();
        assert!(folder.open_file(&disk_name(0), OFlag::O_RDWR).is_err());
        assert!(folder.create_file(&disk_name(0), OFlag::empty()).is_err());
        folder.remove(1);
        assert_eq!(fs::read_to_string(victim).unwrap(), "safe");
    }

    #[test]
    fn bad_places_say_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let message = |path: &Path| claim(path).err().unwrap().to_string();
        assert!(message(&directory.path().join("absent")).contains("mkdir -p"));
        assert!(message(&file).contains("is not a directory"));
        for path in ["/proc", "/sys"] {
            let text = message(Path::new(path));
            assert!(text.contains("no permission") || text.contains("read-only"), "{text}");
        }
    }
}
