//! A site as plain values: what the simulator builds its machine from.
//!
//! Parts are in flat lists and refer to each other by index; names are for people. The reader of site
//! files has checked the value, so indices are in range, rates are above zero and arrays are as large
//! as their RAID level needs.
//!
//! Times are nanoseconds, sizes bytes, rates bytes per second, CPU costs cycles of one core: the
//! cost of a stack is a property of its code, and the clock rate turns it into time.

mod controller;
mod datastore;
mod device;
mod host;
mod network;
mod used;

use serde::{Deserialize, Serialize};

pub use controller::{
    Cache, Cluster, Controller, Distribution, Hits, Layout, ReplicaReads, WriteCache,
};
pub use datastore::{Client, Placement, SiteDatastore, Target};
pub use device::{Device, DiskGroup, Hdd, Queue, Raid, Service, Spread, Ssd, StripeUnits};
pub use host::{Cost, HostGroup, PageCache, Protocol, ProtocolOptions, Stack};
pub use network::{Adapter, Aggregation, Coalescing, Network, PathPolicy, PortKind};
pub use used::UsedParts;

/// Everything that a study can be predicted for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// A one-line description.
    pub name: String,
    /// The seed for choices that a site file leaves open: which port a hash selects for each pair, on which
    /// nodes and devices a cluster puts the pieces of a disk. `None`: drawn again in every block, for a site
    /// that does not exist yet; a number: drawn once for all blocks, as on an existing test bed whose addresses
    /// and disks do not change. Another number stands for another test bed.
    pub as_built: Option<u32>,
    /// Whether memories for writes start as fresh ones; otherwise those that a constant load fills are full.
    pub fresh: bool,
    /// Groups of equal hosts: hypervisors, clients, nodes of a cluster.
    pub hosts: Vec<HostGroup>,
    /// Protocol stacks of initiators.
    pub stacks: Vec<Stack>,
    /// Switches and lines.
    pub networks: Vec<Network>,
    /// Storage controllers, in pairs or alone.
    pub controllers: Vec<Controller>,
    /// Disks behind a controller or in a host.
    pub groups: Vec<DiskGroup>,
    /// Distributed datastores.
    pub clusters: Vec<Cluster>,
    /// Datastores that studies can refer to. At least one.
    pub datastores: Vec<SiteDatastore>,
    /// The client of servers in VMs, for transfers; `None` if there is none.
    pub client: Option<Client>,
}
