//! A lab as plain values: the contents of a lab file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::storage_disks::{DiskGroup, DiskLimit, Raid, StorageDisk};

use crate::services::Services;

/// Everything that `lab up` starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lab {
    /// A one-line description.
    pub name: String,
    /// Networks, in the order of the file.
    pub networks: Vec<Network>,
    /// Routers; each network between two guests that has one is routed.
    #[serde(default)]
    pub routers: Vec<Router>,
    /// Storage guests.
    pub storage: Vec<Storage>,
    /// Hosts; a `count` is expanded.
    pub hosts: Vec<Host>,
    /// Virtual machines; a `count` is expanded.
    pub vms: Vec<Vm>,
    /// Desktops, which studies have made and taken apart; nothing of them is started with the lab.
    #[serde(default)]
    pub desktops: Vec<DesktopSet>,
    /// Pools of Ceph clusters that disks of desktops are in, as URLs (`rbd:pool`); they are no part of the lab.
    #[serde(default)]
    pub pools: Vec<String>,
}

impl Lab {
    /// The names of all guests: routers, storage guests, hosts, VMs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let routers = self.routers.iter().map(|router| router.name.as_str());
        let storage = self.storage.iter().map(|storage| storage.name.as_str());
        let hosts = self.hosts.iter().map(|host| host.name.as_str());
        routers.chain(storage).chain(hosts).chain(self.vms.iter().map(|vm| vm.name.as_str()))
    }
}

impl Lab {
    /// All virtual disks, those of desktops and their templates too.
    pub fn vm_disks(&self) -> impl Iterator<Item = &VmDisk> {
        let desktops = self.desktops.iter().flat_map(DesktopSet::all);
        self.vms.iter().chain(desktops).flat_map(|vm| &vm.disks)
    }
}

impl Lab {
    /// The suites whose kernels hosts run, other than this machine's; each once.
    pub fn suites(&self) -> impl Iterator<Item = &str> {
        let suites = self.hosts.iter().filter_map(|host| host.suite.as_deref());
        suites.collect::<std::collections::BTreeSet<_>>().into_iter()
    }
}

/// A network: between a storage guest and its clients, between two routers, or between a router and other guests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Rate in each direction; `None`: as fast as the emulation.
    pub rate_bits_per_s: Option<u64>,
    /// Delay in each direction, in addition to that of the emulation.
    pub delay_ns: u64,
    /// Frames lost in each direction, per million.
    pub loss_ppm: u32,
    /// The largest packet (MTU), in bytes, unless a mount asks for another.
    pub mtu: u32,
    /// Link aggregation of the ports between hosts and storage guests.
    pub aggregation: Option<Aggregation>,
    /// The VPN of the guests on it, if it is at a provider's edge.
    #[serde(default)]
    pub vpn: Option<String>,
    /// Between routers: its cost (RFC 2328, section 9); `None`: [`Network::COST`].
    #[serde(default)]
    pub cost: Option<u32>,
}

impl Network {
    /// The cost of a network between routers that does not name one.
    pub const COST: u32 = 10;
}

/// A guest that forwards packets between networks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Router {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory_bytes: u64,
    /// Its virtual processors.
    pub vcpus: u32,
    /// What it does for the provider's VPNs (RFC 4364, section 1.2).
    pub role: Role,
    /// The customer's VPN; customer edges only. `None`: a customer without one, whose routes the provider knows.
    pub vpn: Option<String>,
    /// Indices of its networks in the lab's list.
    pub networks: Vec<usize>,
}

/// Several ports that act as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aggregation {
    /// Number of ports.
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
    /// Index of its network in the lab's list.
    pub network: Option<usize>,
    /// Indices of the networks that join it to routers.
    #[serde(default)]
    pub networks: Vec<usize>,
    /// Its disks; a `count` is expanded.
    pub disks: Vec<StorageDisk>,
    /// Its disk groups, as the file names them.
    pub groups: Vec<DiskGroup>,
    /// Groups served over NFS.
    pub exports: Vec<Share>,
    /// Groups served as block devices.
    pub luns: Vec<Lun>,
}

/// A disk group that is served as files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Index of its group in the storage guest's list.
    pub group: usize,
    /// When the server answers a write or a commit (exports(5), `sync` and `async`).
    #[serde(default)]
    pub writes: ExportWrites,
}

/// A disk group that is served as a block device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lun {
    /// Its name.
    pub name: String,
    /// Index of its group in the storage guest's list.
    pub group: usize,
    /// The protocol that serves it.
    pub protocol: Protocol,
    /// The credentials that an initiator needs; iSCSI only.
    pub chap: Option<Chap>,
    /// Its write cache, which is memory of the storage guest; `None`: that of its disks.
    #[serde(default)]
    pub write_cache: Option<WriteCache>,
}

