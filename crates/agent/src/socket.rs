//! Unix sockets at paths of any length: an address has space for 108 bytes (unix(7)), which a path may exceed.
//!
//! So the folder is opened, and the socket is addressed through it (proc(5), `/proc/pid/fd`). Short paths use this
//! too, so that the same code is always exercised.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::libc::{O_DIRECTORY, O_PATH};

/// Connects to the socket at `path`, however long that is.
///
/// # Errors
/// Those of connect(2), and of opening its folder.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    through(path, UnixStream::connect)
}

/// Creates a socket at `path`, however long that is, and listens on it.
///
/// # Errors
/// Those of bind(2), and of opening its folder.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    through(path, UnixListener::bind)
}

fn through<T>(path: &Path, act: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let folder = File::options().read(true).custom_flags(O_PATH | O_DIRECTORY).open(folder)?;
    act(Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_socket_of_a_deep_folder_is_made_and_reached() {
        let directory = tempfile::tempdir().unwrap();
        let mut folder = directory.path().to_owned();
        (0..4).for_each(|_| folder.push("x".repeat(60)));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("socket");
        let listener = listen(&path).unwrap();
        assert!(path.exists());
        let mut near = connect(&path).unwrap();
        near.write_all(b"heard").unwrap();
        drop(near);
        let mut said = String::new();
        listener.accept().unwrap().0.read_to_string(&mut said).unwrap();
        assert_eq!(said, "heard");
        assert!(connect(&folder.join("none")).is_err() && connect(Path::new("/")).is_err());
    }
}
