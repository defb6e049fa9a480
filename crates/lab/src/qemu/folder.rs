//! The folder of a guest: the marker file that identifies it, and how its sockets are addressed.
//!
//! No folder without that file is removed, and no process in it is killed.
//!
//! A socket address has space for 108 bytes (unix(7)), however long a path may be. So QEMU inherits the folder of
//! all guests as an open file, and addresses sockets through it (proc(5), `/proc/pid/fd`), which is short wherever
//! the lab is. Guest names have at most 24 letters and a number.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::process::Process;
use crate::error::{LabError, at};

/// The marker file.
const MARK: &str = "stormeter-lab.guest";
/// The file with the process id; QEMU is started with it and recognized by it.
pub(crate) const PID_FILE: &str = "pid";

/// Creates a guest's folder, if it does not exist, and marks it before anything else is in it.
pub(crate) fn make(folder: &Path) -> Result<(), LabError> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    let mark = folder.join(MARK);
    File::create(&mark).map(drop).map_err(at(&mark))
}

/// Whether the folder is marked. A link to a folder does not count.
pub(crate) fn is_guests(folder: &Path) -> bool {
    let is = |path: &Path, wanted: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(path).is_ok_and(|found| wanted(&found))
    };
    is(folder, fs::Metadata::is_dir) && is(&folder.join(MARK), fs::Metadata::is_file)
}

/// The folder of all guests, open for a process that is about to be started.
#[derive(Debug)]
pub(super) struct Opened {
    folder: PathBuf,
    file: File,
}

impl Opened {
    /// Opens the parent of a guest's folder. Every process that is started while this lives inherits it, which
    /// matters to QEMU only.
    pub(super) fn around(folder: &Path) -> Result<Self, LabError> {
        let all = folder.parent().unwrap_or(folder);
        let file = File::open(all).map_err(at(all))?;
        fcntl(&file, FcntlArg::F_SETFD(FdFlag::empty()))
            .map_err(|errno| at(all)(io::Error::from(errno)))?;
        Ok(Self { folder: all.into(), file })
    }

    /// The path by which the process refers to a file in a guest's folder.
    pub(super) fn name(&self, path: &Path) -> PathBuf {
        through(self.file.as_raw_fd(), path.strip_prefix(&self.folder).unwrap_or(path))
    }
}

/// The path by which a guest's running process refers to a file in the folder of another guest of the lab: the path
/// itself if it did not inherit the folder.
pub(crate) fn seen_by(process: &Process, path: &Path) -> PathBuf {
    let Some(all) = path.parent().and_then(Path::parent) else { return path.into() };
    let of = format!("/proc/{}/fd", process.pid);
    for entry in fs::read_dir(of).into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let (Some(number), Ok(found)) = (number, fs::read_link(entry.path()))
            && found == all
        {
            return through(number, path.strip_prefix(all).unwrap_or(path));
        }
    }
    path.into()
}

fn through(number: i32, rest: &Path) -> PathBuf {
    Path::new("/proc/self/fd").join(number.to_string()).join(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_the_mark_is_a_guests_and_a_link_to_it_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, link) = (directory.path().join("a/vm1"), directory.path().join("link"));
        make(&folder).unwrap();
        make(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(is_guests(&folder) && !is_guests(&link) && !is_guests(directory.path()));
    }

    #[test]
    fn a_process_reaches_sockets_of_a_deep_folder_by_a_short_name() {
        let directory = tempfile::tempdir().unwrap();
        let mut all = directory.path().canonicalize().unwrap();
        (0..4).for_each(|_| all.push("x".repeat(60)));
        make(&all.join("vm1")).unwrap();
        let opened = Opened::around(&all.join("vm1")).unwrap();
        let socket = all.join("vm1/console");
        let name = opened.name(&socket);
        assert!(name.as_os_str().len() < 40, "{name:?}");
        fs::write(&name, "reached").unwrap();
        assert_eq!(fs::read(&socket).unwrap(), b"reached");
        // The child has inherited this open file and no other.
        let mut child = std::process::Command::new("cat");
        let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let process = Process { pid: child.id() as i32, pid_file: PathBuf::new() };
        assert_eq!(seen_by(&process, &socket), name);
        let other = directory.path().join("guests/vm1/qmp");
        assert_eq!(seen_by(&process, &other), other);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
