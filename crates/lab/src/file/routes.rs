//! Checks what routers join: that every routed network has two ends, that a guest has a way to what it mounts, and that
//! the roles of routers fit.

use stormeter_yaml::{Diagnostics, Place};

use super::network::MOST_SLOTS;
use crate::links::{Node, links, members, vpns};
use crate::model::{Lab, Role};

/// The most links: each has a number in one byte of its addresses.
const MOST_LINKS: usize = 200;
/// The most VPNs: each has a number in one byte of its addresses.
const MOST_VPNS: usize = 100;

/// Reports everything that is wrong with the routed networks; `places` are those of the networks.
pub(super) fn check(lab: &Lab, places: &[Place], diagnostics: &mut Diagnostics) {
    let before = diagnostics.count();
    for (network, place) in places.iter().enumerate() {
        if let Some(wrong) = network_is_wrong(lab, network) {
            diagnostics.error_at(*place, wrong);
        }
    }
    // What follows needs networks that are whole.
    if diagnostics.count() > before {
        return;
    }
    let links = links(lab);
    let first = places.first().copied().unwrap_or_default();
    if links.len() > MOST_LINKS {
        let count = links.len();
        diagnostics.error_at(first, format!("a lab has at most {MOST_LINKS} links, not {count}"));
    }
    let vpns = vpns(lab).len();
    if vpns > MOST_VPNS {
        diagnostics.error_at(first, format!("a lab has at most {MOST_VPNS} VPNs, not {vpns}"));
    }
    let routers = (0..lab.routers.len()).map(Node::Router);
    for node in routers.chain((0..lab.hosts.len()).map(Node::Host)) {
        let ends = links.iter().flat_map(|link| link.ends).filter(|end| end.node == node);
        let ports = ends.map(|end| end.port + 1).max().unwrap_or(0);
        if ports > MOST_SLOTS {
            let name = node.name(lab);
            diagnostics.error_at(
                first,
                format!("{name} has {ports} ports to other guests; {MOST_SLOTS} fit"),
            );
        }
    }
    for (index, host) in lab.hosts.iter().enumerate() {
        for mount in &host.mounts {
            let Some(network) = mount.network else { continue };
            let at = |node: Node| links.iter().filter(move |link| link.side(node).is_some());
            let mut far = at(Node::Storage(mount.storage));
            let domain = far.find(|link| link.network == network).map(|link| link.domain);
            let mut near = at(Node::Host(index));
            if domain.is_none_or(|domain| !near.any(|link| link.domain == domain)) {
                diagnostics.error_at(
                    places[network],
                    format!(
                        "host {} mounts {} over network {}, and none of its own networks leads there; add one with the \
                         same VPN to its networks",
                        host.name, mount.name, lab.networks[network].name
                    ),
                );
            }
        }
    }
    let hosts = (0..lab.hosts.len()).map(Node::Host);
    for node in hosts.chain((0..lab.storage.len()).map(Node::Storage)) {
        let mut seen: Vec<(usize, usize)> = Vec::new();
        for link in links.iter().filter(|link| link.side(node).is_some()) {
            if let Some((_, other)) = seen.iter().find(|(domain, _)| *domain == link.domain) {
                let (name, one) = (node.name(lab), &lab.networks[*other].name);
                diagnostics.error_at(
                    places[link.network],
                    format!(
                        "{name} is at two networks with the same routes, {one} and {}; remove one, or give one a vpn",
                        link.network(lab).name
                    ),
                );
            }
            seen.push((link.domain, link.network));
        }
    }
}

