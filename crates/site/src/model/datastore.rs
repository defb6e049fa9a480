//! What a study can name: who reaches which storage, by which way.

use serde::{Deserialize, Serialize};

use super::network::PathPolicy;

/// A datastore of a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteDatastore {
    /// Its name: what a study's datastore is called, or what follows `#` in its URL.
    pub name: String,
    /// Other names that it answers to: those of studies in which another datastore stands for it.
    pub also: Vec<String>,
    /// Index into [`super::Site::hosts`]: where the VMs run.
    pub hosts: usize,
    /// Index into [`super::Site::stacks`].
    pub stack: usize,
    /// Index into the hosts' adapters; `None` for disks in the host.
    pub adapter: Option<usize>,
    /// Which path a request takes.
    pub policy: PathPolicy,
    /// Indices into [`super::Site::networks`], in the order from the host to the storage.
    pub networks: Vec<usize>,
    /// Where the bytes are.
    pub target: Target,
    /// Where VMs are.
    pub placement: Placement,
}

/// Where the bytes of a datastore are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Disks in each host: index into [`super::Site::groups`].
    Group(usize),
    /// Controllers: index into [`super::Site::controllers`] and into its ports.
    Controller {
        /// Which kind.
        controller: usize,
        /// Which of its ports.
        port: usize,
    },
    /// A distributed datastore: index into [`super::Site::clusters`].
    Cluster {
        /// Which one.
        cluster: usize,
        /// Stripes of an object (number of disk stripes per object).
        stripes: u32,
        /// Copies of everything; 2 survives one failure.
        replicas: u32,
    },
}

/// Which host a VM runs on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// One on each host in turn.
    #[default]
    Spread,
    /// A host is filled before the next one.
    Fill,
}

/// A machine that asks servers in VMs: the client of a transfer.
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
    /// What a byte costs each end, in cycles; and each message.
    pub per_byte_cycles: f64,
    /// As `per_byte_cycles`, of each message.
    pub per_message_cycles: f64,
    /// The server's memory takes or gives so many bytes a second.
    pub memory_bytes_per_s: f64,
}
