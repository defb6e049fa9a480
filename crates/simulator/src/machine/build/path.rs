//! Which port of each end a request uses.

use crate::machine::mix::mixed;
use stormeter_site::{Adapter, Aggregation, PathPolicy, Protocol};

use crate::machine::step::{PATHS, Pick};

/// How a port of an end is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// This port.
    One(u32),
    /// The next of several paths over several ports.
    Rotate {
        /// Number of ports.
        ports: u16,
        /// Number of paths.
        paths: u16,
    },
    /// The port of the request's path, among this many ports.
    Same {
        /// Number of ports.
        ports: u16,
    },
    /// The port of the request's path, among the ports of the request's node.
    Node {
        /// Number of ports.
        ports: u16,
    },
    /// The port of the flow with the request's node.
    Flow {
        /// Number of ports.
        ports: u16,
        /// Salt of the sender's hash.
        salt: u16,
    },
    /// As `Flow`, of the request's node.
    NodeFlow {
        /// Number of ports.
        ports: u16,
        /// Salt of the sender's hash.
        salt: u16,
    },
}

impl Way {
    /// The station, among those from `first`.
    pub(super) fn pick(self, first: u32) -> Pick {
        match self {
            Way::One(port) => Pick::One(first + port),
            Way::Rotate { ports, paths } => Pick::Rotate { first, ports, paths },
            Way::Same { ports } => Pick::Same { first, ports },
            Way::Node { ports } => Pick::Node { first, ports },
            Way::Flow { ports, salt } => Pick::Flow { first, ports, salt },
            Way::NodeFlow { ports, salt } => Pick::NodeFlow { first, ports, salt },
        }
    }

    /// The selection for all further messages of the same request.
    pub(super) fn further(self) -> Way {
        match self {
            Way::Rotate { ports, .. } => Way::Same { ports },
            way => way,
        }
    }
}

/// The selections at an end: for sending, and for receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ways {
    pub(super) send: Way,
    pub(super) receive: Way,
}

impl Ways {
    /// The same for both directions.
    pub(super) fn both(way: Way) -> Self {
        Self { send: way, receive: way }
    }
}

/// The kind of traffic: the same two ends hash differently for different traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Talk {
    /// Between hosts and their storage.
    Storage,
    /// From clients to servers in VMs.
    ToServer,
    /// From servers in VMs to clients.
    FromServer,
}

/// The hashes of the senders. Each side of a link aggregation distributes what it sends by its own
/// rule, of which the standard only requires that a conversation stays on one link (IEEE 802.3ad-2000,
/// section 43.2.4): over which port an end sends is its own choice, over which it receives the
/// switch's. A site does not specify rules and addresses; here they follow from the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Senders {
    salt: u32,
}

/// Odd and irregular: two to the 32nd by the golden ratio.
const STEP: u32 = 0x9e37_79b9;

impl Senders {
    pub(super) fn new(seed: u64, talk: Talk) -> Self {
        let seed = mixed((seed ^ (seed >> 32)) as u32);
        Self { salt: seed.wrapping_add((talk as u32).wrapping_mul(STEP)) }
    }

    /// The hashes of a flow by the host, by the switch in front of the target, by the target and by
    /// the switch in front of the host.
    fn hashes(self, flow: u32) -> [u32; 4] {
        let flow = mixed(flow ^ mixed(self.salt));
        [1, 2, 3, 4].map(|sender: u32| mixed(flow ^ sender.wrapping_mul(STEP)))
    }

    /// The salts of a host's flows with nodes, in the order of [`Senders::hashes`].
    pub(super) fn salts(self, host: u32) -> [u16; 4] {
        self.hashes(host).map(|hash| (hash >> 16) as u16)
    }
}

/// Two ends and how they talk.
pub(super) struct Pair<'a> {
    pub(super) host: &'a Adapter,
    pub(super) target: &'a Adapter,
    pub(super) policy: PathPolicy,
    pub(super) protocol: Protocol,
    /// The identity of the flow, for a hash.
    pub(super) flow: u32,
    pub(super) senders: Senders,
    /// The target's port that this host is mapped to.
    pub(super) target_port: u32,
}

