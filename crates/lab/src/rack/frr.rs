//! What FRR's daemons of a router are to do: OSPF (RFC 2328) inside the provider's network and to customers, labels by LDP
//! (RFC 5036), the routes of VPNs by BGP between provider edges (RFC 4364).
//!
//! Neighbours greet each second and are given up after four, so that a lab is up, and recovers, in seconds; a link that is
//! cut is noticed at once. Only the addresses of routers get labels: what passes between two networks without a VPN is
//! routed as if there were no MPLS, on the same links.

use std::collections::BTreeSet;

use super::vpn::{Tunnel, peers, router_id, tables, vrf};
use crate::links::{Link, Node};
use crate::model::{Lab, Network, Role};

/// The provider's autonomous system, a private one (RFC 6996).
pub(super) const AS: u32 = 65000;
/// The cost of the tunnel that stands in for a sham link: less than that of any other way.
const TUNNEL_COST: u32 = 1;

/// The distance of the routes of OSPF in a VPN: less than the 20 of a route that BGP brings from another edge. With OSPF's
/// usual 110, an edge that restarts while the link of its customer is down keeps the other edge's route to what is behind
/// itself when the link is back; the other edge's own route leads through the tunnel, and packets circle between the two.
const INSIDE_VPN: u32 = 15;

/// Lines that write the configuration of a router's daemons and start them.
pub(super) fn lines(lab: &Lab, index: usize, links: &[Link], tunnels: &[Tunnel]) -> Vec<String> {
    let router = Router { lab, index, links, tunnels };
    let mut daemons = vec![("zebra", String::new()), ("ospfd", router.ospf())];
    if lab.routers[index].role != Role::CustomerEdge {
        daemons.push(("ldpd", router.ldp()));
    }
    if lab.routers[index].role == Role::ProviderEdge {
        daemons.push(("bgpd", router.bgp()));
    }
    let mut lines = Vec::new();
    for (daemon, configuration) in daemons {
        lines.push(format!("cat > /etc/frr/{daemon}.conf << 'END'"));
        lines.push("frr defaults traditional".into());
        lines.push(format!("hostname {}", lab.routers[index].name));
        lines.extend(configuration.lines().map(str::to_owned));
        lines.push("END".into());
        lines.push(format!("/usr/lib/frr/{daemon} -d -A 127.0.0.1 -f /etc/frr/{daemon}.conf"));
        if daemon == "zebra" {
            lines.push("until [ -e /run/frr/zserv.api ]; do usleep 20000; done".into());
        }
    }
    lines
}

struct Router<'l> {
    lab: &'l Lab,
    index: usize,
    links: &'l [Link],
    tunnels: &'l [Tunnel],
}

