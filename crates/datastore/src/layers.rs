//! The layers between a writer and the medium, and what each makes of an acknowledged write: a file system, and block
//! devices as sysfs shows them.
//!
//! A device is looked up by its number (`/sys/dev/block`), a partition by its disk, and stacked devices (device mapper,
//! software RAID) by their `slaves`. The cache of each is `queue/write_cache`
//! (`Documentation/ABI/stable/sysfs-block`), which is what the kernel believes and acts on: it sends flushes to a device
//! with "write back" and none to one with "write through".

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use stormeter_disk::{Acknowledged, Promise, PromiseEvidence};

use crate::Filesystem;
use crate::block::{disk_of, entries, read_line};

/// File systems in memory.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];
/// File systems that write each block to a new place, with the option that makes them write in place.
const COPY_ON_WRITE: [(&str, Option<&str>); 4] =
    [("btrfs", Some("nodatacow")), ("bcachefs", Some("nocow")), ("zfs", None), ("nilfs2", None)];
/// File systems that several hosts share, on a block device that each of them sees.
const SHARED_BLOCKS: [&str; 2] = ["gfs2", "ocfs2"];
/// The most devices that are looked at: far more than any host stacks.
const MOST_DEVICES: usize = 256;

/// Where the kernel shows its devices and mounts.
pub(crate) struct System<'a> {
    /// `/sys`.
    pub(crate) sysfs: &'a Path,
    /// The mount that a path is on.
    pub(crate) mount_of: &'a dyn Fn(&Path) -> Option<Filesystem>,
}

impl System<'static> {
    /// The system that this process runs on.
    pub(crate) fn here() -> Self {
        Self { sysfs: Path::new("/sys"), mount_of: &Filesystem::of }
    }
}

/// A walk down from the writer, which gathers the answers of the layers.
pub(crate) struct Layers<'a> {
    system: &'a System<'a>,
    promise: Promise,
    /// Each write is followed by a flush, which goes through all layers: caches that honour it do not count.
    is_flushed: bool,
    /// Devices that were looked at: two partitions of one disk may be stacked.
    seen: HashSet<PathBuf>,
}

impl<'a> Layers<'a> {
    /// Nothing yet: stable, if no layer objects.
    pub(crate) fn new(system: &'a System<'a>) -> Self {
        let promise = Promise { acknowledged: Acknowledged::Stable, evidence: Vec::new() };
        Self { system, promise, is_flushed: false, seen: HashSet::new() }
    }

    /// What follows from all layers.
    pub(crate) fn promise(self) -> Promise {
        self.promise
    }

    /// Adds one layer's answer to those above it.
    pub(crate) fn add(&mut self, acknowledged: Acknowledged, why: PromiseEvidence) {
        self.promise.acknowledged = self.promise.acknowledged.and(acknowledged);
        if !self.promise.evidence.contains(&why) {
            self.promise.evidence.push(why);
        }
    }

    /// Adds a layer that cannot be seen.
    pub(crate) fn unseen(&mut self, what: &str) {
        self.add(
            Acknowledged::Unknown,
            PromiseEvidence::NothingSeenBelow { what: what.to_owned() },
        );
    }

    /// Adds a cache in memory that a flush empties.
    fn cache(&mut self, why: PromiseEvidence) {
        self.add(if self.is_flushed { Acknowledged::Stable } else { Acknowledged::Memory }, why);
    }

