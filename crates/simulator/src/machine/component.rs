//! The parts of a site that people know by name, and what each had to do.

/// What kind of part it is: what could be bought more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComponentKind {
    /// CPUs of hosts.
    HostCpu,
    /// Ports of hosts: HBAs, NICs.
    HostPort,
    /// Shared lines and switches.
    Network,
    /// Ports of controllers.
    ControllerPort,
    /// CPUs of controllers or nodes.
    ControllerCpu,
    /// Memory of controllers: waiting for room.
    Cache,
    /// Disks.
    Disks,
    /// Waiting for the slowest of several parts (replicas, stripes).
    Parts,
}

/// What a component did in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentUse {
    /// Its name in the site, such as `filer cpu`.
    pub name: String,
    /// What it is.
    pub kind: ComponentKind,
    /// Stations it consists of: eight hosts' CPUs are eight.
    pub units: u32,
    /// Busy share of all its servers, 0 to 1.
    pub utilisation: f64,
    /// Busy share of its busiest unit, 0 to 1: where one is full, the others do not help.
    pub utilisation_most: f64,
    /// CPU or service time in the window, all servers together, in nanoseconds.
    pub busy_ns: u64,
    /// Jobs waiting or being served, all units together, on average.
    pub queue_mean: f64,
    /// Jobs that came.
    pub visits: u64,
    /// Messages that found a line's buffer full, were lost and went again.
    pub lost: u64,
    /// Of the response time of the requests that ended in the window, the share spent here, queueing
    /// and service, 0 to 1. The shares of all components add up to 1.
    pub response_share: f64,
    /// Busy share of all its servers, interval by interval.
    pub series: Vec<f64>,
}

/// A component while the machine runs.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) kind: ComponentKind,
    /// Its stations; disks have none.
    pub(crate) stations: Vec<u32>,
    /// Time that requests spent here, since the beginning.
    pub(crate) residence_ns: u64,
    /// Messages lost here, since the beginning.
    pub(crate) lost: u64,
}
