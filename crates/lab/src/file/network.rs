//! Reads `networks`, and checks that guests have as many ports as their cables need.

use stormeter_yaml::{Diagnostics, Place};

use super::part::{Entry, open};
use super::router::vpn;
use super::{keys, value};
use crate::links::{Node, links};
use crate::model::{Aggregation, AggregationMode, Lab, Network, Storage};
use crate::wiring::channels;

/// Ethernet's packet size, the default unless jumbo frames are requested.
pub(super) const MTU: u32 = 1500;
/// The smallest size that TCP/IP needs, and a size that every network card supports.
pub(super) const MTUS: (u32, u32) = (1280, 9000);
/// Slots on a guest's bus that are not taken by devices of every guest.
pub(super) const MOST_SLOTS: usize = 26;

pub(super) fn network(entry: &Entry<'_>, diagnostics: &mut Diagnostics) -> Network {
    let mut network = Network {
        name: entry.name.into(),
        rate_bits_per_s: None,
        delay_ns: 0,
        loss_ppm: 0,
        mtu: MTU,
        aggregation: None,
        vpn: None,
        cost: None,
    };
    let title = format!("network {}", entry.name);
    let Some(section) = open(entry.node, &title, &keys::NETWORK, diagnostics) else {
        return network;
    };
    network.rate_bits_per_s = section.get("rate").and_then(|node| value::rate(node, diagnostics));
    network.delay_ns =
        value::duration(&section, "delay", 1000, "microseconds", diagnostics).unwrap_or(0);
    if let Some(percent) = section.percent("loss", diagnostics) {
        network.loss_ppm = (percent * 1e4).round() as u32;
        if percent > 50.0 {
            diagnostics.error_at(
                section.place_of("loss"),
                format!("with more than 50% lost nothing is mounted, unlike loss: {percent}%"),
            );
        }
    }
    network.mtu = value::number(&section, "mtu", MTUS.0, MTUS.1, diagnostics).unwrap_or(MTU);
    network.vpn = vpn(&section, &title, diagnostics);
    network.cost = value::number(&section, "cost", 1, 65535, diagnostics);
    network.aggregation = section.get("aggregation").and_then(|node| {
        let title = format!("the aggregation of {title}");
        let section = open(node, &title, &keys::AGGREGATION, diagnostics)?;
        let ports = value::number(&section, "ports", 2, 4, diagnostics).unwrap_or(2);
        let mode = section.choice("mode", &AggregationMode::WORDS, diagnostics);
        Some(Aggregation { ports, mode: mode.unwrap_or(AggregationMode::Lacp) })
    });
    network
}

/// Reports a storage guest with more disks and ports than its bus has slots.
pub(super) fn ports_fit(
    lab: &Lab,
    index: usize,
    storage: &Storage,
    place: Place,
    diagnostics: &mut Diagnostics,
) {
    let channels = channels(lab);
    let of = channels.iter().filter(|channel| channel.storage == index);
    let cables: usize = of.map(|channel| channel.cables.len()).sum();
    let routed = links(lab).into_iter().filter(|link| link.side(Node::Storage(index)).is_some());
    let ports = cables + routed.count();
    if ports > 0 && storage.disks.len() + ports > MOST_SLOTS {
        diagnostics.error_at(
            place,
            format!(
                "storage guest {} has {} disks and {ports} ports to other guests; {MOST_SLOTS} of both fit",
                storage.name,
                storage.disks.len()
            ),
        );
    }
}
