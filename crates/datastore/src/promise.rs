//! What an acknowledged write means in a directory and on a device of this host.
//!
//! It is what the weakest of the layers between the writer and the medium says, from the page cache down to the block
//! devices ([`crate::layers`]). Everything here is what the kernel believes: a device that reports no volatile cache and
//! has one is believed, which is why the evidence goes with the promise.
//!
//! Disks are written in full before they are measured, so a direct write changes blocks in place and no metadata that
//! is needed to find them again. This is why the file system itself counts only where it writes elsewhere.

use std::path::Path;

use nix::libc::{major, minor};
use stormeter_disk::{Acknowledged, Promise, PromiseEvidence};

use crate::Filesystem;
use crate::layers::{Layers, System};

/// The promise of a datastore that stores nothing.
pub(crate) fn of_nothing() -> Promise {
    Promise::new(Acknowledged::Memory, PromiseEvidence::NothingStored)
}

/// The promise of a whole device, by its number (`st_rdev`).
pub(crate) fn of_device(number: u64, path: &Path, direct: bool, system: &System<'_>) -> Promise {
    let mut layers = Layers::new(system);
    if !direct {
        return Promise::new(Acknowledged::Memory, PromiseEvidence::PageCache);
    }
    layers.add(Acknowledged::Stable, PromiseEvidence::Direct);
    layers.device(&format!("{}:{}", major(number), minor(number)), &path.display().to_string());
    layers.promise()
}

