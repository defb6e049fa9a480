//! Ports and lines as stations, and messages as steps over them.

use stormeter_site::{Adapter, PortKind};

use super::Builder;
use super::batch;
use super::path::{Way, Ways};
use super::ports::{Line, Ports};
use super::wire::{Framing, Message};
use crate::machine::component::{ComponentKind, SitePart};
use crate::machine::interrupts::Interrupts;
use crate::machine::step::{Pick, Step, What};

/// What is between two ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire<'a> {
    pub(super) framing: Framing,
    pub(super) lines: &'a [Line],
    /// Credits instead of losses: Fibre Channel sends nothing for which there is no space.
    pub(super) lossless: bool,
}

/// A port of one end, as a message sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gate<'a> {
    pub(super) ports: Ports,
    pub(super) adapter: &'a Adapter,
    pub(super) ways: Ways,
}

/// A message's part in its request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    /// Whether it goes from the storage to the host; in a transfer, to the server.
    pub(super) back: bool,
    /// Whether it is the first one, which determines the path of the request.
    pub(super) first: bool,
}

impl Leg {
    pub(super) const REQUEST: Leg = Leg { back: false, first: true };
    /// Further data from the host.
    pub(super) const DATA: Leg = Leg { back: false, first: false };
    pub(super) const ANSWER: Leg = Leg { back: true, first: false };
}

impl Builder<'_> {
    /// The ports of an adapter, for this many hosts or controllers.
    pub(super) fn ports(&mut self, component: u32, adapter: &Adapter, owners: u32) -> Ports {
        let count = adapter.count * owners;
        let send = self.stations_of(component, count);
        let receive = self.stations_of(component, count);
        if batch::moderates(adapter) {
            let interrupts = Interrupts::new(adapter.coalescing.moderation_ns as u64);
            self.interrupts.extend((receive..receive + count).map(|port| (port, interrupts)));
        }
        let credit = self.credit_ns(adapter).map(|_| self.stations_of(component, count));
        Ports { component, send, receive, credit }
    }

    fn stations_of(&mut self, component: u32, count: u32) -> u32 {
        let first = self.stations.len() as u32;
        for _ in 0..count {
            self.station(component, 1);
        }
        first
    }

    /// Time between two credits of a Fibre Channel port, if that is longer than a frame takes: a
    /// credit comes back a round trip after its frame was sent, so a long path needs many (FC-FS-3,
    /// buffer-to-buffer flow control). The path is treated as one hop: buffers that switches lend
    /// are part of the port's credits.
    fn credit_ns(&self, adapter: &Adapter) -> Option<f64> {
        let PortKind::FibreChannel { credits } = adapter.kind else { return None };
        let frame_ns =
            Framing::between(adapter.kind, adapter.kind).full_packet_ns(adapter.rate_bytes_per_s);
        let networks = self.datastore.networks.iter();
        let way_ns: f64 = networks.map(|&number| self.site.networks[number].latency_ns).sum();
        let credit_ns = (2.0 * way_ns + frame_ns) / f64::from(credits.max(1));
        (credit_ns > frame_ns).then_some(credit_ns)
    }

    /// The lines of the datastore, in order from the host to the storage.
    pub(super) fn lines(&mut self) -> Vec<Line> {
        self.datastore.networks.iter().map(|&number| self.line(number)).collect()
    }

    /// A line of the site, by its index.
    pub(super) fn line(&mut self, number: usize) -> Line {
        let network = &self.site.networks[number];
        let component = self.component(network.name.clone(), ComponentKind::Network);
        self.stands_for(component, SitePart::Network(number));
        let shared = network.rate_bytes_per_s.is_some();
        let there = shared.then(|| self.station(component, 1));
        let back = shared.then(|| self.station(component, 1));
        Line { network: number, component, there, back }
    }

    /// A message from one end to the other.
    pub(super) fn message(
        &mut self,
        from: Gate<'_>,
        to: Gate<'_>,
        wire: Wire<'_>,
        message: Message,
        Leg { back, first }: Leg,
    ) {
        let further = |way: Way| if first { way } else { way.further() };
        let mut way = further(from.ways.send);
        if let (Some(stations), Some(credit_ns)) = (from.ports.credit, self.credit_ns(from.adapter))
        {
            let credits = match from.adapter.kind {
                PortKind::FibreChannel { credits } => credits.max(1),
                PortKind::Ethernet { .. } => 1,
            };
            self.steps.push(Step {
                what: What::Credit(way.pick(stations)),
                component: from.ports.component,
                takes: wire.framing.per_packet(message, credit_ns),
                latency_ns: (credit_ns * f64::from(credits)) as u32,
            });
            way = way.further();
        }
        self.over_port(from, way.pick(from.ports.send), wire, message, 0.0);
        self.over_lines(wire, back, message);
        let pick = further(to.ways.receive).pick(to.ports.receive);
        self.over_port(to, pick, wire, message, to.adapter.latency_ns);
        if let Some(last) = self.steps.last_mut()
            && batch::moderates(to.adapter)
        {
            last.takes.batch_packets = 1;
        }
    }

    /// What a target's adapter sends to request the payload of a write: one small frame, which fits
    /// between the frames of other messages and does not wait for them; it takes the path's latency,
    /// and a negligible share of the lines.
    pub(super) fn asked_by_adapter(
        &mut self,
        host: Gate<'_>,
        target: Gate<'_>,
        wire: Wire<'_>,
        ask: Message,
    ) {
        let takes = |rate, labels| wire.framing.takes(ask, rate, labels).fixed_ns;
        let mut ns = takes(target.adapter.rate_bytes_per_s, 0);
        ns += takes(host.adapter.rate_bytes_per_s, 0) + host.adapter.latency_ns;
        for line in wire.lines {
            let network = &self.site.networks[line.network];
            ns += network.latency_ns;
            ns += network.rate_bytes_per_s.map_or(0.0, |rate| takes(rate, network.label_bytes));
        }
        if let Some(last) = self.steps.last_mut() {
            last.latency_ns = last.latency_ns.saturating_add(ns as u32);
        }
    }

    /// The steps of a message over the lines; `back` means from the storage.
    fn over_lines(&mut self, wire: Wire<'_>, back: bool, message: Message) {
        for place in 0..wire.lines.len() {
            let line = match back {
                false => wire.lines[place],
                true => wire.lines[wire.lines.len() - 1 - place],
            };
            let network = &self.site.networks[line.network];
            let station = if back { line.back } else { line.there };
            let latency_ns = network.latency_ns as u32;
            let (Some(station), Some(rate)) = (station, network.rate_bytes_per_s) else {
                // There is no queue: the time is added to the previous step.
                if let Some(last) = self.steps.last_mut() {
                    last.latency_ns = last.latency_ns.saturating_add(latency_ns);
                }
                continue;
            };
            let what = match network.buffer_bytes {
                Some(bytes) if !wire.lossless => {
                    What::Queue { station, buffer_us: (bytes as f64 / rate * 1e6) as u32 }
                }
                _ => What::Send(Pick::One(station)),
            };
            self.steps.push(Step {
                what,
                component: line.component,
                takes: wire.framing.takes(message, rate, network.label_bytes),
                latency_ns,
            });
        }
    }

    fn over_port(
        &mut self,
        gate: Gate<'_>,
        pick: Pick,
        wire: Wire<'_>,
        message: Message,
        latency_ns: f64,
    ) {
        self.steps.push(Step {
            what: What::Send(pick),
            component: gate.ports.component,
            takes: wire.framing.takes(message, gate.adapter.rate_bytes_per_s, 0),
            latency_ns: latency_ns as u32,
        });
    }
}