/// The credentials of an initiator (CHAP, RFC 1994). The password itself is never part of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chap {
    /// The user name.
    pub user: String,
    /// A file whose only line is the password.
    pub password_file: PathBuf,
}

impl Storage {
    /// Whether initiators reach a LUN without a password.
    pub fn is_open(&self, lun: usize) -> bool {
        self.luns.get(lun).is_some_and(|lun| lun.protocol == Protocol::Iscsi && lun.chap.is_none())
    }

    /// The number of a LUN within its target: all iSCSI LUNs without a password share one target, all FC
    /// LUNs share one, and every other LUN has its own target.
    pub fn lun_number(&self, lun: usize) -> usize {
        let Some(of) = self.luns.get(lun) else { return 0 };
        let same_target = |other: &&Lun| other.protocol == of.protocol && other.chap.is_none();
        match of.protocol {
            Protocol::Iscsi if of.chap.is_some() => 0,
            Protocol::NvmeTcp => 0,
            _ => self.luns[..lun].iter().filter(same_target).count(),
        }
    }
}

/// A guest whose kernel is the client of storage guests; an agent in it uses what is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory_bytes: u64,
    /// Its virtual processors.
    pub vcpus: u32,
    /// The suite of Debian whose kernel it runs, as in `trixie`; `None`: that of this machine.
    #[serde(default)]
    pub suite: Option<String>,
    /// Indices of the networks that join it to routers.
    #[serde(default)]
    pub networks: Vec<usize>,
    /// What it mounts.
    pub mounts: Vec<Mount>,
    /// What it serves to other guests.
    #[serde(default)]
    pub services: Services,
}

/// An export or a LUN mounted on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Its name: the path on the host is `/lab/NAME` (NFS) or `/dev/lab/NAME`.
    pub name: String,
    /// Index of its storage guest in the lab's list.
    pub storage: usize,
    /// Index of the storage guest's network over which routers lead to it; `None`: a cable of its own.
    #[serde(default)]
    pub network: Option<usize>,
    /// The largest packet (MTU) of the connection, in bytes.
    pub mtu: u32,
    /// What is mounted; numbers are indices into the storage guest's lists.
    pub of: Mounted,
}

/// What a host mounts, and the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mounted {
    /// An export.
    Nfs {
        /// Index of the export.
        export: usize,
        /// Version of the protocol.
        version: NfsVersion,
    },
    /// A LUN over iSCSI.
    Iscsi {
        /// Index of the LUN.
        lun: usize,
        /// The initiator's credentials.
        chap: Option<Chap>,
    },
    /// A LUN over FC.
    Fc {
        /// Index of the LUN.
        lun: usize,
        /// Number of ports that lead to it.
        paths: u32,
        /// How a path is selected.
        policy: PathPolicy,
    },
    /// A namespace over NVMe/TCP.
    NvmeTcp {
        /// Index of the LUN.
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
    /// The network from this machine to it.
    pub network: Option<VmNetwork>,
    /// Its disks.
    pub disks: Vec<VmDisk>,
}

/// Places for desktops on one datastore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesktopSet {
    /// Its name.
    pub name: String,
    /// The machine of which there is only the disk: desktops are made from it.
    pub template: Vm,
    /// The desktops, numbered from 1 in their names; each has one disk, of the template's size.
    pub places: Vec<Vm>,
}

impl DesktopSet {
    /// The template and the desktops.
    pub fn all(&self) -> impl Iterator<Item = &Vm> {
        std::iter::once(&self.template).chain(&self.places)
    }

    /// Where their disks lie.
    pub fn datastore(&self) -> Datastore {
        self.template.disks.first().map_or(Datastore::Local, |disk| disk.datastore)
    }

    /// Size of each disk.
    pub fn disk_bytes(&self) -> u64 {
        self.template.disks.first().map_or(0, |disk| disk.size_bytes)
    }
}

/// A virtual disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmDisk {
    /// Its name: the guest sees it as `/dev/lab/NAME`.
    pub name: String,
    /// Where it is stored.
    pub datastore: Datastore,
    /// Its size.
    pub size_bytes: u64,
    /// The virtual controller that the guest sees.
    pub controller: Controller,
    /// The file format.
    pub format: DiskFormat,
    /// How the host caches it.
    pub cache: CacheMode,
    /// How much it does.
    #[serde(flatten)]
    pub limit: DiskLimit,
}

