//! The named parts of a site, and the work that each did.

pub use stormeter_trial::{ComponentKind, ComponentUse};

/// The part of a site that a component stands for, as indices into its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SitePart {
    /// The serial path of a VM's requests: the hosts' group.
    VmPath(usize),
    /// CPUs of hosts: the group.
    HostCpu(usize),
    /// Ports of hosts: the group and the adapter.
    HostPort(usize, usize),
    /// A network.
    Network(usize),
    /// CPUs of controllers.
    ControllerCpu(usize),
    /// Ports of controllers: the controllers and the port.
    ControllerPort(usize, usize),
    /// Memory of controllers.
    ControllerCache(usize),
    /// Disks of a group.
    Disks(usize),
    /// CPUs of a cluster's nodes, for serving it.
    NodeCpu(usize),
    /// Flash in front of a cluster's capacity devices.
    Flash(usize),
    /// The write buffer in that flash.
    Buffer(usize),
    /// Capacity devices of a cluster.
    Capacity(usize),
}

/// A component of a running machine.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) kind: ComponentKind,
    /// The part that it stands for; waiting for others is not a part of a site.
    pub(crate) part: Option<SitePart>,
    /// Its stations; disks have none.
    pub(crate) stations: Vec<u32>,
    /// Time that requests spent here, since the start.
    pub(crate) residence_ns: u64,
    /// Messages lost here, since the start.
    pub(crate) lost: u64,
}
