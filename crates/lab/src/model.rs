//! A lab as plain values: what a lab file describes.

use std::path::PathBuf;

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
    /// Hosts, those of a `count` one by one.
    pub hosts: Vec<Host>,
    /// Virtual machines, those of a `count` one by one.
    pub vms: Vec<Vm>,
}

impl Lab {
    /// The names of all guests: storage guests, hosts, VMs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let storage = self.storage.iter().map(|storage| storage.name.as_str());
        let hosts = self.hosts.iter().map(|host| host.name.as_str());
        storage.chain(hosts).chain(self.vms.iter().map(|vm| vm.name.as_str()))
    }
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
    /// Frames that are lost in each direction, in a million.
    pub loss_ppm: u32,
    /// The largest packet, in bytes, where a mount does not ask for another.
    pub mtu: u32,
    /// Ports between hosts and storage guests that are one to what uses them.
    pub aggregation: Option<Aggregation>,
}

/// Ports that are one to what uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aggregation {
    /// How many.
    pub ports: u32,
    /// How they are joined.
    pub mode: AggregationMode,
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
    /// What is served block by block.
    pub luns: Vec<Lun>,
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
    /// The last disk is new: the array rebuilds it at so many bytes a second.
    pub rebuild_rate: Option<u64>,
    /// The place of a disk that caches them.
    pub cache: Option<usize>,
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

/// A disk group that is served block by block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lun {
    /// Its name.
    pub name: String,
    /// The place of its group in the storage guest's list.
    pub group: usize,
    /// How it is reached.
    pub protocol: Protocol,
    /// What an initiator has to know; iSCSI only.
    pub chap: Option<Chap>,
}

/// What an initiator says of itself (CHAP, RFC 1994). The password itself is never part of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chap {
    /// A name.
    pub user: String,
    /// A file whose only line is the password.
    pub password_file: PathBuf,
}

impl Storage {
    /// Whether a LUN is one of the target that initiators reach without a password.
    pub fn is_open(&self, lun: usize) -> bool {
        self.luns.get(lun).is_some_and(|lun| lun.protocol == Protocol::Iscsi && lun.chap.is_none())
    }

    /// The number of a LUN in what it is reached by: those of iSCSI without a password are of one target,
    /// those of FC of one, and every other has a target of its own.
    pub fn lun_number(&self, lun: usize) -> usize {
        let Some(of) = self.luns.get(lun) else { return 0 };
        let beside = |other: &&Lun| other.protocol == of.protocol && other.chap.is_none();
        match of.protocol {
            Protocol::Iscsi if of.chap.is_some() => 0,
            Protocol::NvmeTcp => 0,
            _ => self.luns[..lun].iter().filter(beside).count(),
        }
    }
}

/// A guest whose kernel is the client of storage guests, and in which an agent works on what it mounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory_bytes: u64,
    /// Its virtual processors.
    pub vcpus: u32,
    /// What it mounts.
    pub mounts: Vec<Mount>,
}

/// An export or a LUN in a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Its name: the host has it as `/lab/NAME` (NFS) or `/dev/lab/NAME`.
    pub name: String,
    /// The place of its storage guest in the lab's list.
    pub storage: usize,
    /// The largest packet on the way, in bytes.
    pub mtu: u32,
    /// What it is; numbers are places in the storage guest's lists.
    pub of: Mounted,
}

/// What a host mounts, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mounted {
    /// An export.
    Nfs {
        /// Of the storage guest's exports.
        export: usize,
        /// Of the protocol.
        version: NfsVersion,
    },
    /// A LUN over iSCSI.
    Iscsi {
        /// Of the storage guest's LUNs.
        lun: usize,
        /// What the initiator says of itself.
        chap: Option<Chap>,
    },
    /// A LUN over FC.
    Fc {
        /// Of the storage guest's LUNs.
        lun: usize,
        /// How many ports lead to it.
        paths: u32,
        /// Which of them is taken.
        policy: PathPolicy,
    },
    /// A namespace over NVMe/TCP.
    NvmeTcp {
        /// Of the storage guest's LUNs.
        lun: usize,
    },
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
    /// What leads to it from this machine.
    pub network: Option<VmNetwork>,
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

words! {
    /// How a LUN is reached.
    Protocol {
        /// iSCSI.
        Iscsi "iscsi",
        /// FC, over Ethernet.
        Fc "fc",
        /// NVMe over TCP.
        NvmeTcp "nvme-tcp",
    }
}

words! {
    /// Networks between this machine and VMs.
    VmNetwork {
        /// QEMU's user-mode network: no privilege is needed, and nothing can be shaped.
        User "user",
    }
}

words! {
    /// Versions of NFS that hosts mount with.
    NfsVersion {
        /// RFC 1813.
        Three "3",
        /// RFC 7862.
        FourTwo "4.2",
    }
}

words! {
    /// Which of several paths is taken.
    PathPolicy {
        /// The first that is not lost.
        Fixed "fixed",
        /// All in turn.
        RoundRobin "round-robin",
    }
}

words! {
    /// How ports are joined.
    AggregationMode {
        /// Both sides agree on it (IEEE 802.1AX, LACP).
        Lacp "802.3ad",
        /// One carries all, another takes over when it is lost.
        ActiveBackup "active-backup",
    }
}
