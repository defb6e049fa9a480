//! What the parts of a site had to do while a trial ran: a plain value beside the sample, as
//! [`crate::MonitorRow`] is. A model of a site yields it; what is measured from outside does not.

use serde::{Deserialize, Serialize};

/// What kind of part it is: what could be bought more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComponentKind {
    /// What the requests of a VM pass one after the other on their way to the host.
    VmPath,
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

impl ComponentKind {
    /// All of them, in the order in which a request meets them.
    pub const ALL: [ComponentKind; 9] = [
        ComponentKind::VmPath,
        ComponentKind::HostCpu,
        ComponentKind::HostPort,
        ComponentKind::Network,
        ComponentKind::ControllerPort,
        ComponentKind::ControllerCpu,
        ComponentKind::Cache,
        ComponentKind::Disks,
        ComponentKind::Parts,
    ];

    /// The name in JSON and in the results file.
    pub fn name(self) -> &'static str {
        match self {
            ComponentKind::VmPath => "vm-path",
            ComponentKind::HostCpu => "host-cpu",
            ComponentKind::HostPort => "host-port",
            ComponentKind::Network => "network",
            ComponentKind::ControllerPort => "controller-port",
            ComponentKind::ControllerCpu => "controller-cpu",
            ComponentKind::Cache => "cache",
            ComponentKind::Disks => "disks",
            ComponentKind::Parts => "parts",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<ComponentKind> {
        ComponentKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a component did in the window of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    #[serde(default)]
    pub lost: u64,
    /// Of the response time of the requests that ended in the window, the share spent here, queueing
    /// and service, 0 to 1. The shares of all components add up to 1.
    pub response_share: f64,
    /// Busy share of all its servers, interval by interval.
    pub series: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_name_everywhere() {
        for kind in ComponentKind::ALL {
            assert_eq!(ComponentKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
