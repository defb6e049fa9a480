//! The ends of links between routers and other guests: hardware addresses, packet sizes, addresses, rate, delay, loss and
//! routes, as lines of a guest's set-up.

use super::ports::netem;
use crate::links::{Link, Node, links};
use crate::model::Lab;

/// What a packet inside the provider's network may have in addition: two labels, and the header of the tunnel that stands
/// in for a sham link (RFC 3032, RFC 2784), with room to spare.
const HEADERS: u32 = 64;

/// Lines that bring up one end of a link, without its address.
pub(super) fn port(lab: &Lab, link: &Link, side: usize) -> Vec<String> {
    let network = link.network(lab);
    let end = link.ends[side];
    let device = end.node.device(end.port);
    let mtu = network.mtu + if link.is_core(lab) { HEADERS } else { 0 };
    let address = link.hardware_address(side);
    let mut lines = vec![format!("/bin/ip link set {device} address {address} mtu {mtu}")];
    if let Some(netem) = netem(network) {
        lines.push(format!("/sbin/tc qdisc replace dev {device} root {netem}"));
    }
    lines
}

/// Lines that join a host or a storage guest to its routers, with a route for each of them. They can be repeated.
pub(super) fn lines(lab: &Lab, node: Node) -> Vec<String> {
    let mut lines = Vec::new();
    for link in links(lab) {
        let Some(side) = link.side(node) else { continue };
        let end = link.ends[side];
        let device = end.node.device(end.port);
        lines.extend(port(lab, &link, side));
        lines.push(format!("/bin/ip addr replace {}/30 dev {device}", link.address(side)));
        lines.push(format!("/bin/ip link set {device} up"));
        let (all, router) = (link.domain_prefix(), link.address(1 - side));
        lines.push(format!("/bin/ip route replace {all} via {router} dev {device}"));
    }
    lines
}

/// The address of a storage guest at one of its networks.
pub(super) fn storage_address(lab: &Lab, storage: usize, network: usize) -> Option<String> {
    let node = Node::Storage(storage);
    let link =
        links(lab).into_iter().find(|link| link.network == network && link.side(node).is_some())?;
    let side = link.side(node)?;
    Some(link.address(side))
}

/// The addresses of other hosts and storage guests that a guest has to reach, by name.
pub(super) fn far_ends(lab: &Lab, node: Node) -> Vec<(String, String)> {
    let links = links(lab);
    let domains: Vec<usize> =
        links.iter().filter(|link| link.side(node).is_some()).map(|link| link.domain).collect();
    let of_domain = links.iter().filter(|link| domains.contains(&link.domain));
    let ends = of_domain.flat_map(|link| [0, 1].map(|side| (link, side)));
    let far = ends.filter(|(link, side)| {
        let other = link.ends[*side].node;
        other != node && !matches!(other, Node::Router(_))
    });
    far.map(|(link, side)| (link.ends[side].node.name(lab).to_owned(), link.address(side)))
        .collect()
}
