//! The caches between this machine and a datastore's storage, which may answer instead of it.
//!
//! Direct I/O bypasses the page cache of this machine and nothing else: a loop device reintroduces it below, a file
//! system may have a cache of its own, and a server caches what it serves. A server on this machine has no more memory
//! than the machine; the memory of one elsewhere is unknown.

use std::net::{IpAddr, SocketAddr};

use stormeter_datastore::{Datastore, Description, Filesystem};
use stormeter_trial::{Memory, MemoryPlace};

use crate::machine::memory_bytes;
use crate::sockets::is_own;

/// The caches on the path to an open datastore.
pub(crate) fn memories_of(datastore: &Datastore, description: &Description) -> Vec<Memory> {
    let memory = memory_bytes("MemTotal");
    // An OSD reads its disks past the page cache, and what it keeps itself is a setting that clients are not told.
    let peers = if description.kind == "rbd" { Vec::new() } else { datastore.peers() };
    memories(description, &peers, memory, &is_own)
}

/// The same, given the servers that our clients connect to, the size of this machine's memory, and which addresses
/// are this machine's.
fn memories(
    description: &Description,
    peers: &[SocketAddr],
    memory_bytes: Option<u64>,
    is_own: &dyn Fn(SocketAddr) -> bool,
) -> Vec<Memory> {
    let here =
        |place: MemoryPlace, name: &str| Memory { place, name: name.into(), bytes: memory_bytes };
    let mut found = Vec::new();
    let kind = description.filesystem.as_ref().map_or("the device", |it| it.kind.as_str());
    // Files on these are in memory only, which another finding reports.
    let is_memory = matches!(kind, "tmpfs" | "ramfs");
    let is_local = matches!(description.kind.as_str(), "directory" | "device");
    if is_local && !description.direct && !is_memory {
        let place = match description.url.direct {
            false => MemoryPlace::PageCacheAsked,
            true => MemoryPlace::PageCache,
        };
        found.push(here(place, kind));
    } else if kind == "zfs" {
        found.push(here(MemoryPlace::FileSystem, "zfs (the ARC)"));
    }
    if let Some(below) = &description.loop_cache {
        found.push(here(MemoryPlace::LoopDevice, &below.device));
    }
    // The kernel's client lists its server in the mount options (nfs(5), mount.cifs(8)).
    let mounted = description.filesystem.as_ref().filter(|it| it.is_shared());
    let address = mounted.and_then(address_of).map(|ip| SocketAddr::new(ip, 0));
    let servers = || peers.iter().copied().chain(address);
    if let Some(server) = servers().find(|server| !is_own(*server)) {
        found.push(elsewhere(&format!("its server {}", server.ip())));
    } else if let Some(server) = servers().next() {
        found.push(here(MemoryPlace::ServerHere, &server.ip().to_string()));
    } else if let Some(mounted) = mounted {
        found.push(elsewhere(&format!("what serves {} ({})", mounted.source, mounted.kind)));
    }
    found
}

fn elsewhere(name: &str) -> Memory {
    Memory { place: MemoryPlace::ServerElsewhere, name: name.into(), bytes: None }
}

fn address_of(mounted: &Filesystem) -> Option<IpAddr> {
    mounted.options.split(',').find_map(|option| option.strip_prefix("addr=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use stormeter_datastore::{DatastoreUrl, LoopCache};

    use super::*;

    const GIB: u64 = 1 << 30;

    fn description(url: &str, kind: &str, direct: bool) -> Description {
        Description {
            url: DatastoreUrl::parse(url).unwrap(),
            kind: kind.into(),
            filesystem: None,
            device: None,
            device_number: None,
            loop_cache: None,
            logical_block_bytes: 512,
            direct,
            engine: "io_uring".into(),
            protocol: Vec::new(),
            promise: None,
            notes: Vec::new(),
        }
    }

    fn mounted(kind: &str, options: &str, direct: bool) -> Description {
        let filesystem = Filesystem {
            kind: kind.into(),
            mount_point: "/mnt".into(),
            source: "nas:/vm".into(),
            options: options.into(),
            device_number: "0:51".into(),
        };
        Description { filesystem: Some(filesystem), ..description("/mnt", "directory", direct) }
    }

    fn found(description: &Description, peers: &[&str]) -> Vec<(MemoryPlace, Option<u64>)> {
        let peers: Vec<SocketAddr> = peers.iter().map(|peer| peer.parse().unwrap()).collect();
        let is_own = |address: SocketAddr| address.ip().is_loopback();
        let found = memories(description, &peers, Some(24 * GIB), &is_own);
        found.into_iter().map(|it| (it.place, it.bytes)).collect()
    }

    #[test]
    fn direct_io_on_a_local_file_system_has_no_memory_on_its_way() {
        assert_eq!(found(&mounted("ext4", "rw", true), &[]), []);
        assert_eq!(found(&description("null:", "null", false), &[]), []);
        assert_eq!(found(&mounted("tmpfs", "rw", false), &[]), []);
    }

    #[test]
    fn the_page_cache_is_one_asked_for_or_not() {
        let memory = Some(24 * GIB);
        assert_eq!(found(&mounted("9pfs", "rw", false), &[]), [(MemoryPlace::PageCache, memory)]);
        let asked = description("/mnt?direct=0", "directory", false);
        assert_eq!(found(&asked, &[]), [(MemoryPlace::PageCacheAsked, memory)]);
        assert_eq!(found(&mounted("zfs", "rw", true), &[]), [(MemoryPlace::FileSystem, memory)]);
        let below = LoopCache { device: "loop0".into(), backing_file: "/srv/disk".into() };
        let device =
            Description { loop_cache: Some(below), ..description("/dev/loop0", "device", true) };
        assert_eq!(found(&device, &[]), [(MemoryPlace::LoopDevice, memory)]);
    }

    #[test]
    fn a_server_is_here_or_its_memory_is_unknown() {
        let (here, elsewhere) =
            ((MemoryPlace::ServerHere, Some(24 * GIB)), (MemoryPlace::ServerElsewhere, None));
        let nfs = description("nfs://nas/vm", "nfs", true);
        assert_eq!(found(&nfs, &["127.0.0.1:2049"]), [here]);
        assert_eq!(found(&nfs, &["192.0.2.1:2049"]), [elsewhere]);
        assert_eq!(found(&nfs, &["127.0.0.1:3260", "192.0.2.1:3260"]), [elsewhere]);
        assert_eq!(found(&mounted("nfs4", "rw,addr=127.0.0.1", true), &[]), [here]);
        assert_eq!(found(&mounted("nfs4", "rw,addr=192.0.2.1", true), &[]), [elsewhere]);
        assert_eq!(found(&mounted("ceph", "rw", true), &[]), [elsewhere]);
    }
}