impl Pair<'_> {
    /// The selections at the host and at the target.
    ///
    /// Multipathing takes precedence over aggregation: a path is a port of the host with one of the
    /// target, and round-robin takes each pair in turn. On one path, each side's aggregation
    /// decides; for a hash, each sender has its own. Ports of a target that are used singly
    /// (active-backup) are separate portals for iSCSI and Fibre Channel, over which hosts are
    /// spread; an NFS server has one address, on the first. If hosts are assigned to a target's
    /// ports, each port has its own address whatever the protocol, and all paths of a host lead to
    /// its port.
    pub(super) fn ways(&self) -> (Ways, Ways) {
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
            let at_host = Way::Rotate { ports: host_ports, paths };
            return (Ways::both(at_host), Ways::both(at_target));
        }
        let [by_host, to_target, by_target, to_host] = self.senders.hashes(self.flow);
        let at_host = match self.host.aggregation {
            Aggregation::RoundRobin if host > 1 => {
                Ways::both(Way::Rotate { ports: host_ports, paths })
            }
            Aggregation::Hash => {
                Ways { send: Way::One(by_host % host), receive: Way::One(to_host % host) }
            }
            _ => Ways::both(Way::One(0)),
        };
        let at_target = match (self.target.aggregation, at_host.send) {
            (Aggregation::RoundRobin, Way::Rotate { .. }) => {
                Ways::both(Way::Same { ports: target_ports })
            }
            (Aggregation::RoundRobin, _) if target > 1 => {
                Ways::both(Way::Rotate { ports: target_ports, paths: target_ports })
            }
            (Aggregation::Hash, _) => {
                Ways { send: Way::One(by_target % target), receive: Way::One(to_target % target) }
            }
            (Aggregation::ByHost, _) => Ways::both(Way::One(self.target_port)),
            (Aggregation::ActiveBackup, _) if self.protocol != Protocol::Nfs => {
                Ways::both(Way::One(self.target_port))
            }
            _ => Ways::both(Way::One(0)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_site::{Coalescing, PortKind};

    fn hashed(count: u32) -> Adapter {
        let kind = PortKind::Ethernet { mtu_bytes: 1500 };
        let (name, aggregation) = ("nic".into(), Aggregation::Hash);
        Adapter {
            name,
            kind,
            rate_bytes_per_s: 125e6,
            count,
            aggregation,
            latency_ns: 0.0,
            coalescing: Coalescing::default(),
        }
    }

    fn ports(seed: u64, flow: u32) -> [u32; 4] {
        let adapter = hashed(2);
        let pair = Pair {
            host: &adapter,
            target: &adapter,
            policy: PathPolicy::Fixed,
            protocol: Protocol::Nfs,
            flow,
            senders: Senders::new(seed, Talk::Storage),
            target_port: 0,
        };
        let (host, target) = pair.ways();
        [host.send, target.receive, target.send, host.receive].map(|way| match way {
            Way::One(port) => port,
            way => panic!("{way:?} is not one port"),
        })
    }

    #[test]
    fn each_sender_hashes_by_its_own_rule_and_a_flow_keeps_its_ports() {
        // Flows of eight hosts with two controllers, on many test beds.
        let flows = || {
            (0..500u64)
                .flat_map(|seed| (0..8u32).map(move |host| (seed, (host << 12) | (host / 4))))
        };
        let places = [(0, 1), (2, 3), (0, 3), (1, 2)];
        for (one, other) in places {
            let mut counts = [0; 4];
            for (seed, flow) in flows() {
                let ports = ports(seed, flow);
                counts[(ports[one] * 2 + ports[other]) as usize] += 1;
            }
            // 1000 expected, with a standard deviation of 27.
            assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
        }
        for (seed, flow) in flows() {
            assert_eq!(ports(seed, flow), ports(seed, flow));
        }
    }

    #[test]
    fn hosts_do_not_follow_each_other_over_the_ports() {
        // Within one test bed, too, flows are spread over all four combinations.
        for seed in 0..20 {
            let mut counts = [0; 4];
            for host in 0..400u32 {
                let [by_host, to_target, ..] = ports(seed, host << 12);
                counts[(by_host * 2 + to_target) as usize] += 1;
            }
            assert!(counts.iter().all(|count| (60..140).contains(count)), "{counts:?}");
        }
    }
}
