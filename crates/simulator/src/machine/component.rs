//! The parts of a site that people know by name, and what each had to do.

pub use stormeter_trial::{ComponentKind, ComponentUse};

/// The part of a site that a component stands for: indices into its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SitePart {
    /// What the requests of a VM pass one after the other: the hosts' group.
    VmPath(usize),
    /// CPUs of hosts: a group.
    HostCpu(usize),
    /// Ports of hosts: a group and one of its adapters.
    HostPort(usize, usize),
    /// A network.
    Network(usize),
    /// CPUs of controllers.
    ControllerCpu(usize),
    /// Ports of controllers: which controllers and which of their ports.
    ControllerPort(usize, usize),
    /// Memory of controllers.
    ControllerCache(usize),
    /// Disks of a group.
    Disks(usize),
    /// CPUs of a cluster's nodes, as far as they serve it.
    NodeCpu(usize),
    /// Flash in front of a cluster's capacity devices.
    Flash(usize),
    /// The write buffer in that flash.
    Buffer(usize),
    /// Capacity devices of a cluster.
    Capacity(usize),
}

/// A component while the machine runs.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) kind: ComponentKind,
    /// What it stands for; waiting for others is no part of a site.
    pub(crate) part: Option<SitePart>,
    /// Its stations; disks have none.
    pub(crate) stations: Vec<u32>,
    /// Time that requests spent here, since the beginning.
    pub(crate) residence_ns: u64,
    /// Messages lost here, since the beginning.
    pub(crate) lost: u64,
}
