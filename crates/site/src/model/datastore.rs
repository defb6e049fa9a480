//! Datastores: which hosts reach which storage, over which path.

use serde::{Deserialize, Serialize};

use super::network::PathPolicy;

/// A datastore of a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteDatastore {
    /// Its name: the study's name of a datastore, or what follows `#` in its URL.
    pub name: String,
    /// Other names for it, from studies in which another datastore stands for it.
    pub also: Vec<String>,
    /// Index into [`super::Site::hosts`]: the hosts that run the VMs.
    pub hosts: usize,
    /// Index into [`super::Site::stacks`].
    pub stack: usize,
    /// Index into the hosts' adapters; `None` for disks in the host.
    pub adapter: Option<usize>,
    /// How a request's path is selected.
    pub policy: PathPolicy,
    /// Indices into [`super::Site::networks`], from the host to the storage.
    pub networks: Vec<usize>,
    /// The storage.
    pub target: Target,
    /// How VMs are placed on hosts.
    pub placement: Placement,
}

/// The storage of a datastore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Disks in each host: index into [`super::Site::groups`].
    Group(usize),
    /// Controllers: index into [`super::Site::controllers`] and into its ports.
    Controller {
        /// Index of the controller.
        controller: usize,
        /// Index of its port.
        port: usize,
    },
    /// A distributed datastore: index into [`super::Site::clusters`].
    Cluster {
        /// Index of the cluster.
        cluster: usize,
        /// Stripes of an object (number of disk stripes per object).
        stripes: u32,
        /// Copies of everything; 2 survives one failure.
        replicas: u32,
    },
}

/// How VMs are placed on hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// One VM on each host in turn.
    #[default]
    Spread,
    /// Fills a host before the next one.
    Fill,
}

/// A machine that connects to servers in VMs: the client of a transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Index into [`super::Site::hosts`].
    pub hosts: usize,
    /// Index into its adapters.
    pub adapter: usize,
    /// Index into the adapters of the VMs' hosts.
    pub server_adapter: usize,
    /// Indices into [`super::Site::networks`], from the client to the server.
    pub networks: Vec<usize>,
    /// CPU cost per byte at each end, in cycles.
    pub per_byte_cycles: f64,
    /// CPU cost per message at each end, in cycles.
    pub per_message_cycles: f64,
    /// Memory bandwidth of the server, in bytes per second.
    pub memory_bytes_per_s: f64,
}