impl Router<'_> {
    /// Its links, each with its device.
    fn own(&self) -> impl Iterator<Item = (&Link, String)> {
        let node = Node::Router(self.index);
        self.links.iter().filter_map(move |link| {
            let side = link.side(node)?;
            Some((link, node.device(link.ends[side].port)))
        })
    }

    /// The VPNs that it has VRFs for.
    fn vrfs(&self) -> BTreeSet<usize> {
        tables(self.lab, self.links, self.index)
    }

    fn ospf(&self) -> String {
        let mut text = String::new();
        text += "interface lo\n ip ospf area 0\n";
        for (link, device) in self.own() {
            text += &format!("interface {device}\n ip ospf area 0\n");
            if link.joins_routers() {
                let cost = link.network(self.lab).cost.unwrap_or(Network::COST);
                text += &neighbour(cost);
            } else {
                text += " ip ospf passive\n";
            }
        }
        for tunnel in self.tunnels.iter().filter(|tunnel| tunnel.ends.contains(&self.index)) {
            text += &format!("interface {}\n ip ospf area 0\n", tunnel.device(self.tunnels));
            text += &neighbour(TUNNEL_COST);
        }
        let id = router_id(self.index);
        let timers = " timers throttle spf 20 100 1000\n timers throttle lsa all 50\n timers lsa min-arrival 50\n";
        text += &format!("router ospf\n ospf router-id {id}\n{timers}");
        for domain in self.vrfs() {
            text += &format!("router ospf vrf {}\n ospf router-id {id}\n{timers}", vrf(domain));
            text += " redistribute bgp route-map customers\n";
            text += &format!(" distance ospf intra-area {INSIDE_VPN}\n");
        }
        if !self.vrfs().is_empty() {
            // The ends of tunnels must not be reached through them.
            text += "ip prefix-list tunnels seq 5 permit 10.79.0.0/16 le 32\n\
                     route-map customers deny 10\n match ip address prefix-list tunnels\n\
                     route-map customers permit 20\n";
        }
        text
    }

    fn ldp(&self) -> String {
        let id = router_id(self.index);
        let mut text = format!(
            "mpls ldp\n router-id {id}\n discovery hello interval 1\n discovery hello holdtime 4\n \
             address-family ipv4\n  discovery transport-address {id}\n  label local allocate host-routes\n"
        );
        for (_, device) in self.own().filter(|(link, _)| link.is_core(self.lab)) {
            text += &format!("  interface {device}\n  exit\n");
        }
        text + " exit-address-family\n"
    }

    fn bgp(&self) -> String {
        let id = router_id(self.index);
        let mut text =
            format!("router bgp {AS}\n bgp router-id {id}\n no bgp default ipv4-unicast\n");
        let others = peers(self.lab, self.links, self.index);
        for &other in &others {
            let peer = router_id(other);
            text += &format!(
                " neighbor {peer} remote-as {AS}\n neighbor {peer} update-source {id}\n \
                 neighbor {peer} timers 3 10\n neighbor {peer} timers connect 1\n \
                 neighbor {peer} advertisement-interval 0\n"
            );
        }
        if !others.is_empty() {
            text += " address-family ipv4 vpn\n";
            for &other in &others {
                let peer = router_id(other);
                text += &format!(
                    "  neighbor {peer} activate\n  neighbor {peer} send-community extended\n"
                );
            }
            text += " exit-address-family\n";
        }
        for domain in self.vrfs() {
            let name = vrf(domain);
            text += &format!(
                "router bgp {AS} vrf {name}\n bgp router-id {id}\n address-family ipv4 unicast\n  \
                 redistribute connected\n  redistribute ospf\n  label vpn export auto\n  \
                 rd vpn export {AS}:{}\n  rt vpn both {AS}:{domain}\n  export vpn\n  import vpn\n \
                 exit-address-family\n",
                1000 * domain + self.index
            );
        }
        text
    }
}

/// How OSPF speaks on a link between two routers.
fn neighbour(cost: u32) -> String {
    format!(
        " ip ospf network point-to-point\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n ip ospf cost {cost}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;
    use crate::links::links;
    use crate::links::tests::LAB;
    use crate::rack::vpn::tunnels;

    #[test]
    fn in_a_vpn_its_own_routes_come_before_those_of_the_other_edge() {
        let lab = parse_lab(LAB).unwrap();
        let links = links(&lab);
        let all = |router| lines(&lab, router, &links, &tunnels(&lab, &links)).join("\n");
        let [ce1, pe1, pe2, ce2] = [0, 1, 2, 3].map(all);
        for edge in [&pe1, &pe2] {
            let (before, of_vrf) = edge.split_once("router ospf vrf vpn1\n").unwrap();
            let of_vrf = of_vrf.split("\nip prefix-list").next().unwrap();
            assert!(of_vrf.lines().any(|line| line == " distance ospf intra-area 15"), "{edge}");
            assert!(
                !before.contains("distance"),
                "that of the provider's own is the usual: {edge}"
            );
        }
        for customer in [&ce1, &ce2] {
            assert!(!customer.contains("distance"), "{customer}");
        }
    }
}
