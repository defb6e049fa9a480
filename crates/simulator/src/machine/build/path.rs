//! Which port of each end a request takes.

use stormeter_site::{Adapter, Aggregation, PathPolicy, Protocol};

use crate::machine::step::{PATHS, Pick};

/// Which of the ports of an end, and way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// This one.
    One(u32),
    /// The next of so many paths over so many ports.
    Rotate {
        /// Ports.
        ports: u16,
        /// Paths.
        paths: u16,
    },
    /// That of the request's path, of so many ports.
    Same {
        /// Ports.
        ports: u16,
    },
    /// That of the request's path, of so many ports of the request's node.
    Node {
        /// Ports.
        ports: u16,
    },
}

impl Way {
    /// The station, of those from `first`.
    pub(super) fn pick(self, first: u32) -> Pick {
        match self {
            Way::One(port) => Pick::One(first + port),
            Way::Rotate { ports, paths } => Pick::Rotate { first, ports, paths },
            Way::Same { ports } => Pick::Same { first, ports },
            Way::Node { ports } => Pick::Node { first, ports },
        }
    }

    /// The way of all further messages of the same request.
    pub(super) fn further(self) -> Way {
        match self {
            Way::Rotate { ports, .. } => Way::Same { ports },
            way => way,
        }
    }
}

/// Two ends and how they talk.
pub(super) struct Pair<'a> {
    pub(super) host: &'a Adapter,
    pub(super) target: &'a Adapter,
    pub(super) policy: PathPolicy,
    pub(super) protocol: Protocol,
    /// Who talks with whom, for a hash.
    pub(super) flow: u32,
    /// The target's port that this host is mapped to.
    pub(super) target_port: u32,
}

impl Pair<'_> {
    /// The ways at the host and at the target.
    ///
    /// Multipathing comes before aggregation: a path is a port of the host with one of the target,
    /// and round-robin takes each pair in turn. On one path, each side's aggregation decides. Ports
    /// of a target that stand alone (active-backup) are portals of their own for iSCSI and Fibre
    /// Channel, over which hosts are spread; an NFS server has one address, on the first. Where hosts
    /// are dealt to a target's ports, each port has an address of its own whatever the protocol, and
    /// all paths of a host lead to its one.
    pub(super) fn ways(&self) -> (Way, Way) {
        let dealt = self.target.aggregation == Aggregation::ByHost;
        let host = self.host.count.max(1);
        let target = if dealt { 1 } else { self.target.count.max(1) };
        let (host_ports, target_ports) = (host as u16, target as u16);
        let paths = match common_multiple(host, target) {
            paths if paths <= PATHS => paths,
            _ => host.min(PATHS),
        } as u16;
        if self.policy == PathPolicy::RoundRobin && paths > 1 {
            let at_target = match dealt {
                true => Way::One(self.target_port),
                false => Way::Same { ports: target_ports },
            };
            return (Way::Rotate { ports: host_ports, paths }, at_target);
        }
        let hash = mixed(self.flow);
        let at_host = match self.host.aggregation {
            Aggregation::RoundRobin if host > 1 => Way::Rotate { ports: host_ports, paths },
            Aggregation::Hash => Way::One(hash % host),
            _ => Way::One(0),
        };
        let at_target = match (self.target.aggregation, at_host) {
            (Aggregation::RoundRobin, Way::Rotate { .. }) => Way::Same { ports: target_ports },
            (Aggregation::RoundRobin, _) if target > 1 => {
                Way::Rotate { ports: target_ports, paths: target_ports }
            }
            (Aggregation::Hash, _) => Way::One(hash % target),
            (Aggregation::ByHost, _) => Way::One(self.target_port),
            (Aggregation::ActiveBackup, _) if self.protocol != Protocol::Nfs => {
                Way::One(self.target_port)
            }
            _ => Way::One(0),
        };
        (at_host, at_target)
    }
}

fn common_multiple(a: u32, b: u32) -> u32 {
    let (mut larger, mut smaller) = (a, b);
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    a / larger * b
}

/// A hash that is the same everywhere (the finalizer of MurmurHash3, public domain).
pub(in crate::machine) fn mixed(mut word: u32) -> u32 {
    word ^= word >> 16;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^= word >> 13;
    word = word.wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}