/// Where a virtual disk is stored; numbers are indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Datastore {
    /// A file on the host.
    Local,
    /// A file on an export of a storage guest.
    Export {
        /// Index of the lab's storage guest.
        storage: usize,
        /// Index of the storage guest's export.
        export: usize,
    },
    /// Part of a LUN of a storage guest.
    Lun {
        /// Index of the lab's storage guest.
        storage: usize,
        /// Index of the storage guest's LUN.
        lun: usize,
        /// Where the part starts.
        offset_bytes: u64,
    },
    /// An image in a pool of a Ceph cluster; of desktops only.
    Pool {
        /// Index of the lab's pool.
        pool: usize,
    },
}

impl Datastore {
    /// What lab files call it; `None` for this machine.
    pub fn name(self, lab: &Lab) -> Option<String> {
        let share = |storage: usize, name: &str| format!("{}.{name}", lab.storage[storage].name);
        match self {
            Datastore::Local => None,
            Datastore::Export { storage, export } => {
                Some(share(storage, &lab.storage[storage].exports[export].name))
            }
            Datastore::Lun { storage, lun, .. } => {
                Some(share(storage, &lab.storage[storage].luns[lun].name))
            }
            Datastore::Pool { pool } => Some(lab.pools[pool].clone()),
        }
    }
}

/// Enums whose values lab files write as words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $value:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $($(#[$each])* $value,)* }

        impl $name {
            /// All values.
            pub const ALL: [$name; [$($word),*].len()] = [$($name::$value),*];
            /// All values with their words.
            pub const WORDS: [(&'static str, $name); [$($word),*].len()] = [$(($word, $name::$value)),*];

            /// The word in lab files.
            pub fn name(self) -> &'static str {
                match self { $($name::$value => $word,)* }
            }
        }
    };
}

words! {
    /// What a router does for VPNs (RFC 4364).
    Role {
        /// In the core: switches labels, knows no VPN.
        Provider "provider",
        /// At the edge of the core: has the routes of VPNs, gives and takes off labels.
        ProviderEdge "provider-edge",
        /// The customer's own, which knows of no labels.
        CustomerEdge "customer-edge",
    }
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
        /// IDE of Intel's PIIX3 chipset.
        Ide "ide",
    }
}

words! {
    /// Formats of virtual disks.
    DiskFormat {
        /// The bytes of the disk and nothing else.
        Raw "raw",
        /// QEMU's copy-on-write format, which grows.
        Qcow2 "qcow2",
    }
}

words! {
    /// How the host caches a virtual disk, in QEMU's terms.
    CacheMode {
        /// Not at all: bypasses the host's page cache.
        None "none",
        /// In the host's page cache, flushed when the guest asks.
        Writeback "writeback",
        /// Like writeback, but flushed after every write.
        Writethrough "writethrough",
        /// Like writeback, but never flushed.
        Unsafe "unsafe",
    }
}

words! {
    /// The protocol of a LUN.
    Protocol {
        /// iSCSI.
        Iscsi "iscsi",
        /// Fibre Channel over Ethernet.
        Fc "fc",
        /// NVMe over TCP.
        NvmeTcp "nvme-tcp",
    }
}

words! {
    /// When an NFS server answers a write.
    #[derive(Default)]
    ExportWrites {
        /// When it is on stable storage, as the protocol demands.
        #[default]
        Sync "sync",
        /// When it is in the server's memory, even if stable storage was asked for.
        Async "async",
    }
}

words! {
    /// The write cache of a LUN.
    WriteCache {
        /// Writes are acknowledged from memory, and the LUN reports it (WCE).
        On "on",
        /// Writes are acknowledged when they are on stable storage.
        Off "off",
    }
}

words! {
    /// Networks between this machine and VMs.
    VmNetwork {
        /// QEMU's user-mode network: needs no privilege, but cannot be shaped.
        User "user",
    }
}

words! {
    /// Versions of NFS with which hosts can mount.
    NfsVersion {
        /// RFC 1813.
        Three "3",
        /// RFC 7862.
        FourTwo "4.2",
    }
}

words! {
    /// How a path is selected.
    PathPolicy {
        /// The first path that is up.
        Fixed "fixed",
        /// All paths in turn.
        RoundRobin "round-robin",
    }
}

words! {
    /// How ports are aggregated.
    AggregationMode {
        /// Both sides negotiate it (IEEE 802.1AX, LACP).
        Lacp "802.3ad",
        /// One port carries all traffic; another takes over when it fails.
        ActiveBackup "active-backup",
    }
}
