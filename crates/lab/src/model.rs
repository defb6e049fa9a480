//! A lab as plain values: what a lab file describes.

use serde::{Deserialize, Serialize};

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lab {
    /// What it is, in a line.
    pub name: String,
    /// Networks, in the order of the file.
    pub networks: Vec<Network>,
    /// Storage guests.
    pub storage: Vec<Storage>,
    /// Virtual machines, those of a `count` one by one.
    pub vms: Vec<Vm>,
}

/// A network between a storage guest and its clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// In each direction; without, as fast as the emulation.
    pub rate_bits_per_s: Option<u64>,
    /// In each direction, added to what the emulation takes.
    pub delay_ns: u64,
}

/// A guest that serves disks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory_bytes: u64,
    /// Its virtual processors.
    pub vcpus: u32,
    /// The place of its network in the lab's list.
    pub network: Option<usize>,
    /// Its disks, those of a `count` one by one.
    pub disks: Vec<StorageDisk>,
    /// Its disks by the names that the file has for them.
    pub groups: Vec<DiskGroup>,
    /// What is served over NFS.
    pub exports: Vec<Share>,
    /// What is served over iSCSI, the first as LUN 0.
    pub luns: Vec<Share>,
}

/// A disk of a storage guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageDisk {
    /// Its size.
    pub size_bytes: u64,
    /// Requests a second at most, reads and writes together.
    pub iops: Option<u32>,
    /// What each request waits at least, in milliseconds.
    pub latency_ms: u32,
}

/// Disks that are one to what uses them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskGroup {
    /// Its name.
    pub name: String,
    /// The first of its disks.
    pub first: usize,
    /// How many follow one another.
    pub count: usize,
    /// What they are joined by; a single disk by nothing.
    pub raid: Option<Raid>,
    /// How many of the last are not in the array, which is degraded then.
    pub missing: usize,
}

/// A level of redundancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Raid {
    /// Striped.
    Zero,
    /// Mirrored.
    One,
    /// Striped with parity.
    Five,
    /// Striped with two parities.
    Six,
    /// Mirrored and striped.
    Ten,
}

impl Raid {
    /// All, as lab files write them.
    pub const ALL: [(&'static str, Raid); 5] = [
        ("0", Raid::Zero),
        ("1", Raid::One),
        ("5", Raid::Five),
        ("6", Raid::Six),
        ("10", Raid::Ten),
    ];

    /// As lab files write it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, raid)| *raid == self).map_or("", |(name, _)| name)
    }

    /// The fewest disks that make it.
    pub fn least_disks(self) -> usize {
        match self {
            Raid::Zero | Raid::One => 2,
            Raid::Five => 3,
            Raid::Six | Raid::Ten => 4,
        }
    }

    /// How many disks may be missing, whichever they are.
    pub fn bears(self, disks: usize) -> usize {
        match self {
            Raid::Zero => 0,
            Raid::One => disks.saturating_sub(1),
            Raid::Five | Raid::Ten => 1,
            Raid::Six => 2,
        }
    }

    /// How many of `disks` hold data.
    pub fn data_disks(self, disks: usize) -> usize {
        match self {
            Raid::Zero => disks,
            Raid::One => 1,
            Raid::Five => disks.saturating_sub(1),
            Raid::Six => disks.saturating_sub(2),
            Raid::Ten => disks / 2,
        }
    }
}

/// A disk group that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// The place of its group in the storage guest's list.
    pub group: usize,
}

/// A virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory_bytes: u64,
    /// Its virtual processors.
    pub vcpus: u32,
    /// Its disks.
    pub disks: Vec<VmDisk>,
}

/// A virtual disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmDisk {
    /// Its name: the guest sees it as `/dev/lab/NAME`.
    pub name: String,
    /// Where it lies.
    pub datastore: Datastore,
    /// Its size.
    pub size_bytes: u64,
    /// What the guest sees it through.
    pub controller: Controller,
    /// How it is stored.
    pub format: DiskFormat,
    /// How the host caches it.
    pub cache: CacheMode,
    /// Requests a second at most, reads and writes together.
    pub iops: Option<u32>,
}

/// Where a virtual disk lies; numbers are places in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Datastore {
    /// A file of the host.
    Local,
    /// A file on an export of a storage guest.
    Export {
        /// Of the lab's storage guests.
        storage: usize,
        /// Of its exports.
        export: usize,
    },
    /// A part of a LUN of a storage guest.
    Lun {
        /// Of the lab's storage guests.
        storage: usize,
        /// Of its LUNs.
        lun: usize,
        /// Where the part begins.
        offset_bytes: u64,
    },
}

/// Words of a lab file that stand for values.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $value:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $($(#[$each])* $value,)* }

        impl $name {
            /// All.
            pub const ALL: [$name; [$($word),*].len()] = [$($name::$value),*];
            /// All, with their words.
            pub const WORDS: [(&'static str, $name); [$($word),*].len()] = [$(($word, $name::$value)),*];

            /// As lab files write it.
            pub fn name(self) -> &'static str {
                match self { $($name::$value => $word,)* }
            }
        }
    };
}

words! {
    /// Virtual controllers.
    Controller {
        /// A disk on the virtio bus.
        VirtioBlk "virtio-blk",
        /// A SCSI disk on the virtio bus.
        VirtioScsi "virtio-scsi",
        /// NVMe.
        Nvme "nvme",
        /// LSI 53C895A, parallel SCSI.
        Lsi "lsi",
        /// VMware's paravirtual SCSI.
        Pvscsi "pvscsi",
        /// IDE of Intel's PIIX3.
        Ide "ide",
    }
}

words! {
    /// Formats of virtual disks.
    DiskFormat {
        /// Block for block.
        Raw "raw",
        /// QEMU's own, which grows.
        Qcow2 "qcow2",
    }
}

words! {
    /// How the host caches a virtual disk, in QEMU's words.
    CacheMode {
        /// Not at all: past the host's page cache.
        None "none",
        /// In the host's page cache, flushed when the guest asks.
        Writeback "writeback",
        /// As before, flushed after every write.
        Writethrough "writethrough",
        /// As writeback, and never flushed.
        Unsafe "unsafe",
    }
}
