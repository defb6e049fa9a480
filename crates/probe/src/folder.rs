//! Our own folder in a user's directory, `.stormeter-net-<16 digits>`, with one file in it.
//!
//! Everything goes through descriptors and never again through a path, no symbolic link is followed
//! and no existing file is opened, so no file can be overwritten. The folder exists as long as the
//! value: however a request ends, the folder and our file are removed; if another file was put
//! there, it remains, and so does the folder.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::ProbeError;
use crate::key::{hex, random_bytes};

const PAYLOAD: &str = "payload";

/// The folder, held open.
pub(crate) struct Folder {
    parent: OwnedFd,
    fd: OwnedFd,
    name: String,
    path: PathBuf,
}

impl Folder {
    /// Creates a folder with an unused name.
    pub(crate) fn create(directory: &Path) -> Result<Self, ProbeError> {
        let name = format!(".stormeter-net-{}", hex(&random_bytes::<8>()?));
        let path = directory.join(&name);
        let failed = |errno: Errno| failed("make the folder", &path, errno.into());
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let parent = open(directory, flags, Mode::empty()).map_err(failed)?;
        mkdirat(&parent, name.as_str(), Mode::S_IRWXU).map_err(failed)?;
        match openat(&parent, name.as_str(), flags | OFlag::O_NOFOLLOW, Mode::empty()) {
            Ok(fd) => Ok(Self { parent, fd, name, path }),
            Err(errno) => {
                // It is empty and ours; the first error is the one to report.
                let _ = unlinkat(&parent, name.as_str(), UnlinkatFlags::RemoveDir);
                Err(failed(errno))
            }
        }
    }

    /// Creates the file, which must not exist yet.
    pub(crate) fn create_file(&self) -> std::io::Result<File> {
        let flags =
            OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = openat(&self.fd, PAYLOAD, flags, Mode::S_IRUSR | Mode::S_IWUSR)?;
        Ok(File::from(file))
    }

    /// Removes the file; it is fine if there is none.
    pub(crate) fn remove_file(&self) -> Result<(), ProbeError> {
        match unlinkat(&self.fd, PAYLOAD, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(self.failed("remove the file in", errno.into())),
        }
    }

    /// An error that names the folder.
    pub(crate) fn failed(&self, action: &'static str, source: std::io::Error) -> ProbeError {
        failed(action, &self.path, source)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure to remove it cannot be reported from here either; its name shows what created
        // it.
        let _ = self.remove_file();
        let _ = unlinkat(&self.parent, self.name.as_str(), UnlinkatFlags::RemoveDir);
    }
}

fn failed(action: &'static str, path: &Path, source: std::io::Error) -> ProbeError {
    ProbeError::Disk { action, path: path.into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::ErrorKind;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn it_goes_with_its_file_when_the_value_goes() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::create(directory.path()).unwrap();
        folder.create_file().unwrap();
        let name = names(directory.path()).pop().unwrap();
        assert!(name.starts_with(".stormeter-net-"), "{name}");
        assert_eq!(names(&directory.path().join(name)), [PAYLOAD]);
        drop(folder);
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[test]
    fn nothing_is_overwritten_and_no_link_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let precious = directory.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        let folder = Folder::create(directory.path()).unwrap();
        std::os::unix::fs::symlink(&precious, folder.path.join(PAYLOAD)).unwrap();
        assert_eq!(folder.create_file().unwrap_err().kind(), ErrorKind::AlreadyExists);
        folder.remove_file().unwrap();
        fs::write(folder.path.join(PAYLOAD), "another program's").unwrap();
        assert_eq!(folder.create_file().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(precious).unwrap(), "precious");
    }

    #[test]
    fn foreign_files_stay() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::create(directory.path()).unwrap();
        let path = folder.path.clone();
        folder.create_file().unwrap();
        fs::write(path.join("holiday.jpg"), "precious").unwrap();
        drop(folder);
        assert_eq!(names(&path), ["holiday.jpg"]);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let error = Folder::create(&missing).err().unwrap().to_string();
        assert!(error.contains("missing/.stormeter-net-"), "{error}");
    }
}
