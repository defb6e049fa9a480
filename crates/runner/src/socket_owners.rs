//! The processes that hold a socket: the links in /proc/PID/fd (proc(5)) name its inode.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The processes that hold some sockets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holders {
    /// Their ids, in ascending order, without this process, whose CPU time is the initiator's.
    pub(crate) pids: Vec<i32>,
    /// Whether there are processes that this one may not inspect.
    pub(crate) hidden: bool,
}

/// The processes that hold one of these sockets.
pub(crate) fn holders(inodes: &HashSet<u64>) -> Holders {
    let own = std::process::id() as i32;
    let mut found = Holders::default();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if pid == own {
            continue;
        }
        match holds(&entry.path().join("fd"), inodes) {
            Ok(true) => found.pids.push(pid),
            Ok(false) => {}
            Err(error) => found.hidden |= error.kind() == ErrorKind::PermissionDenied,
        }
    }
    found.pids.sort_unstable();
    found
}

/// The program that a process runs, as the kernel's link in /proc/PID/exe names it; `None` if it may not
/// be read.
pub(crate) fn program(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Programs that accept connections for others, by their names in /proc/PID/comm (15 letters at most): those that
/// publish the ports of containers, systemd, which listens for services that are not started yet, and relays.
const PROXIES: [&str; 15] = [
    "docker-proxy",
    "rootlessport",
    "rootlesskit",
    "slirp4netns",
    "pasta",
    "passt",
    "gvproxy",
    "systemd",
    "systemd-socket-",
    "inetd",
    "xinetd",
    "haproxy",
    "socat",
    "ssh",
    "stunnel",
];

/// The name of a process that is known to only forward to the servers behind it; `None` for others.
pub(crate) fn proxy(pid: i32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let name = name.trim_end();
    PROXIES.contains(&name).then(|| name.to_owned())
}

fn holds(folder: &Path, inodes: &HashSet<u64>) -> std::io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        // A file that was closed meanwhile is not an error.
        let Ok(link) = entry.and_then(|entry| fs::read_link(entry.path())) else { continue };
        if link.to_str().and_then(inode).is_some_and(|inode| inodes.contains(&inode)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `socket:[31337]`.
fn inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_to_sockets_name_one() {
        assert_eq!(inode("socket:[31337]"), Some(31337));
        for link in ["pipe:[31337]", "socket:[]", "socket:[x]", "/srv/socket:[1]", "socket:[1"] {
            assert_eq!(inode(link), None, "{link}");
        }
    }
}
