//! Which mount a path is on: proc(5), `/proc/self/mountinfo`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file system below a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// `ext4`, `nfs4`, `tmpfs`, …
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted: a device, `server:/export`, …
    pub source: String,
    /// Options of the mount and of the file system.
    pub options: String,
    /// Device number, `major:minor`.
    pub device_number: String,
}

/// File systems that other hosts can access at the same time; `fuse` and the like may be anything.
const SHARED: [&str; 21] = [
    "9p",
    "acfs",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
];

impl Filesystem {
    /// Whether other hosts may work on it too.
    pub fn is_shared(&self) -> bool {
        SHARED.contains(&self.kind.as_str()) || self.kind.starts_with("fuse")
    }

    /// The mount that a path is on, as this process sees it.
    pub fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let mounts = mounts();
        // Of several mounts at one point, the last hides the others.
        let mut best: Option<&Self> = None;
        for mount in &mounts {
            let longer = best.is_none_or(|best| mount.mount_point.len() >= best.mount_point.len());
            if path.starts_with(&mount.mount_point) && longer {
                best = Some(mount);
            }
        }
        best.cloned()
    }
}

/// All mounts that this process sees, in the order in which they were mounted.
pub fn mounts() -> Vec<Filesystem> {
    let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(parse).collect()
}

/// One line: `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn parse(line: &str) -> Option<Filesystem> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(2);
    let device_number = before.next()?.to_owned();
    let _root = before.next()?;
    let mount_point = unescape(before.next()?);
    let mount_options = before.next()?;
    let mut after = after.split(' ');
    let kind = after.next()?.to_owned();
    let source = unescape(after.next()?);
    let mut options = mount_options.to_owned();
    for option in after.next().unwrap_or("").split(',') {
        if !option.is_empty() && !options.split(',').any(|known| known == option) {
            options.push(',');
            options.push_str(option);
        }
    }
    Some(Filesystem { kind, mount_point, source, options, device_number })
}

/// Blanks and similar characters appear as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'\\')
            .then(|| tail.get(..3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where a file system whose device number or source satisfies `is_it` is mounted.
pub(crate) fn mounted_at(is_it: impl Fn(&Filesystem) -> bool) -> Option<PathBuf> {
    mounts().iter().find(|mount| is_it(mount)).map(|mount| PathBuf::from(&mount.mount_point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_proc_5_shows_it() {
        let line =
            "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let mount = parse(line).unwrap();
        assert_eq!(mount.device_number, "98:0");
        assert_eq!(mount.mount_point, "/mnt 2");
        assert_eq!(mount.kind, "ext3");
        assert_eq!(mount.source, "/dev/root");
        assert_eq!(mount.options, "rw,noatime,errors=continue");
        assert_eq!(parse("garbage"), None);
    }

    #[test]
    fn network_and_cluster_file_systems_are_shared() {
        let is_shared = |kind: &str| {
            let line = format!("36 35 0:51 / /mnt rw - {kind} nas:/export rw");
            parse(&line).unwrap().is_shared()
        };
        for kind in ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "fuse.sshfs", "fuse", "lustre"] {
            assert!(is_shared(kind), "{kind}");
        }
        for kind in ["glusterfs", "ocfs2", "gfs2", "virtiofs"] {
            assert!(is_shared(kind), "{kind}");
        }
        for kind in ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay"] {
            assert!(!is_shared(kind), "{kind}");
        }
    }

    #[test]
    fn the_deepest_mount_wins() {
        assert_eq!(Filesystem::of(Path::new("/proc/self")).unwrap().kind, "proc");
        assert_eq!(Filesystem::of(Path::new("/")).unwrap().mount_point, "/");
        assert_eq!(Filesystem::of(Path::new("/no/such/place")), None);
    }
}
