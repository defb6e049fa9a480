//! A router's set-up: its ports, the VRFs of VPNs, the tunnel that stands in for a sham link, and FRR's daemons.

use super::frr;
use super::routed::port;
use super::vpn::{router_id, tables, tunnels, vrf};
use crate::links::{Link, Node, links};
use crate::model::Lab;

/// The whole script for the lab's router with this index.
pub(super) fn script(lab: &Lab, index: usize) -> String {
    let links = links(lab);
    let node = Node::Router(index);
    let own: Vec<(&Link, usize)> =
        links.iter().filter_map(|link| Some((link, link.side(node)?))).collect();
    let mut lines = vec![
        format!("hostname {}", lab.routers[index].name),
        format!("/bin/ip addr add {}/32 dev lo", router_id(index)),
    ];
    let vrfs = tables(lab, &links, index);
    for &domain in &vrfs {
        let name = vrf(domain);
        lines.push(format!("/bin/ip link add {name} type vrf table {}", 100 + domain));
        lines.push(format!("/bin/ip link set {name} up"));
    }
    for &(link, side) in &own {
        let device = node.device(link.ends[side].port);
        lines.extend(port(lab, link, side));
        // Packets are forwarded as they come: those that Linux has joined are lost between a tunnel and labels.
        lines.push(format!("/sbin/ethtool -K {device} gro off"));
        if vrfs.contains(&link.domain) {
            lines.push(format!("/bin/ip link set {device} master {}", vrf(link.domain)));
        }
        lines.push(format!("/bin/ip addr add {}/30 dev {device}", link.address(side)));
        lines.push(format!("/bin/ip link set {device} up"));
        if link.is_core(lab) {
            lines.push(format!("echo 1 > /proc/sys/net/mpls/conf/{device}/input"));
        }
    }
    let tunnels = tunnels(lab, &links);
    for (place, tunnel) in tunnels.iter().enumerate() {
        let Some(side) = tunnel.ends.iter().position(|end| *end == index) else { continue };
        let (name, vrf) = (tunnel.device(&tunnels), vrf(tunnel.domain));
        let (inside, outside) = tunnel.addresses(place, side);
        let remote = tunnel.outside(1 - side);
        lines.push(format!("/bin/ip link show end-{vrf} > /dev/null 2>&1 || {{"));
        lines.push(format!("/bin/ip link add end-{vrf} type dummy"));
        lines.push(format!("/bin/ip link set end-{vrf} master {vrf}"));
        lines.push(format!("/bin/ip addr add {outside}/32 dev end-{vrf}"));
        lines.push(format!("/bin/ip link set end-{vrf} up; }}"));
        lines.push(format!(
            "/bin/ip link add {name} type gre local {outside} remote {remote} ttl 64 dev {vrf}"
        ));
        // What comes out of it is not fragmented: the core has room for its header.
        lines.push(format!("/bin/ip link set {name} master {vrf} mtu 1500"));
        lines.push(format!("/bin/ip addr add {inside}/30 dev {name}"));
        lines.push(format!("/bin/ip link set {name} up"));
    }
    lines.extend(frr::lines(lab, index, &links, &tunnels));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;
    use crate::links::tests::LAB;

    #[test]
    fn only_the_providers_edges_have_vpns_labels_and_the_tunnel() {
        let lab = parse_lab(LAB).unwrap();
        let [ce1, pe1, pe2, _] = [0, 1, 2, 3].map(|router| script(&lab, router));
        for edge in [&pe1, &pe2] {
            for line in [
                "/bin/ip link add vpn1 type vrf table 101",
                "echo 1 > /proc/sys/net/mpls/conf/eth0/input",
                "router bgp 65000 vrf vpn1",
                "  label local allocate host-routes",
            ] {
                assert!(edge.lines().any(|found| found == line), "{line}\n{edge}");
            }
        }
        let tunnel =
            "/bin/ip link add sham0 type gre local 10.79.1.2 remote 10.79.1.3 ttl 64 dev vpn1";
        assert!(pe1.lines().any(|line| line == tunnel), "{pe1}");
        // The host outside of the VPN is not in its table; the customer's router is.
        assert!(!pe1.contains("eth2 master") && pe1.contains("link set eth1 master vpn1"), "{pe1}");
        for word in ["vrf", "mpls", "bgp", "gre"] {
            assert!(!ce1.contains(word), "{word}: {ce1}");
        }
        assert!(ce1.contains("ip ospf cost 100") && ce1.contains("ip ospf passive"), "{ce1}");
    }

    #[test]
    fn without_a_way_of_the_customers_there_is_no_tunnel() {
        let lab = LAB.replace(", way]", "]").replace(" way: {cost: 100},", "");
        let lab = parse_lab(&lab).unwrap();
        assert!(tunnels(&lab, &links(&lab)).is_empty());
    }
}