/// Why a network cannot be as the file says.
fn network_is_wrong(lab: &Lab, network: usize) -> Option<String> {
    let of = &lab.networks[network];
    let name = &of.name;
    let members = members(lab, network);
    let routers: Vec<usize> = members
        .iter()
        .filter_map(|node| match node {
            Node::Router(index) => Some(*index),
            _ => None,
        })
        .collect();
    let guest = members.iter().find(|node| !matches!(node, Node::Router(_)));
    let joins_routers = routers.len() == 2;
    if let (None, Some(guest)) = (routers.first(), guest) {
        return Some(format!(
            "no router is at network {name}, which is one of the networks of {}; add it to the networks of a router",
            guest.name(lab)
        ));
    }
    if routers.is_empty() {
        return match (&of.vpn, of.cost) {
            (None, None) => None,
            _ => Some(format!(
                "no router is at network {name}; vpn and cost are for networks with routers"
            )),
        };
    }
    if routers.len() > 2 || joins_routers && guest.is_some() {
        return Some(format!(
            "network {name} joins {}; a network with routers joins two routers, or one router and other guests",
            members.iter().map(|node| node.name(lab)).collect::<Vec<_>>().join(", ")
        ));
    }
    if members.len() == 1 {
        let router = &lab.routers[routers[0]].name;
        return Some(format!(
            "network {name} has one end, at router {router}; add it to the networks of another router, or of a host"
        ));
    }
    if lab.storage.iter().any(|storage| storage.network == Some(network)) {
        return Some(format!(
            "network {name} has a router; name it in a storage guest's networks, not its network"
        ));
    }
    if of.aggregation.is_some() {
        return Some(format!(
            "network {name} has a router, whose ports are not aggregated; remove aggregation"
        ));
    }
    if of.cost.is_some() && !joins_routers {
        return Some(format!(
            "network {name} does not join two routers, so it has no cost; remove cost"
        ));
    }
    let role = |index: usize| lab.routers[index].role;
    let edge = |index: &&usize| role(**index) == Role::CustomerEdge;
    match (&of.vpn, routers.as_slice()) {
        (Some(_), [only]) if role(*only) == Role::ProviderEdge => None,
        (Some(_), _) => Some(format!(
            "network {name} is not between a provider-edge router and guests, so it has no vpn of its own; remove vpn"
        )),
        (None, [one, other]) if edge(&one) && edge(&other) => {
            let vpn = |index: usize| lab.routers[index].vpn.as_deref().unwrap_or("none");
            (vpn(*one) != vpn(*other)).then(|| {
                format!(
                    "network {name} joins two customers: {} is in VPN {}, {} in {}",
                    lab.routers[*one].name,
                    vpn(*one),
                    lab.routers[*other].name,
                    vpn(*other)
                )
            })
        }
        (None, [one, other]) if edge(&one) || edge(&other) => {
            let inner = if edge(&one) { *other } else { *one };
            (role(inner) == Role::Provider).then(|| {
                format!(
                    "network {name} joins a customer's edge to {} in the provider's core; join it to a provider-edge \
                     router",
                    lab.routers[inner].name
                )
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::file::parse_lab;

    /// What is wrong with a provider's edges and one host that is at as many VPNs.
    fn wrong(edges: usize, vpns: usize) -> String {
        let names =
            |prefix: &str, count| (0..count).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>();
        let networks = names("v", vpns);
        let all = networks.join(", ");
        let mut text = String::from("networks:\n");
        for network in &networks {
            text += &format!("  {network}: {{vpn: {network}}}\n");
        }
        text += "routers:\n";
        for (edge, own) in networks.chunks(vpns.div_ceil(edges)).enumerate() {
            text +=
                &format!("  pe{edge}: {{role: provider-edge, networks: [{}]}}\n", own.join(", "));
        }
        text += &format!("hosts: {{h: {{networks: [{all}]}}}}\n");
        parse_lab(&text).map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    #[test]
    fn what_has_no_address_or_no_slot_is_refused() {
        assert_eq!(wrong(2, 26), "");
        assert!(wrong(2, 27).contains("h has 27 ports to other guests; 26 fit"));
        assert!(wrong(1, 27).contains("pe0 has 27 ports to other guests; 26 fit"));
        assert!(wrong(5, 101).contains("a lab has at most 100 VPNs, not 101"));
    }
}
