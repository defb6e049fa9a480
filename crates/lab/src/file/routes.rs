//! Checks what routers join: that every routed network has two ends, that a guest has a way to what it mounts, and that
//! the roles of routers fit.

use stormeter_yaml::{Diagnostics, Place};

use crate::links::{Node, links, members};
use crate::model::{Lab, Role};

/// The most links: each has a number in one byte of its addresses.
const MOST_LINKS: usize = 200;
/// Slots on a guest's bus that are not taken by devices of every guest.
const MOST_PORTS: usize = 26;

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
    for router in 0..lab.routers.len() {
        let ports = links.iter().filter(|link| link.side(Node::Router(router)).is_some()).count();
        if ports > MOST_PORTS {
            let name = &lab.routers[router].name;
            diagnostics.error_at(
                first,
                format!("router {name} has {ports} ports to other guests; {MOST_PORTS} fit"),
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
