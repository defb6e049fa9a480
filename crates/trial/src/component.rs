//! What the parts of a site had to do during a trial: a plain value next to the sample, like
//! [`crate::MonitorRow`]. A model of a site provides it; measurements from outside do not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of part: what one could buy more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ComponentKind {
    /// What the requests of a VM pass one after another on their way to the host.
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
    /// Memory of controllers: waiting for space.
    Cache,
    /// Disks.
    Disks,
    /// Waiting for the slowest of several pieces (replicas, stripes).
    Parts,
}

impl ComponentKind {
    /// All kinds, in the order in which a request meets them.
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

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<ComponentKind> {
        ComponentKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a component did in the window of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentUse {
    /// Its name in the site, such as `filer cpu`.
    pub name: String,
    /// The kind of component.
    pub kind: ComponentKind,
    /// Number of stations: the CPUs of eight hosts are eight.
    pub units: u32,
    /// Busy share of all its servers, 0 to 1.
    pub utilisation: f64,
    /// Busy share of its busiest unit, 0 to 1: if one is saturated, the others do not help.
    pub utilisation_most: f64,
    /// CPU or service time in the window, all servers together, in nanoseconds.
    pub busy_ns: u64,
    /// Jobs waiting or being served, all units together, on average.
    pub queue_mean: f64,
    /// Number of jobs that arrived.
    pub visits: u64,
    /// Messages that found a line's buffer full, were lost and were sent again.
    #[serde(default)]
    pub lost: u64,
    /// Share of the response time, over the requests that ended in the window, spent here in
    /// queueing and service, 0 to 1. The shares of all components add up to 1.
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
