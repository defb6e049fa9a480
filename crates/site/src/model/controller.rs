//! Storage controllers with their caches, and datastores that are spread over hosts.

use serde::{Deserialize, Serialize};

use super::device::Device;
use super::host::{Cost, Protocol};
use super::network::Adapter;

/// Controllers of one kind; each has a disk group of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Controller {
    /// Its name in the site.
    pub name: String,
    /// How many; each serves its share of the hosts.
    pub count: u32,
    /// Cores of each.
    pub cores: u32,
    /// Clock of a core.
    pub clock_hz: f64,
    /// Its target ports, by what they are for; matched with a host's adapter by the datastore.
    pub ports: Vec<Adapter>,
    /// What a request costs, by protocol.
    pub costs: Vec<(Protocol, Cost)>,
    /// Its memory.
    pub cache: Cache,
    /// Index into [`super::Site::groups`]: the disks behind each controller.
    pub group: usize,
}

/// What a controller keeps in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Memory for reads; 0: none.
    pub read_bytes: u64,
    /// Which reads find their bytes there.
    pub hits: Hits,
    /// What becomes of writes.
    pub write: WriteCache,
    /// Where written bytes go.
    pub layout: Layout,
}

/// Which reads a cache answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hits {
    /// By the sizes of cache and working set, and by skew (Che's approximation); sequential reads by
    /// read-ahead.
    WorkingSet,
    /// This share, 0 to 1: known from elsewhere.
    Share(f64),
}

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// It is done when the disks have it.
    Through,
    /// It is done when it is in memory that survives a power loss; the disks get it later.
    Back {
        /// Memory for it.
        bytes: u64,
        /// Destaging begins when so much of it is used, 0 to 1.
        start_share: f64,
        /// Requests to disks at the same time, per data disk.
        depth: u32,
    },
}

/// Where written bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Where they were; parity is read, changed and written.
    InPlace,
    /// Where there is room, in whole stripes: no parity is read.
    WriteAnywhere,
}

/// A datastore spread over the disks of many hosts (hyper-converged).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Its name in the site.
    pub name: String,
    /// Index into [`super::Site::hosts`]: its nodes.
    pub nodes: usize,
    /// Which adapter of the nodes carries it.
    pub adapter: usize,
    /// Disk groups of a node.
    pub groups_per_node: u32,
    /// Capacity devices of a group.
    pub capacity_per_group: u32,
    /// The flash before them.
    pub cache: Device,
    /// What holds the data.
    pub capacity: Device,
    /// Bytes of flash in a group that hold reads; 0 in all-flash.
    pub read_cache_bytes: u64,
    /// Which reads find their bytes there.
    pub hits: Hits,
    /// Bytes of flash in a group that hold writes until they are destaged.
    pub write_buffer_bytes: u64,
    /// What a request costs the node that has its bytes.
    pub cost: Cost,
    /// Bytes of an object on one stripe before the next one's turn.
    pub stripe_bytes: u64,
    /// How long a lost node may come back before what it had is copied anew. What is known to be
    /// broken, a capacity device, is not waited for.
    pub repair_delay_ns: u64,
    /// What a node takes of copies that are made anew, at most, beside the load; `None`: as much as
    /// devices and ports give.
    pub resync_bytes_per_s: Option<f64>,
}
