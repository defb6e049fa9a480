//! The path between a client and the servers in VMs: the CPU cost of a transfer's bytes, and the
//! ports and lines that they use.
//!
//! It is part of the same machine: if the client's path and the storage's share a port, a CPU or a
//! line, they share its station. Ports and lines are full-duplex, so a message that a host receives and
//! what it sends on to its storage do not compete; two in the same direction do.

use stormeter_site::{Adapter, Client, PathPolicy, Protocol, Target};

use super::network::{Gate, Leg, Wire};
use super::path::{Pair, Senders, Talk};
use super::ports::{Line, Ports};
use super::route::{whole, wire};
use super::wire::{Framing, Message};
use super::{Builder, MachineError};
use crate::machine::component::{Component, ComponentKind, SitePart};
use crate::machine::fault::PortCount;
use crate::machine::step::{Pick, Route, Takes};

/// The most that TCP passes to the network at once: the largest packet that a NIC segments, limited by
/// the IPv4 header (RFC 791, section 3.1).
const SEGMENT_BYTES: u32 = 65536;
/// The most received data that waits at a connection's end: the largest receive buffer that Linux
/// allocates by default (tcp(7), `tcp_rmem`).
const RECEIVE_BYTES: u64 = 6 << 20;
/// Segments that a connection has in the network in addition to what the path holds: one being sent,
/// one behind it, one in the sender's hands and one arriving. TCP queues no more at a NIC, so that
/// other connections get through (Linux, "TCP small queues").
const SEGMENTS_UNDER_WAY: u64 = 4;

/// What the transfers of a machine need to know about the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientWay {
    /// The VMs' lanes come after their disks, starting with this number.
    first: u32,
    /// The most bytes of a connection that travel together.
    segment_bytes: u32,
    /// Payload per packet.
    packet_bytes: u32,
    /// The most bytes of a connection that have been sent and have not arrived.
    pub(crate) under_way_bytes: u64,
    /// The most bytes of a connection that have been sent and have not been consumed.
    pub(crate) window_bytes: u64,
}

/// What an operation of a VM's connection does. A write carries its bytes; a read carries none, and
/// its length is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The client's CPU: a write for bytes, a read for a message.
    ClientCpu,
    /// The server's CPU, like the client's.
    ServerCpu,
    /// From the client to the server.
    There,
    /// From the server to the client.
    Back,
}

const LANES: u32 = 4;
/// Requests and answers are one byte, as between the client and server of a transfer.
const ANSWER_BYTES: u32 = 1;
/// How CPUs and ports of hosts are reported: nodes of a cluster are its controllers.
const CPUS: [ComponentKind; 2] = [ComponentKind::HostCpu, ComponentKind::ControllerCpu];
const PORTS: [ComponentKind; 2] = [ComponentKind::HostPort, ComponentKind::ControllerPort];

impl ClientWay {
    /// Number of VMs with lanes.
    pub(crate) fn vms(&self) -> u32 {
        self.first
    }

    /// Bytes of a message that travel together. CPUs handle packets, and each is in transit while the
    /// next is prepared; to keep the serial approximation here from lengthening a message noticeably,
    /// it has some 32 segments or more if it has that many packets.
    pub(crate) fn segment_bytes(&self, message_bytes: u64) -> u64 {
        let packet_bytes = u64::from(self.packet_bytes);
        let packets = (message_bytes / 32 / packet_bytes).max(1);
        (packets * packet_bytes).min(u64::from(self.segment_bytes))
    }

    /// The disk number for submissions to this lane.
    pub(crate) fn disk(&self, vm: u32, lane: Lane) -> u32 {
        self.first + vm * LANES + lane as u32
    }
}

/// One end of a connection.
#[derive(Clone, Copy)]
struct Party<'a> {
    /// Index of the group, of its adapter, and of the host.
    who: (usize, usize, u32),
    cpu: u32,
    cpu_component: u32,
    clock_hz: f64,
    ports: Ports,
    adapter: &'a Adapter,
}