    /// Adds a file system, whose files are written directly or through the page cache, and what is below it.
    pub(crate) fn file_system(&mut self, found: &Filesystem, direct: bool) {
        let file_system = || found.kind.clone();
        if IN_MEMORY.contains(&found.kind.as_str()) {
            let why = PromiseEvidence::FileSystemInMemory { file_system: file_system() };
            return self.add(Acknowledged::Memory, why);
        }
        let options = Options(&found.options);
        self.is_flushed |= options.sync();
        // With its data in the journal, ext4 writes direct requests through the page cache, too.
        if direct && !options.has("data=journal") {
            self.add(Acknowledged::Stable, PromiseEvidence::Direct);
        } else {
            self.cache(PromiseEvidence::PageCache);
        }
        if options.sync() {
            let why = PromiseEvidence::MountedSync { option: "sync".into() };
            self.add(Acknowledged::Stable, why);
        }
        if found.is_shared() && !SHARED_BLOCKS.contains(&found.kind.as_str()) {
            let why = PromiseEvidence::FileSystemElsewhere { file_system: file_system() };
            self.add(Acknowledged::Unknown, why);
        } else if is_copy_on_write(&found.kind, &options) {
            if !self.is_flushed {
                let why = PromiseEvidence::CopyOnWrite { file_system: file_system() };
                self.add(Acknowledged::Memory, why);
            }
        } else if self.promise.acknowledged != Acknowledged::Memory {
            // Otherwise what is below decides nothing.
            self.device(&found.device_number, &found.kind);
        }
    }

    /// Adds the device with this number (`major:minor`) and what is below it. `what` names the place if there is none,
    /// as for file systems without a single device.
    pub(crate) fn device(&mut self, number: &str, what: &str) {
        let link = self.system.sysfs.join("dev/block").join(number);
        match std::fs::canonicalize(link) {
            Ok(folder) => self.disk(disk_of(folder)),
            Err(_) => self.unseen(what),
        }
    }

    fn disk(&mut self, disk: PathBuf) {
        if self.seen.len() == MOST_DEVICES || !self.seen.insert(disk.clone()) {
            return;
        }
        let device = disk.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_memory(&device) {
            let why = PromiseEvidence::DeviceInMemory { device };
            return self.add(Acknowledged::Memory, why);
        }
        if let Some(file) = read_line(&disk.join("loop/backing_file")) {
            return self.file_of_loop(device, &file, &disk);
        }
        match read_line(&disk.join("queue/write_cache")).as_deref() {
            Some(cache @ ("write back" | "write through")) => {
                let write_back = cache == "write back";
                let fua = read_line(&disk.join("queue/fua")).as_deref() == Some("1");
                let is_volatile = write_back && !self.is_flushed;
                let at_once =
                    if is_volatile { Acknowledged::VolatileCache } else { Acknowledged::Stable };
                self.add(at_once, PromiseEvidence::DeviceCache { device, write_back, fua });
            }
            _ => self.unseen(&device),
        }
        let slaves = disk.join("slaves");
        for name in entries(&slaves) {
            if let Ok(folder) = std::fs::canonicalize(slaves.join(name)) {
                self.disk(disk_of(folder));
            }
        }
    }

    /// A loop device hands requests to its file, directly if it has been told to (`loop/dio`); its own `write_cache`
    /// only says whether it can flush that file.
    fn file_of_loop(&mut self, device: String, file: &str, disk: &Path) {
        let direct = read_line(&disk.join("loop/dio")).as_deref() == Some("1");
        if !direct {
            self.cache(PromiseEvidence::LoopThroughPageCache { device });
            if !self.is_flushed {
                return;
            }
        }
        match (self.system.mount_of)(Path::new(file)) {
            Some(found) => self.file_system(&found, direct),
            None => self.unseen(file),
        }
    }
}

/// Whether the device keeps its blocks in memory: brd, zram and null_blk, by their names.
fn is_memory(device: &str) -> bool {
    ["ram", "zram", "nullb"].iter().any(|driver| {
        let number = device.strip_prefix(driver);
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn is_copy_on_write(kind: &str, options: &Options<'_>) -> bool {
    let known = COPY_ON_WRITE.iter().find(|(name, _)| *name == kind);
    let is_known = known.is_some_and(|(_, in_place)| !in_place.is_some_and(|it| options.has(it)));
    is_known || (kind == "f2fs" && options.has("mode=lfs"))
}

/// Options of a mount.
struct Options<'a>(&'a str);

impl Options<'_> {
    fn has(&self, option: &str) -> bool {
        self.0.split(',').any(|given| given == option)
    }

    /// Whether each write is followed by a flush that reaches the device. `dirsync` concerns names only, and without
    /// barriers the device gets no flush (mount(8), ext4(5)).
    fn sync(&self) -> bool {
        self.has("sync") && !self.has("nobarrier") && !self.has("barrier=0")
    }
}
