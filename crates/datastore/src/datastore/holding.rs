//! Whether a file lies on the storage of a datastore.

use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Datastore;
use crate::Filesystem;
use crate::block::{Block, parse_number};
use crate::presence::Shared;

impl Datastore {
    /// Whether a file, or one that is yet to be created, lies on this datastore's own storage: on the same file
    /// system or disk, or on a mount from the same NFS server. What lies behind a server or below a file system
    /// of another kind cannot be seen.
    pub fn holds(&self, path: &Path) -> bool {
        let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        let mount = Filesystem::of(there);
        // The number that a file's status has, and that of the mount: a subvolume of btrfs has one of its own.
        let own_number = std::fs::metadata(there).ok().map(|metadata| metadata.dev());
        let of_mount = mount.as_ref().and_then(|mount| parse_number(&mount.device_number));
        let disk = mount.as_ref().and_then(|mount| Block::numbered(&mount.device_number));
        let server = mount.as_ref().and_then(server_of);
        self.shared().iter().any(|own| match own {
            Shared::FileSystem(own) => [own_number, of_mount].contains(&Some(*own)),
            Shared::Disk(own) => disk.as_ref().is_some_and(|disk| disk.disk_name() == *own),
            Shared::Server(own) => server == Some(own.ip()),
            // Where a cluster keeps its data cannot be seen from a client.
            Shared::Pool(_) => false,
        })
    }
}

/// The server of a mounted export (nfs(5): `addr=` among the options that mountinfo lists).
fn server_of(mount: &Filesystem) -> Option<IpAddr> {
    if !mount.kind.starts_with("nfs") {
        return None;
    }
    mount.options.split(',').find_map(|option| option.strip_prefix("addr=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_a_mount_is_among_its_options() {
        let mount = |kind: &str, options: &str| Filesystem {
            kind: kind.into(),
            mount_point: "/mnt".into(),
            source: "nas:/vm".into(),
            options: options.into(),
            device_number: "0:50".into(),
        };
        let options = "rw,relatime,vers=4.2,clientaddr=10.0.0.9,local_lock=none,addr=10.0.0.7";
        assert_eq!(server_of(&mount("nfs4", options)), "10.0.0.7".parse().ok());
        assert_eq!(server_of(&mount("ext4", options)), None);
        assert_eq!(server_of(&mount("nfs", "rw")), None);
    }
}
