//! Ports and lines as stations, and what a message takes on them.

use stormeter_site::{Adapter, Aggregation, Network, PathPolicy, PortKind};

use super::Builder;
use crate::machine::component::ComponentKind;
use crate::machine::step::{Pick, Step, Takes, What};

/// Ethernet: preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3, section 4.4.2 and 3.1.1); IPv4 20,
/// TCP 20 and its timestamps 12 (RFC 791, 9293, 7323).
const ETHERNET_PER_PACKET_BYTES: u32 = 8 + 14 + 4 + 12 + 20 + 20 + 12;
/// What of an MTU is no payload: IPv4, TCP, timestamps.
const TCP_HEADERS_BYTES: u32 = 20 + 20 + 12;
/// Fibre Channel: start 4, header 24, checksum 4, end 4, six idle words between frames (FC-FS-3,
/// sections 9 and 11).
const FC_PER_FRAME_BYTES: u32 = 4 + 24 + 4 + 4 + 24;
/// Payload of a frame, at most (FC-FS-3, section 11).
const FC_FRAME_BYTES: u32 = 2112;

/// A message on its way: what it carries beside payload, and whether the payload is with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    /// Headers and whatever else goes once.
    pub(super) fixed_bytes: f64,
    /// Whether the request's payload goes with it.
    pub(super) with_payload: bool,
    /// Headers of the protocol that come again after so many bytes of payload: (bytes of payload,
    /// bytes of header); PDUs and calls.
    pub(super) again: Option<(u32, f64)>,
}

impl Message {
    /// Without payload.
    pub(super) fn bare(fixed_bytes: f64) -> Self {
        Self { fixed_bytes, with_payload: false, again: None }
    }
}

/// Payload of a packet on such a port.
pub(super) fn packet_bytes(kind: PortKind) -> u32 {
    match kind {
        PortKind::Ethernet { mtu_bytes } => mtu_bytes.saturating_sub(TCP_HEADERS_BYTES).max(64),
        PortKind::FibreChannel { .. } => FC_FRAME_BYTES,
    }
}

/// What a packet carries beside payload.
fn per_packet_bytes(kind: PortKind) -> u32 {
    match kind {
        PortKind::Ethernet { .. } => ETHERNET_PER_PACKET_BYTES,
        PortKind::FibreChannel { .. } => FC_PER_FRAME_BYTES,
    }
}

/// What a message takes on a port or line of a rate; `label_bytes` is more on each packet.
pub(super) fn takes(message: Message, kind: PortKind, rate: f64, label_bytes: u32) -> Takes {
    let ns_per_byte = 1e9 / rate;
    let each = per_packet_bytes(kind) + label_bytes;
    let packet = packet_bytes(kind);
    let mut takes = Takes {
        fixed_ns: (message.fixed_bytes + f64::from(each)) * ns_per_byte,
        ..Takes::default()
    };
    takes.head_ns = takes.fixed_ns as u64;
    if message.with_payload {
        // The first packet's own headers are in the fixed part, a small error of one packet.
        takes.fixed_ns -= f64::from(each) * ns_per_byte;
        takes.per_byte_ns = ns_per_byte;
        if let Some((bytes, header)) = message.again {
            takes.per_byte_ns += header / f64::from(bytes) * ns_per_byte;
        }
        takes.per_packet_ns = f64::from(each) * ns_per_byte;
        takes.packet_bytes = packet;
        takes.head_ns = (f64::from(packet + each) * ns_per_byte) as u64;
    }
    takes
}

/// Ports with the stations of each direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    pub(super) component: u32,
    /// First station of those that send.
    pub(super) send: u32,
    /// First station of those that receive.
    pub(super) receive: u32,
    pub(super) count: u32,
}

/// Which of the ports, and which way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// This one.
    One(u32),
    /// One after the other, of so many.
    Rotate(u32),
    /// As at the last rotation.
    Same,
}

impl Way {
    /// The station of it.
    pub(super) fn pick(self, first: u32) -> Pick {
        match self {
            Way::One(port) => Pick::One(first + port),
            Way::Rotate(count) => Pick::Rotate { first, count },
            Way::Same => Pick::Same { first },
        }
    }
}

/// Which port a flow takes: `flow` names who talks with whom.
pub(super) fn way(adapter: &Adapter, policy: PathPolicy, flow: u32) -> Way {
    match (policy, adapter.aggregation) {
        (PathPolicy::RoundRobin, _) | (_, Aggregation::RoundRobin) if adapter.count > 1 => {
            Way::Rotate(adapter.count)
        }
        (_, Aggregation::Hash) => Way::One(mixed(flow) % adapter.count),
        _ => Way::One(0),
    }
}

/// A hash that is the same everywhere (the finalizer of MurmurHash3, public domain).
pub(super) fn mixed(mut word: u32) -> u32 {
    word ^= word >> 16;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^= word >> 13;
    word = word.wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}

/// A line of the site, both directions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) component: u32,
    /// The station towards the storage, where the line is shared.
    pub(super) there: Option<u32>,
    /// The station back.
    pub(super) back: Option<u32>,
}

impl Builder<'_> {
    /// The ports of an adapter.
    pub(super) fn ports(&mut self, component: u32, adapter: &Adapter) -> Ports {
        let send = self.stations.len() as u32;
        for _ in 0..adapter.count {
            self.station(component, 1);
        }
        let receive = self.stations.len() as u32;
        for _ in 0..adapter.count {
            self.station(component, 1);
        }
        Ports { component, send, receive, count: adapter.count }
    }

    /// The lines of the datastore, in the order from the host to the storage.
    pub(super) fn lines(&mut self, networks: &[usize]) -> Vec<(usize, Line)> {
        networks
            .iter()
            .map(|&number| {
                let network = &self.site.networks[number];
                let component = self.component(network.name.clone(), ComponentKind::Network);
                let shared = network.rate_bytes_per_s.is_some();
                let there = shared.then(|| self.station(component, 1));
                let back = shared.then(|| self.station(component, 1));
                (number, Line { component, there, back })
            })
            .collect()
    }

    /// The steps of a message over the lines; `back` from the storage.
    pub(super) fn over_lines(
        &mut self,
        lines: &[(usize, Line)],
        back: bool,
        message: Message,
        kind: PortKind,
    ) {
        let mut ordered: Vec<(usize, Line)> = lines.to_vec();
        if back {
            ordered.reverse();
        }
        for (number, line) in ordered {
            let network: &Network = &self.site.networks[number];
            let station = if back { line.back } else { line.there };
            let latency_ns = network.latency_ns as u64;
            match (station, network.rate_bytes_per_s) {
                (Some(station), Some(rate)) => self.steps.push(Step {
                    what: What::Send(Pick::One(station)),
                    component: line.component,
                    takes: takes(message, kind, rate, network.label_bytes),
                    latency_ns,
                }),
                // Nothing to wait for: the time goes to the step before.
                _ => {
                    if let Some(last) = self.steps.last_mut() {
                        last.latency_ns += latency_ns;
                    }
                }
            }
        }
    }

    /// The step of a message over a port.
    pub(super) fn over_port(
        &mut self,
        component: u32,
        pick: Pick,
        adapter: &Adapter,
        message: Message,
        latency_ns: f64,
    ) {
        self.steps.push(Step {
            what: What::Send(pick),
            component,
            takes: takes(message, adapter.kind, adapter.rate_bytes_per_s, 0),
            latency_ns: latency_ns as u64,
        });
    }
}
