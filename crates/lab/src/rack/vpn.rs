//! What the provider's edges have for VPNs: a name for each router, a routing table (VRF) for each VPN, and tunnels.

use std::collections::BTreeSet;

use crate::links::{Link, Node, vpns};
use crate::model::{Lab, Role};

/// The router's own address, by which others know it.
pub(super) fn router_id(router: usize) -> String {
    format!("10.79.0.{}", router + 1)
}

/// The guest's name for the VRF of a domain.
pub(super) fn vrf(domain: usize) -> String {
    format!("vpn{domain}")
}

/// A tunnel between two provider edges, over their VRFs of a VPN whose customers have a way of their own. An OSPF sham
/// link (RFC 4577, section 4.2.7), which FRR does not have, would have the same purpose: without either, routers prefer
/// the customers' way, because routes from BGP count as external to OSPF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tunnel {
    /// The number of the VPN.
    pub(super) domain: usize,
    /// Its ends: routers, by index.
    pub(super) ends: [usize; 2],
}

/// All tunnels of a lab.
pub(super) fn tunnels(lab: &Lab, links: &[Link]) -> Vec<Tunnel> {
    let mut tunnels = Vec::new();
    for domain in 1..=vpns(lab).len() {
        if !links.iter().any(|link| link.domain == domain && link.is_backup(lab)) {
            continue;
        }
        let edges: Vec<usize> = edges(lab, links, domain).collect();
        for (place, &one) in edges.iter().enumerate() {
            let others = edges[place + 1..].iter();
            tunnels.extend(others.map(|&other| Tunnel { domain, ends: [one, other] }));
        }
    }
    tunnels
}

/// The provider edges with a VPN.
pub(super) fn edges<'l>(
    lab: &'l Lab,
    links: &'l [Link],
    domain: usize,
) -> impl Iterator<Item = usize> + 'l {
    let has = move |router: &usize| {
        lab.routers[*router].role == Role::ProviderEdge
            && links.iter().any(|l| l.domain == domain && l.side(Node::Router(*router)).is_some())
    };
    (0..lab.routers.len()).filter(has)
}

/// The VPNs for which a provider edge has routing tables, by number; none for other routers.
pub(super) fn tables(lab: &Lab, links: &[Link], router: usize) -> BTreeSet<usize> {
    let is_edge = lab.routers[router].role == Role::ProviderEdge;
    let own = links.iter().filter(|link| is_edge && link.side(Node::Router(router)).is_some());
    own.map(|link| link.domain).filter(|domain| *domain > 0).collect()
}

/// The provider edges with which a router exchanges the routes of VPNs.
pub(super) fn peers(lab: &Lab, links: &[Link], router: usize) -> BTreeSet<usize> {
    let tables = tables(lab, links, router);
    let edges = tables.into_iter().flat_map(|domain| edges(lab, links, domain));
    edges.filter(|other| *other != router).collect()
}

impl Tunnel {
    /// The guest's name for it, in a lab with these tunnels.
    pub(super) fn device(&self, tunnels: &[Tunnel]) -> String {
        format!("sham{}", tunnels.iter().position(|of| of == self).unwrap_or_default())
    }

    /// The address of an end, and that of an end outside the tunnel, which BGP tells the other edge.
    pub(super) fn addresses(&self, place: usize, side: usize) -> (String, String) {
        // Subnets of 30 bits, in the upper half of the addresses of routers.
        let inside = format!("10.79.{}.{}", 128 + place / 64, place % 64 * 4 + side + 1);
        (inside, self.outside(side))
    }

    /// What an end is reached by.
    pub(super) fn outside(&self, side: usize) -> String {
        format!("10.79.{}.{}", self.domain, self.ends[side] + 1)
    }
}
