//! The links that routers make of a lab's guests, derived from the networks that they name.
//!
//! A network that a router names is routed. Two routers are joined by one link; a router and other guests are joined by a
//! link for each of them, since a cable has two ends. Every link has a subnet of its own. Its second byte says whose
//! addresses these are, the provider's or those of a VPN, so that a guest in several of them needs one route for each.

use crate::model::{Lab, Network, Role};
use crate::wiring::channels;

/// A cable between a router and another guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Its index among the lab's links: addresses are derived from it.
    pub(crate) number: usize,
    /// Index of its network in the lab's list.
    pub(crate) network: usize,
    /// Whose addresses it has: 0 is the provider, each VPN has the number of its place in [`vpns`], from 1.
    pub(crate) domain: usize,
    /// Its ends. The first is started first.
    pub(crate) ends: [LinkEnd; 2],
}

/// One end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkEnd {
    pub(crate) node: Node,
    /// Its index among the guest's ports to other guests.
    pub(crate) port: usize,
}

/// A guest at a routed network, in the order in which they are started: who connects to a cable needs the other end.
/// Numbers are indices into the lab's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    Host(usize),
    Router(usize),
    Storage(usize),
}

impl Node {
    /// Its name.
    pub(crate) fn name(self, lab: &Lab) -> &str {
        match self {
            Node::Host(index) => &lab.hosts[index].name,
            Node::Router(index) => &lab.routers[index].name,
            Node::Storage(index) => &lab.storage[index].name,
        }
    }

    /// The guest's name for a port. A storage guest's first leads to this machine.
    pub(crate) fn device(self, port: usize) -> String {
        format!("eth{}", port + usize::from(matches!(self, Node::Storage(_))))
    }
}

/// The guests at each routed network, in the order of the lab's networks.
pub(crate) fn members(lab: &Lab, network: usize) -> Vec<Node> {
    let hosts = lab.hosts.iter().map(|host| &host.networks).enumerate();
    let routers = lab.routers.iter().map(|router| &router.networks).enumerate();
    let storage = lab.storage.iter().map(|storage| &storage.networks).enumerate();
    let has = |networks: &[usize]| networks.contains(&network);
    let hosts = hosts.filter(|(_, of)| has(of)).map(|(index, _)| Node::Host(index));
    let routers = routers.filter(|(_, of)| has(of)).map(|(index, _)| Node::Router(index));
    let storage = storage.filter(|(_, of)| has(of)).map(|(index, _)| Node::Storage(index));
    hosts.chain(routers).chain(storage).collect()
}

/// The names of the VPNs, in the order in which routers and then networks name them.
pub(crate) fn vpns(lab: &Lab) -> Vec<&str> {
    let routers = lab.routers.iter().filter_map(|router| router.vpn.as_deref());
    let networks = lab.networks.iter().filter_map(|network| network.vpn.as_deref());
    let mut vpns: Vec<&str> = Vec::new();
    for name in routers.chain(networks) {
        if !vpns.contains(&name) {
            vpns.push(name);
        }
    }
    vpns
}

/// All links of a lab, in the order of its networks.
pub(crate) fn links(lab: &Lab) -> Vec<Link> {
    let vpns = vpns(lab);
    let mut ports = Ports::new(lab);
    let mut links = Vec::new();
    for network in 0..lab.networks.len() {
        let members = members(lab, network);
        let Some(&router) = members.iter().find(|node| matches!(node, Node::Router(_))) else {
            continue;
        };
        let domain = vpn(lab, network, &members)
            .and_then(|name| vpns.iter().position(|vpn| *vpn == name))
            .map_or(0, |place| place + 1);
        for &node in members.iter().filter(|node| **node != router) {
            let mut ends = [router, node];
            ends.sort_unstable();
            links.push(Link {
                number: links.len(),
                network,
                domain,
                ends: ends.map(|node| LinkEnd { node, port: ports.next(node) }),
            });
        }
    }
    links
}

/// The VPN of a routed network: its own, or that of a customer's edge at it.
fn vpn<'l>(lab: &'l Lab, network: usize, members: &[Node]) -> Option<&'l str> {
    let of_customer = members.iter().find_map(|node| match *node {
        Node::Router(index) => lab.routers[index].vpn.as_deref(),
        _ => None,
    });
    lab.networks[network].vpn.as_deref().or(of_customer)
}

/// The next free port of each guest. Those of cables between hosts and storage guests come first.
struct Ports {
    hosts: Vec<usize>,
    routers: Vec<usize>,
    storage: Vec<usize>,
}

impl Ports {
    fn new(lab: &Lab) -> Self {
        let mut ports = Self {
            hosts: vec![0; lab.hosts.len()],
            routers: vec![0; lab.routers.len()],
            storage: vec![0; lab.storage.len()],
        };
        for channel in channels(lab) {
            ports.hosts[channel.host] += channel.cables.len();
            ports.storage[channel.storage] += channel.cables.len();
        }
        ports
    }