/// The promise of files on a file system, `None` if it is unknown which.
pub(crate) fn of_file_system(
    found: Option<&Filesystem>,
    direct: bool,
    system: &System<'_>,
) -> Promise {
    let mut layers = Layers::new(system);
    match found {
        Some(found) => layers.file_system(found, direct),
        None => layers.unseen("unknown file system"),
    }
    layers.promise()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use nix::libc::makedev;

    use super::*;
    use Acknowledged::{Memory, Stable, Unknown, VolatileCache};
    use PromiseEvidence as Because;

    /// A made-up sysfs, and the mounts that paths are on.
    struct Tree {
        sysfs: tempfile::TempDir,
        mounts: Vec<Filesystem>,
    }

    impl Tree {
        fn new() -> Self {
            Self { sysfs: tempfile::tempdir().unwrap(), mounts: Vec::new() }
        }

        fn file(&self, name: &str, text: &str) {
            let path = self.sysfs.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn link(&self, name: &str, to: &str) {
            let path = self.sysfs.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(self.sysfs.path().join(to), path).unwrap();
        }

        /// A disk with this number and cache.
        fn disk(&self, name: &str, number: &str, cache: &str, fua: bool) {
            self.file(&format!("devices/{name}/queue/write_cache"), &format!("{cache}\n"));
            self.file(&format!("devices/{name}/queue/fua"), if fua { "1\n" } else { "0\n" });
            self.link(&format!("dev/block/{number}"), &format!("devices/{name}"));
        }

        fn partition(&self, disk: &str, name: &str, number: &str) {
            self.file(&format!("devices/{disk}/{name}/partition"), "1\n");
            self.link(&format!("dev/block/{number}"), &format!("devices/{disk}/{name}"));
        }

        /// Puts a disk or partition below a stacked device.
        fn below(&self, device: &str, slave: &str) {
            let name = Path::new(slave).file_name().unwrap().to_str().unwrap();
            self.link(&format!("devices/{device}/slaves/{name}"), &format!("devices/{slave}"));
        }

        fn loop_over(&self, name: &str, number: &str, file: &str, dio: bool) {
            self.disk(name, number, "write back", false);
            self.file(&format!("devices/{name}/loop/backing_file"), &format!("{file}\n"));
            self.file(&format!("devices/{name}/loop/dio"), if dio { "1\n" } else { "0\n" });
        }

        fn system<T>(&self, with: impl FnOnce(&System<'_>) -> T) -> T {
            let mount_of = |path: &Path| {
                self.mounts.iter().find(|it| path.starts_with(&it.mount_point)).cloned()
            };
            with(&System { sysfs: self.sysfs.path(), mount_of: &mount_of })
        }

        fn of(&self, found: &Filesystem, direct: bool) -> (Acknowledged, Vec<Because>) {
            let promise = self.system(|system| of_file_system(Some(found), direct, system));
            (promise.acknowledged, promise.evidence)
        }

        fn of_device(&self, (major, minor): (u32, u32)) -> (Acknowledged, Vec<Because>) {
            let number = makedev(major, minor);
            let promise =
                self.system(|system| super::of_device(number, "/dev/x".as_ref(), true, system));
            (promise.acknowledged, promise.evidence)
        }
    }

    fn mount(kind: &str, number: &str, options: &str) -> Filesystem {
        Filesystem {
            kind: kind.into(),
            mount_point: "/mnt".into(),
            source: "source".into(),
            options: options.into(),
            device_number: number.into(),
        }
    }

    fn cache(device: &str, write_back: bool, fua: bool) -> Because {
        Because::DeviceCache { device: device.into(), write_back, fua }
    }

    fn unseen(what: &str) -> Because {
        Because::NothingSeenBelow { what: what.into() }
    }

    #[test]
    fn the_cache_of_the_disk_decides_for_direct_writes() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", "write back", true);
        tree.partition("sda", "sda1", "8:1");
        tree.disk("nvme0n1", "259:0", "write through", false);
        tree.file("devices/vdb/size", "8\n");
        tree.link("dev/block/254:16", "devices/vdb");
        let cases = [
            ("8:0", VolatileCache, cache("sda", true, true)),
            ("8:1", VolatileCache, cache("sda", true, true)),
            ("259:0", Stable, cache("nvme0n1", false, false)),
            // A kernel before 4.7 does not show the cache.
            ("254:16", Unknown, unseen("vdb")),
            ("0:51", Unknown, unseen("ext4")),
        ];
        for (number, acknowledged, why) in cases {
            let found = mount("ext4", number, "rw,relatime");
            assert_eq!(tree.of(&found, true), (acknowledged, vec![Because::Direct, why]));
        }
        let sda = vec![Because::Direct, cache("sda", true, true)];
        assert_eq!(tree.of_device((8, 1)), (VolatileCache, sda));
        assert_eq!(tree.of_device((8, 9)), (Unknown, vec![Because::Direct, unseen("/dev/x")]));
        let buffered = tree
            .system(|system| super::of_device(makedev(259, 0), "/dev/x".as_ref(), false, system));
        assert_eq!(buffered, Promise::new(Memory, Because::PageCache));
    }

    #[test]
    fn one_volatile_cache_in_a_stack_is_enough() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", "write through", true);
        tree.partition("sda", "sda2", "8:2");
        tree.disk("sdb", "8:16", "write through", false);
        tree.disk("md0", "9:0", "write through", false);
        tree.below("md0", "sda/sda2");
        tree.below("md0", "sdb");
        tree.disk("dm-3", "253:3", "write through", false);
        tree.below("dm-3", "md0");
        let all = |sdb| {
            let through = |name, fua| cache(name, false, fua);
            let upper = [through("dm-3", false), through("md0", false), through("sda", true)];
            [vec![Because::Direct], upper.to_vec(), vec![cache("sdb", sdb, false)]].concat()
        };
        let found = mount("xfs", "253:3", "rw");
        assert_eq!(tree.of(&found, true), (Stable, all(false)));
        tree.file("devices/sdb/queue/write_cache", "write back\n");
        assert_eq!(tree.of(&found, true), (VolatileCache, all(true)));
    }

    #[test]
    fn what_is_in_memory_is_lost_with_it() {
        let tree = Tree::new();
        tree.disk("nvme0n1", "259:0", "write through", false);
        for (name, number) in [("zram0", "252:0"), ("ram1", "1:1"), ("nullb0", "251:0")] {
            tree.disk(name, number, "write through", false);
            let device = name.to_owned();
            let expected = vec![Because::Direct, Because::DeviceInMemory { device }];
            assert_eq!(tree.of(&mount("ext4", number, "rw"), true), (Memory, expected));
        }
        for direct in [true, false] {
            let file_system = "tmpfs".to_owned();
            let expected = vec![Because::FileSystemInMemory { file_system }];
            assert_eq!(tree.of(&mount("tmpfs", "0:5", "rw,sync"), direct), (Memory, expected));
        }
        let cached = vec![Because::PageCache];
        assert_eq!(tree.of(&mount("xfs", "259:0", "rw"), false), (Memory, cached.clone()));
        let journal = mount("ext4", "259:0", "rw,data=journal");
        assert_eq!(tree.of(&journal, true), (Memory, cached));
        assert_eq!(of_nothing(), Promise::new(Memory, Because::NothingStored));
    }

    #[test]
    fn a_copy_on_write_file_system_loses_where_it_wrote() {
        let tree = Tree::new();
        for (kind, options) in [("btrfs", "rw"), ("zfs", "rw"), ("f2fs", "rw,mode=lfs")] {
            let why = Because::CopyOnWrite { file_system: kind.into() };
            let expected = (Memory, vec![Because::Direct, why]);
            assert_eq!(tree.of(&mount(kind, "0:40", options), true), expected);
        }
        for (kind, options) in [("btrfs", "rw,nodatacow"), ("f2fs", "rw,mode=adaptive")] {
            let expected = (Unknown, vec![Because::Direct, unseen(kind)]);
            assert_eq!(tree.of(&mount(kind, "0:40", options), true), expected);
        }
    }

    #[test]
    fn a_synchronous_mount_makes_each_write_wait() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", "write back", false);
        let option = || Because::MountedSync { option: "sync".into() };
        let found = mount("ext4", "8:0", "rw,sync,relatime");
        let last = || cache("sda", true, false);
        assert_eq!(tree.of(&found, true), (Stable, vec![Because::Direct, option(), last()]));
        assert_eq!(tree.of(&found, false), (Stable, vec![Because::PageCache, option(), last()]));
        for options in ["rw,dirsync", "rw,async", "rw,sync,nobarrier", "rw,sync,barrier=0"] {
            let expected = (VolatileCache, vec![Because::Direct, last()]);
            assert_eq!(tree.of(&mount("ext4", "8:0", options), true), expected, "{options}");
        }
        let btrfs = mount("btrfs", "0:40", "rw,sync");
        assert_eq!(tree.of(&btrfs, true), (Stable, vec![Because::Direct, option()]));
        // A flush does not help where it arrives nowhere.
        tree.disk("zram0", "252:0", "write through", false);
        assert_eq!(tree.of(&mount("ext4", "252:0", "rw,sync"), true).0, Memory);
        assert_eq!(tree.of(&mount("overlay", "0:30", "rw,sync"), true).0, Unknown);
    }

    #[test]
    fn file_systems_on_servers_tell_nothing() {
        let tree = Tree::new();
        for kind in ["nfs4", "cifs", "ceph", "9p", "virtiofs", "fuse.sshfs", "fuseblk"] {
            let elsewhere = Because::FileSystemElsewhere { file_system: kind.into() };
            let found = mount(kind, "0:60", "rw");
            let direct = (Unknown, vec![Because::Direct, elsewhere.clone()]);
            assert_eq!(tree.of(&found, true), direct);
            let cached = (Memory, vec![Because::PageCache, elsewhere]);
            assert_eq!(tree.of(&found, false), cached);
        }
        tree.disk("dm-1", "253:1", "write through", false);
        assert_eq!(tree.of(&mount("gfs2", "253:1", "rw"), true).0, Stable);
        let overlay = (Unknown, vec![Because::Direct, unseen("overlay")]);
        assert_eq!(tree.of(&mount("overlay", "0:30", "rw"), true), overlay);
        let unknown = tree.system(|system| of_file_system(None, true, system));
        assert_eq!(unknown, Promise::new(Unknown, unseen("unknown file system")));
    }

    #[test]
    fn a_loop_device_is_what_its_file_is() {
        let mut tree = Tree::new();
        tree.disk("sda", "8:0", "write through", false);
        tree.loop_over("loop0", "7:0", "/mnt/disk.img", false);
        tree.loop_over("loop1", "7:1", "/mnt/disk.img", true);
        tree.loop_over("loop2", "7:2", "/gone (deleted)", true);
        tree.mounts = vec![mount("ext4", "8:0", "rw")];
        let through = || Because::LoopThroughPageCache { device: "loop0".into() };
        let cached = (Memory, vec![Because::Direct, through()]);
        assert_eq!(tree.of(&mount("xfs", "7:0", "rw"), true), cached);
        let direct = (Stable, vec![Because::Direct, cache("sda", false, false)]);
        assert_eq!(tree.of(&mount("xfs", "7:1", "rw"), true), direct);
        let gone = (Unknown, vec![Because::Direct, unseen("/gone (deleted)")]);
        assert_eq!(tree.of(&mount("xfs", "7:2", "rw"), true), gone);
        // A flush goes through the loop device to the file, and with it to the disk.
        let (acknowledged, evidence) = tree.of(&mount("xfs", "7:0", "rw,sync"), true);
        assert_eq!(acknowledged, Stable);
        assert_eq!(evidence.last(), Some(&cache("sda", false, false)));
        tree.file("devices/sda/queue/write_cache", "write back\n");
        assert_eq!(tree.of(&mount("xfs", "7:1", "rw"), true).0, VolatileCache);
    }

    #[test]
    fn a_loop_of_loops_ends() {
        let mut tree = Tree::new();
        tree.loop_over("loop0", "7:0", "/mnt/disk.img", true);
        tree.mounts = vec![mount("ext4", "7:0", "rw")];
        assert_eq!(tree.of(&mount("ext4", "7:0", "rw"), true).0, Stable);
    }

    /// The system that the tests run on, as far as it is known: what is true is up to it.
    #[test]
    fn this_system_is_read() {
        let of = |path: &str| {
            let found = Filesystem::of(&PathBuf::from(path));
            of_file_system(found.as_ref(), true, &System::here())
        };
        assert!(matches!(
            of("/proc").evidence[..],
            [Because::Direct, Because::NothingSeenBelow { .. }]
        ));
        let promise = of("/dev/shm");
        if Filesystem::of("/dev/shm".as_ref()).is_some_and(|it| it.kind == "tmpfs") {
            assert_eq!(promise.acknowledged, Memory);
        }
    }
}
