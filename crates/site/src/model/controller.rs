//! Storage controllers with their caches, and datastores spread over hosts.

use serde::{Deserialize, Serialize};

use super::device::Device;
use super::host::{Cost, Protocol};
use super::network::Adapter;

/// Controllers of one kind; each has its own disk group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Controller {
    /// Its name in the site.
    pub name: String,
    /// Number of controllers; each serves its share of the hosts.
    pub count: u32,
    /// Number of cores of each.
    pub cores: u32,
    /// Clock rate of a core, in hertz.
    pub clock_hz: f64,
    /// Its target ports, by purpose; a datastore pairs them with a host's adapter.
    pub ports: Vec<Adapter>,
    /// CPU cost of a request, by protocol.
    pub costs: Vec<(Protocol, Cost)>,
    /// Its cache.
    pub cache: Cache,
    /// Index into [`super::Site::groups`]: the disks behind each controller.
    pub group: usize,
}

/// A controller's cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Size of the read cache, in bytes; 0: none.
    pub read_bytes: u64,
    /// Which reads it answers.
    pub hits: Hits,
    /// How writes are cached.
    pub write: WriteCache,
    /// Where written bytes go on the disks.
    pub layout: Layout,
}

/// Which reads a cache answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hits {
    /// By the sizes of cache and working set, and by skew (Che's approximation); sequential reads by
    /// read-ahead.
    WorkingSet,
    /// This share, 0 to 1, known from elsewhere.
    Share(f64),
}

/// How writes are cached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// Write-through: complete when the disks have the data.
    Through,
    /// Write-back: complete when the data is in memory; the disks get it later.
    Back {
        /// Size of the write cache, in bytes.
        bytes: u64,
        /// Whether it survives a power failure (battery, NVRAM). If not, flushes wait for the disks, and
        /// durable writes go through to them.
        battery: bool,
        /// Destaging starts when this share of it is used, 0 to 1.
        start_share: f64,
        /// Concurrent requests to disks, per data disk.
        depth: u32,
    },
}

/// Where written bytes go on the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// In place; parity is read, modified and written.
    InPlace,
    /// To free space, in whole stripes: no parity is read.
    WriteAnywhere,
}

/// Where a cluster puts the pieces of objects; replicas of a stripe are always on different nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// On the node and device with the fewest: stripes of an object on different devices (vSAN).
    Even,
    /// By a hash, however full a device is, so that stripes of an object may share one (Ceph: Weil, Brandt,
    /// Miller & Maltzahn, "CRUSH", SC 2006).
    Hash,
}

/// Which replicas of a stripe answer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicaReads {
    /// Each one a share of the addresses (vSAN).
    All,
    /// The first one that is not lost: its primary (Ceph).
    Primary,
}

/// A datastore spread over the disks of many hosts (hyper-converged).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Its name in the site.
    pub name: String,
    /// Index into [`super::Site::hosts`]: its nodes.
    pub nodes: usize,
    /// Index of the nodes' adapter that carries its traffic.
    pub adapter: usize,
    /// Disk groups per node.
    pub groups_per_node: u32,
    /// Capacity devices per group.
    pub capacity_per_group: u32,
    /// The flash cache in front of them.
    pub cache: Device,
    /// The capacity devices.
    pub capacity: Device,
    /// Flash per group that caches reads, in bytes; 0 in all-flash.
    pub read_cache_bytes: u64,
    /// Which reads the cache answers.
    pub hits: Hits,
    /// Flash per group that buffers writes until they are destaged, in bytes.
    pub write_buffer_bytes: u64,
    /// CPU cost of a request on the node that has its bytes.
    pub cost: Cost,
    /// Bytes of an object on one stripe before the next stripe starts.
    pub stripe_bytes: u64,
    /// Where the pieces of objects go.
    pub distribution: Distribution,
    /// Which replicas answer reads.
    pub reads: ReplicaReads,
    /// How long to wait for a lost node before its data is copied again. A device known to be
    /// broken, such as a failed capacity device, is not waited for.
    pub repair_delay_ns: u64,
    /// Limit on a node's share of the resynchronization traffic, alongside the load; `None`: as
    /// much as devices and ports allow.
    pub resync_bytes_per_s: Option<f64>,
}