    fn next(&mut self, node: Node) -> usize {
        let next = match node {
            Node::Host(index) => &mut self.hosts[index],
            Node::Router(index) => &mut self.routers[index],
            Node::Storage(index) => &mut self.storage[index],
        };
        *next += 1;
        *next - 1
    }
}

impl Link {
    /// Its network.
    pub(crate) fn network<'l>(&self, lab: &'l Lab) -> &'l Network {
        &lab.networks[self.network]
    }

    /// The end of this guest: 0 or 1.
    pub(crate) fn side(&self, node: Node) -> Option<usize> {
        self.ends.iter().position(|end| end.node == node)
    }

    /// The address of an end; its subnet has 30 bits.
    pub(crate) fn address(&self, side: usize) -> String {
        format!("10.{}.{}.{}", self.second_byte(), self.number, side + 1)
    }

    /// All addresses of its domain.
    pub(crate) fn domain_prefix(&self) -> String {
        format!("10.{}.0.0/16", self.second_byte())
    }

    /// The subnet of a link; 10.77 is that of the cables between hosts and storage guests, 10.79 that of routers.
    fn second_byte(&self) -> usize {
        80 + self.domain
    }

    /// The hardware address of an end, locally administered (IEEE 802).
    pub(crate) fn hardware_address(&self, side: usize) -> String {
        format!("02:4c:01:{side:02x}:{:02x}:00", self.number)
    }

    /// Whether it joins two routers.
    pub(crate) fn joins_routers(&self) -> bool {
        self.ends.iter().all(|end| matches!(end.node, Node::Router(_)))
    }

    /// The routers at its ends.
    pub(crate) fn routers(&self) -> impl Iterator<Item = usize> {
        self.ends.iter().filter_map(|end| match end.node {
            Node::Router(index) => Some(index),
            _ => None,
        })
    }

    /// Whether it is inside the provider's network, where packets may have labels.
    pub(crate) fn is_core(&self, lab: &Lab) -> bool {
        self.joins_routers()
            && self.routers().all(|index| lab.routers[index].role != Role::CustomerEdge)
    }

    /// Whether it joins two customers' edges, as a way of their own.
    pub(crate) fn is_backup(&self, lab: &Lab) -> bool {
        self.joins_routers()
            && self.routers().all(|index| lab.routers[index].role == Role::CustomerEdge)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::file::parse_lab;

    /// Two sites of a VPN with a way of their own, servers at a provider's edge, and one host in the provider's network.
    pub(crate) const LAB: &str = "
networks: {core: {rate: 20Mb}, one: {}, two: {}, way: {cost: 100}, site: {}, servers: {vpn: blue}, open: {}}
routers:
  ce1: {role: customer-edge, vpn: blue, networks: [one, site, way]}
  pe1: {role: provider-edge, networks: [core, one, open]}
  pe2: {role: provider-edge, networks: [core, two, servers]}
  ce2: {role: customer-edge, vpn: blue, networks: [two, way]}
storage: {san: {networks: [servers], disks: {a: {size: 64MiB}, b: {size: 64MiB}}, luns: {a: a, b: b}}}
hosts:
  near: {networks: [open], mounts: {b: {datastore: san.b}}}
  far: {count: 2, networks: [site], mounts: {a: {datastore: san.a, network: servers}}}
";

    #[test]
    fn each_link_has_its_domain_and_no_port_has_two() {
        let lab = parse_lab(LAB).unwrap();
        let links = links(&lab);
        let seen: Vec<_> = links
            .iter()
            .map(|link| {
                let names = link.ends.map(|end| end.node.name(&lab));
                (names, link.domain, link.is_core(&lab), link.is_backup(&lab))
            })
            .collect();
        assert_eq!(
            seen,
            [
                (["pe1", "pe2"], 0, true, false),
                (["ce1", "pe1"], 1, false, false),
                (["pe2", "ce2"], 1, false, false),
                (["ce1", "ce2"], 1, false, true),
                (["far1", "ce1"], 1, false, false),
                (["far2", "ce1"], 1, false, false),
                (["pe2", "san"], 1, false, false),
                (["near", "pe1"], 0, false, false),
            ]
        );
        let mut ports: Vec<String> = links
            .iter()
            .flat_map(|link| link.ends)
            .map(|end| format!("{} {}", end.node.name(&lab), end.node.device(end.port)))
            .collect();
        let count = ports.len();
        ports.sort();
        ports.dedup();
        assert_eq!(ports.len(), count, "{ports:?}");
        // Cables between hosts and storage guests come first, and a storage guest's uplink before them.
        assert!(ports.contains(&"near eth1".into()) && ports.contains(&"san eth2".into()));
        assert_eq!(links[4].address(0), "10.81.4.1");
        assert_eq!(links[7].domain_prefix(), "10.80.0.0/16");
    }
}
