//! The network of a storage guest: its rate, delay and loss.
//!
//! The kernel's netem in the guest implements it (tc-netem(8)), in each direction: incoming packets pass
//! through a separate device, because only outgoing packets can be queued.

use super::ports::netem;
use crate::model::Network;

/// QEMU's id of a storage guest's network.
pub(super) const NETDEV: &str = "net";

/// Rate and delay of a network, as lines of a guest's set-up; empty if it has neither.
pub(super) fn shape(network: &Network) -> Vec<String> {
    match netem(network) {
        Some(netem) => both_ways(&netem),
        None => Vec::new(),
    }
}

/// Lines that drop a share of the packets, 0 to 1, in addition to the network's usual settings.
pub(super) fn loss(network: Option<&Network>, share: f64) -> String {
    let lossy = network.map(|network| lossy(network, share));
    let netem = match lossy {
        Some(lossy) => netem(&lossy),
        None if share > 0.0 => Some(format!("{QUEUE} loss random {:.4}%", share * 100.0)),
        None => None,
    };
    both_ways(&netem.unwrap_or_else(|| QUEUE.into())).join("\n") + "\n"
}

/// The same for one port of a link, which shapes what it sends.
pub(super) fn port_loss(network: &Network, device: &str, share: f64) -> String {
    let netem = netem(&lossy(network, share)).unwrap_or_else(|| QUEUE.into());
    format!("/sbin/tc qdisc replace dev {device} root {netem}\n")
}

fn lossy(network: &Network, share: f64) -> Network {
    let ppm = network.loss_ppm + (share * 1e6).round() as u32;
    Network { loss_ppm: ppm.min(1_000_000), ..network.clone() }
}

/// A queue that is long enough not to drop packets.
const QUEUE: &str = "netem limit 100000";

/// Applies the same netem in both directions; the lines can be repeated with different settings.
fn both_ways(netem: &str) -> Vec<String> {
    let filter = "/sbin/tc filter add dev eth0 parent ffff: protocol all matchall action mirred egress \
                  redirect dev ifb0";
    vec![
        "ifconfig ifb0 up".into(),
        format!("/sbin/tc qdisc replace dev eth0 root {netem}"),
        format!("/sbin/tc qdisc replace dev ifb0 root {netem}"),
        format!(
            "if ! /sbin/tc qdisc show dev eth0 | grep -q ingress; then /sbin/tc qdisc add dev eth0 handle \
             ffff: ingress; {filter}; fi"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_added_to_what_the_network_is_and_taken_away_again() {
        let plain = Network {
            name: "x".into(),
            rate_bits_per_s: None,
            delay_ns: 0,
            loss_ppm: 0,
            mtu: 1500,
            aggregation: None,
            vpn: None,
            cost: None,
        };
        let lan = Network { rate_bits_per_s: Some(1_000_000), delay_ns: 200_000, ..plain.clone() };
        let shaped = |loss: &str| format!("netem limit 100000 delay 200us{loss} rate 1000000bit");
        assert!(
            shape(&lan).iter().any(|line| line.ends_with(&format!("eth0 root {}", shaped(""))))
        );
        let lossy = loss(Some(&lan), 0.05);
        for device in ["eth0", "ifb0"] {
            let line = format!("{device} root {}\n", shaped(" loss random 5.0000%"));
            assert!(lossy.contains(&line), "{lossy}");
        }
        let bad = Network { loss_ppm: 10_000, ..lan.clone() };
        assert!(loss(Some(&bad), 0.05).contains("loss random 6.0000%"));
        assert_eq!(loss(Some(&lan), 0.0), shape(&lan).join("\n") + "\n");
        assert!(shape(&plain).is_empty());
        assert!(loss(None, 0.5).contains("root netem limit 100000 loss random 50.0000%"));
        assert!(!loss(Some(&plain), 0.0).contains("loss"));
    }
}
