//! A site as plain values: what the simulator builds its machine from.
//!
//! Parts are kept in flat lists and refer to each other by their place in them; names are for people.
//! Whoever made the value has checked it (the reader of site files does), so places are in range,
//! rates above zero and arrays as large as their RAID level needs.
//!
//! Times are nanoseconds, sizes bytes, rates bytes a second, CPU costs cycles of one core: what a
//! stack costs is a property of its code, and the clock turns it into time.

mod controller;
mod datastore;
mod device;
mod host;
mod network;

use serde::{Deserialize, Serialize};

pub use controller::{Cache, Cluster, Controller, Hits, Layout, WriteCache};
pub use datastore::{Client, Placement, SiteDatastore, Target};
pub use device::{Device, DiskGroup, Hdd, Queue, Raid, Service, Spread, Ssd, StripeUnits};
pub use host::{Cost, HostGroup, Protocol, ProtocolOptions, Stack};
pub use network::{Adapter, Aggregation, Network, PathPolicy, PortKind};

/// Everything that a study may be predicted for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// What it is, in a line.
    pub name: String,
    /// What a site does not say and chance decides: over which port a hash sends each pair's messages, on
    /// which nodes and devices a cluster puts the pieces of a disk. `None`: in every block anew, as for a site
    /// of which nobody knows how it will be; a number: once for all blocks, as on a test bed that stands, whose
    /// addresses and disks stay what they are. Another number stands for another test bed.
    pub as_built: Option<u32>,
    /// Hosts of one kind each: hypervisors, clients, nodes of a cluster.
    pub hosts: Vec<HostGroup>,
    /// What a protocol costs an initiator.
    pub stacks: Vec<Stack>,
    /// Switches and lines.
    pub networks: Vec<Network>,
    /// Storage controllers, in pairs or alone.
    pub controllers: Vec<Controller>,
    /// Disks behind a controller or within a host.
    pub groups: Vec<DiskGroup>,
    /// Distributed datastores.
    pub clusters: Vec<Cluster>,
    /// What a study can name. At least one.
    pub datastores: Vec<SiteDatastore>,
    /// Who asks the servers that run in VMs, for transfers; `None` where none does.
    pub client: Option<Client>,
}