impl<'a> Builder<'a> {
    /// The lanes of all VMs, by the host on which each runs.
    pub(super) fn client_routes(
        &mut self,
        hosts: &[u32],
    ) -> Result<(Vec<Route>, ClientWay), MachineError> {
        let site = self.site;
        let Some(client) = &site.client else { return Err(MachineError::NoClient) };
        let lines = self.client_lines(client);
        let mut routes = Vec::with_capacity(hosts.len() * LANES as usize);
        let mut parties = Vec::new();
        // A server's copying is its thread's work.
        let copy_ns = 1e9 / client.memory_bytes_per_s;
        for (vm, &host) in hosts.iter().enumerate() {
            let flow = vm as u32;
            let asking = flow % site.hosts[client.hosts].count.max(1);
            let who = (client.hosts, client.adapter, asking);
            let from = self.party(who, hosts, &mut parties);
            let who = (self.datastore.hosts, client.server_adapter, host);
            let to = self.party(who, hosts, &mut parties);
            let wire = wire(to.adapter, from.adapter, &lines);
            routes.push(self.work(from, client, 0.0));
            routes.push(self.work(to, client, copy_ns));
            routes.push(self.lane((from, to), wire, flow, true));
            routes.push(self.lane((to, from), wire, flow, false));
        }
        let adapters = (
            &site.hosts[client.hosts].adapters[client.adapter],
            &site.hosts[self.datastore.hosts].adapters[client.server_adapter],
        );
        let first = hosts.len() as u32;
        Ok((routes, self.client_way(client, adapters, first)))
    }

    /// How much travels together, and how much may be in flight.
    ///
    /// A segment is a millisecond at the path's rate, in whole packets, at least two and at most
    /// [`SEGMENT_BYTES`], as Linux sizes what it passes to the NIC (`tcp_tso_autosize`). Connections are
    /// in their steady state: each has in flight what the path holds plus a few segments, or, in front
    /// of a line with a buffer, no more than fits for all of them. How they reached that state (RFC
    /// 5681, section 3.1) is left out.
    fn client_way(
        &self,
        client: &Client,
        (one, other): (&Adapter, &Adapter),
        first: u32,
    ) -> ClientWay {
        let networks = || client.networks.iter().map(|&number| &self.site.networks[number]);
        let ports = one.rate_bytes_per_s.min(other.rate_bytes_per_s);
        let rate = networks().filter_map(|network| network.rate_bytes_per_s).fold(ports, f64::min);
        let packet_bytes = Framing::between(one.kind, other.kind).packet_bytes;
        let packets = (rate / 1000.0) as u64 / u64::from(packet_bytes);
        let most = (SEGMENT_BYTES / packet_bytes).max(1);
        let segment_bytes = packets.clamp(2.min(u64::from(most)), u64::from(most)) as u32;
        let segment_bytes = segment_bytes * packet_bytes;
        let way_ns: f64 = networks().map(|network| network.latency_ns).sum();
        let way_ns = way_ns + one.latency_ns.max(other.latency_ns);
        let held_bytes = (way_ns / 1e9 * rate) as u64;
        let segment = u64::from(segment_bytes);
        let mut under_way_bytes = held_bytes + SEGMENTS_UNDER_WAY * segment;
        if let Some(buffer_bytes) = networks().filter_map(|network| network.buffer_bytes).min() {
            let share = (held_bytes + buffer_bytes) / u64::from(first.max(1));
            under_way_bytes = under_way_bytes.min(share.max(2 * segment));
        }
        let window_bytes = under_way_bytes.max(RECEIVE_BYTES);
        ClientWay { first, segment_bytes, packet_bytes, under_way_bytes, window_bytes }
    }

    /// The lines between client and server, in order from the server. The storage's lines are on the
    /// same side of the hosts as the client's, so a line of both is the same.
    fn client_lines(&mut self, client: &Client) -> Vec<Line> {
        let mut lines = Vec::new();
        for &number in client.networks.iter().rev() {
            let line = match self.map.line_of(number) {
                Some(line) => line,
                None => {
                    let line = self.line(number);
                    self.map.lines(&[line]);
                    line
                }
            };
            lines.push(line);
        }
        lines
    }

