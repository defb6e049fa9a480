//! The directory of a cluster: where everything is.
//!
//! The daemons run in it and have their admin sockets in `run`, by a relative path: the address of a
//! socket has space for 108 bytes (unix(7)), and a directory of tests may be deep. We reach them
//! through the open directory.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use crate::CephError;
use crate::error::at;

/// The file that says that the directory is ours, and what is in it.
pub(crate) const STATE: &str = "stormeter-ceph.json";

/// What we make, besides the state file and the directories of OSDs, which begin with `osd.`.
pub(crate) const FILES: [&str; 4] = ["ceph.conf", "client.admin.keyring", "mon.keyring", "mon.map"];
pub(crate) const FOLDERS: [&str; 7] =
    ["run", "log", "modules", "mon.a", "mgr.x", "disks", "stores"];

/// An open directory.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    open: File,
}

impl Directory {
    /// Opens one that exists.
    pub(crate) fn open(path: &Path) -> Result<Self, CephError> {
        let path = path.canonicalize().map_err(at(path))?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
        if !path.to_str().is_some_and(|text| text.chars().all(is_plain)) {
            return Err(CephError::Path { path });
        }
        let open = File::open(&path).map_err(at(&path))?;
        Ok(Self { path, open })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn conf(&self) -> PathBuf {
        self.file("ceph.conf")
    }

    pub(crate) fn admin_keyring(&self) -> PathBuf {
        self.file("client.admin.keyring")
    }

    /// Where a daemon has its data, by its name.
    pub(crate) fn data(&self, daemon: &str) -> PathBuf {
        self.file(daemon)
    }

    pub(crate) fn keyring(&self, daemon: &str) -> PathBuf {
        self.data(daemon).join("keyring")
    }

    /// Where the disk of an OSD is mounted.
    pub(crate) fn disk(&self, id: u32) -> PathBuf {
        self.file("disks").join(id.to_string())
    }

    /// The file that holds what is on the disk of an OSD.
    pub(crate) fn store(&self, id: u32) -> PathBuf {
        self.file("stores").join(id.to_string())
    }

    /// What a daemon printed: its errors, mostly.
    pub(crate) fn output(&self, daemon: &str) -> PathBuf {
        self.file("log").join(format!("{daemon}.out"))
    }

    /// The daemon's own log, which is long.
    pub(crate) fn log(&self, daemon: &str) -> PathBuf {
        self.file("log").join(format!("{daemon}.log"))
    }

    /// A path of at most 107 bytes to a daemon's admin socket, valid while this value lives.
    pub(crate) fn socket(&self, daemon: &str) -> PathBuf {
        let open = self.open.as_raw_fd().to_string();
        Path::new("/proc/self/fd").join(open).join("run").join(format!("{daemon}.asok"))
    }

    /// The end of what a daemon wrote, for an error message.
    pub(crate) fn tail(&self, daemon: &str) -> String {
        let printed = tail(&self.output(daemon));
        if printed.is_empty() { tail(&self.log(daemon)) } else { printed }
    }
}

fn tail(log: &Path) -> String {
    const LINES: usize = 30;
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // Ceph follows each line by an empty one.
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_reached_however_deep_the_directory_is() {
        let scratch = tempfile::tempdir().unwrap();
        let deep = scratch.path().join("d".repeat(100)).join("e".repeat(100));
        std::fs::create_dir_all(deep.join("run")).unwrap();
        let directory = Directory::open(&deep).unwrap();
        let socket = directory.socket("osd.63");
        assert!(socket.as_os_str().len() <= 107, "{}", socket.display());
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(deep.join("run/osd.63.asok").exists());
    }

    #[test]
    fn a_path_that_a_conf_file_cannot_hold_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        for name in ["a#b", "a b", "a;b", "$a", "a\"b"] {
            let path = scratch.path().join(name);
            std::fs::create_dir(&path).unwrap();
            assert!(matches!(Directory::open(&path), Err(CephError::Path { .. })), "{name}");
        }
    }

    #[test]
    fn the_tail_is_what_was_printed_or_else_the_log() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(scratch.path()).unwrap();
        std::fs::create_dir(directory.file("log")).unwrap();
        std::fs::write(directory.log("osd.0"), "first\n\nlast\n").unwrap();
        assert_eq!(directory.tail("osd.0"), "first\nlast");
        std::fs::write(directory.output("osd.0"), "why\n").unwrap();
        assert_eq!(directory.tail("osd.0"), "why");
    }
}