    /// A host as an end, with the stations that it already has.
    fn party(
        &mut self,
        who: (usize, usize, u32),
        vm_hosts: &[u32],
        parties: &mut Vec<Party<'a>>,
    ) -> Party<'a> {
        if let Some(party) = parties.iter().find(|party| party.who == who) {
            return *party;
        }
        let (group, adapter_number, host) = who;
        let about = &self.site.hosts[group];
        let adapter = &about.adapters[adapter_number];
        let place = self.place_of(group, host, vm_hosts);
        let same = parties.iter().find(|party| (party.who.0, party.who.2) == (group, host));
        let name = format!("{} cpu", about.name);
        let cpu_component = self.named(name, &CPUS, ComponentKind::HostCpu);
        self.stands_for(cpu_component, SitePart::HostCpu(group));
        let stations = &self.components[cpu_component as usize].stations;
        let there = place.and_then(|place| stations.get(place as usize).copied());
        let cpu = match (same, there) {
            (Some(same), _) => same.cpu,
            (None, Some(cpu)) => cpu,
            (None, None) => self.station(cpu_component, about.cores),
        };
        let there = place.and_then(|place| self.map.ports_of_host((group, adapter_number), place));
        let ports = there.unwrap_or_else(|| {
            let name = format!("{} {}", about.name, adapter.name);
            let component = self.named(name, &PORTS, ComponentKind::HostPort);
            self.stands_for(component, SitePart::HostPort(group, adapter_number));
            let ports = self.ports(component, adapter, 1);
            self.map.host_ports(
                group,
                adapter_number,
                ports,
                PortCount { owners: 1, each: adapter.count },
            );
            ports
        });
        let party = Party { who, cpu, cpu_component, clock_hz: about.clock_hz, ports, adapter };
        parties.push(party);
        party
    }

    /// Which of its group's stations a host has, if the storage's path has created any: in a cluster
    /// all hosts have them, otherwise those on which VMs run.
    fn place_of(&self, group: usize, host: u32, vm_hosts: &[u32]) -> Option<u32> {
        let of_vms = group == self.datastore.hosts;
        if let Target::Cluster { cluster, .. } = self.datastore.target {
            let nodes = self.site.clusters[cluster].nodes;
            return (of_vms || group == nodes).then_some(host);
        }
        let mut used: Vec<u32> = vm_hosts.iter().copied().filter(|_| of_vms).collect();
        used.sort_unstable();
        used.dedup();
        used.binary_search(&host).ok().map(|place| place as u32)
    }

    /// The component with that name and one of these kinds; a new one of the given kind if there is
    /// none.
    fn named(&mut self, name: String, kinds: &[ComponentKind], kind: ComponentKind) -> u32 {
        let is_it = |one: &Component| one.name == name && kinds.contains(&one.kind);
        match self.components.iter().position(is_it) {
            Some(found) => found as u32,
            None => self.component(name, kind),
        }
    }

    /// The work of an end's CPU: its bytes and its messages.
    fn work(&mut self, party: Party<'_>, client: &Client, copy_ns: f64) -> Route {
        let cycle_ns = 1e9 / party.clock_hz;
        let per_byte_ns = (client.per_byte_cycles * cycle_ns + copy_ns) as f32;
        let fixed_ns = client.per_message_cycles * cycle_ns;
        let mut program = |takes: Takes| {
            let first = self.program();
            self.serve(Pick::One(party.cpu), party.cpu_component, takes);
            self.end(party.cpu_component);
            first
        };
        let message = program(Takes { fixed_ns, ..Takes::default() });
        // Transfers flush nothing.
        whole(message, program(Takes { per_byte_ns, ..Takes::default() }), message)
    }

    /// The path from one end to the other; `back` is towards the server, from whose side the lines are
    /// listed.
    fn lane(
        &mut self,
        (from, to): (Party<'_>, Party<'_>),
        wire: Wire<'_>,
        flow: u32,
        back: bool,
    ) -> Route {
        let pair = Pair {
            host: from.adapter,
            target: to.adapter,
            policy: PathPolicy::Fixed,
            // A server has one address.
            protocol: Protocol::Nfs,
            flow,
            senders: Senders::new(
                self.layout_seed,
                if back { Talk::ToServer } else { Talk::FromServer },
            ),
            target_port: 0,
        };
        let (at_from, at_to) = pair.ways();
        let sender = Gate { ports: from.ports, adapter: from.adapter, ways: at_from };
        let receiver = Gate { ports: to.ports, adapter: to.adapter, ways: at_to };
        let mut program = |message| {
            let first = self.program();
            self.message(sender, receiver, wire, message, Leg { back, first: true });
            self.end(to.cpu_component);
            first
        };
        let bare = program(Message::bare(ANSWER_BYTES));
        whole(bare, program(Message::loaded(0)), bare)
    }
}
