//! The way of each VM's requests: host, wire, storage and back, as its protocol has it.

use std::collections::HashMap;

use stormeter_disk::Kind;
use stormeter_site::{Adapter, Cost, Protocol, Stack, Target};

use super::network::{Line, Message, Ports, Way, packet_bytes, way};
use super::storage::Sharing;
use super::{Builder, MachineError};
use crate::machine::component::ComponentKind;
use crate::machine::step::{Pick, Route, Step, Takes, What};

/// Makes the route of a host's VMs.
type RouteOf<B> = Box<dyn FnMut(&mut B, u32) -> Route>;

/// A host that VMs run on.
#[derive(Debug, Clone, Copy)]
struct Host {
    cpu: u32,
    ports: Option<Ports>,
}

/// A controller.
#[derive(Debug, Clone, Copy)]
struct Target1 {
    cpu: u32,
    ports: Ports,
    store: u32,
}

/// The two ends of a way over a network and what is between.
struct Between<'a> {
    stack: &'a Stack,
    host: Host,
    host_ports: Ports,
    host_adapter: &'a Adapter,
    there: Way,
    target: Target1,
    target_adapter: &'a Adapter,
    target_way: Way,
    lines: &'a [(usize, Line)],
    target_cost: Cost,
    target_clock_hz: f64,
}

impl Builder<'_> {
    /// The routes of all VMs.
    pub(super) fn routes(&mut self, hosts: &[u32]) -> Result<Vec<Route>, MachineError> {
        let cpu = self.component(
            format!("{} cpu", self.site.hosts[self.datastore.hosts].name),
            ComponentKind::HostCpu,
        );
        let mut by_host: HashMap<u32, Route> = HashMap::new();
        let mut route_of: RouteOf<Self> = match self.datastore.target {
            Target::Group(group) => self.local_routes(cpu, group, hosts)?,
            Target::Controller { controller, port } => {
                self.controller_routes(cpu, controller, port, hosts)?
            }
            Target::Cluster { .. } => todo!("distributed datastores"),
        };
        let mut routes = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let route = match by_host.get(&host) {
                Some(route) => *route,
                None => {
                    let route = route_of(self, host);
                    by_host.insert(host, route);
                    route
                }
            };
            routes.push(route);
        }
        Ok(routes)
    }

    fn host_cpu(&mut self, component: u32) -> u32 {
        let cores = self.site.hosts[self.datastore.hosts].cores;
        self.station(component, cores)
    }

    /// Disks within each host.
    fn local_routes(
        &mut self,
        cpu: u32,
        group: usize,
        hosts: &[u32],
    ) -> Result<RouteOf<Self>, MachineError> {
        let group = self.site.groups[group].clone();
        let disks = self.component(group.name.clone(), ComponentKind::Disks);
        let sharing = Sharing::new(hosts.iter().copied());
        sharing.fits(&self.load, &group)?;
        Ok(Box::new(move |builder, host| {
            let station = builder.host_cpu(cpu);
            let store = builder.array(host, &sharing, &group, None, (disks, disks));
            let route = |builder: &mut Self, kind| {
                let first = builder.steps.len() as u32;
                let (before, after) = builder.initiator_costs(kind, 0);
                builder.on_cpu(station, cpu, before);
                builder.step(What::Store(store), disks);
                builder.on_cpu(station, cpu, after);
                builder.step(What::End, cpu);
                first
            };
            Route { read: route(builder, Kind::Read), write: route(builder, Kind::Write) }
        }))
    }

    /// Controllers behind a network.
    fn controller_routes(
        &mut self,
        cpu: u32,
        controller: usize,
        port: usize,
        vm_hosts: &[u32],
    ) -> Result<RouteOf<Self>, MachineError> {
        let site = self.site;
        let hosts = &site.hosts[self.datastore.hosts];
        let about = &site.controllers[controller];
        let adapter = &about.ports[port];
        let lines = self.lines(&self.datastore.networks.clone());
        let ports = self
            .component(format!("{} {}", about.name, adapter.name), ComponentKind::ControllerPort);
        let target_cpu =
            self.component(format!("{} cpu", about.name), ComponentKind::ControllerCpu);
        let group = &site.groups[about.group];
        let disks = self.component(group.name.clone(), ComponentKind::Disks);
        let memory = self.memory(&about.name, &about.cache, disks);
        // Each controller serves hosts that stand together.
        let (each, of) = (u64::from(about.count), u64::from(hosts.count));
        let controller_of = move |host: u32| (u64::from(host) * each / of) as u32;
        let sharing = Sharing::new(vm_hosts.iter().map(|&host| controller_of(host)));
        sharing.fits(&self.load, group)?;
        let targets: Vec<Target1> = (0..about.count)
            .map(|which| {
                let cache = Some(&about.cache);
                let store = self.array(which, &sharing, group, cache, (disks, memory));
                let cpu = self.station(target_cpu, about.cores);
                Target1 { cpu, ports: self.ports(ports, adapter), store }
            })
            .collect();
        let stack = site.stacks[self.datastore.stack].clone();
        let host_adapter = self.datastore.adapter.map(|number| hosts.adapters[number].clone());
        let host_ports = host_adapter.as_ref().map(|adapter| {
            self.component(format!("{} {}", hosts.name, adapter.name), ComponentKind::HostPort)
        });
        let policy = self.datastore.policy;
        let (about, adapter, host_count) = (about.clone(), adapter.clone(), hosts.count);
        let cost = about.costs.iter().find(|(protocol, _)| *protocol == stack.protocol);
        let target_cost = cost.map_or(Cost::default(), |(_, cost)| *cost);
        Ok(Box::new(move |builder, host| {
            let station = builder.host_cpu(cpu);
            let (Some(host_adapter), Some(component)) = (&host_adapter, host_ports) else {
                return Route { read: 0, write: 0 };
            };
            let host_ports = builder.ports(component, host_adapter);
            let target = targets[controller_of(host) as usize];
            // Each of its ports serves hosts that stand together, too.
            let within = u64::from(host) * u64::from(about.count) % u64::from(host_count);
            let target_port = within * u64::from(adapter.count) / u64::from(host_count);
            let there = way(host_adapter, policy, host);
            let target_way = match there {
                Way::Rotate(_) if adapter.count >= host_adapter.count => Way::Same,
                _ => Way::One(target_port as u32),
            };
            let between = Between {
                stack: &stack,
                host: Host { cpu: station, ports: Some(host_ports) },
                host_ports,
                host_adapter,
                there,
                target,
                target_adapter: &adapter,
                target_way,
                lines: &lines,
                target_cost,
                target_clock_hz: about.clock_hz,
            };
            Route {
                read: builder.over_network(&between, Kind::Read, (cpu, target_cpu, disks)),
                write: builder.over_network(&between, Kind::Write, (cpu, target_cpu, disks)),
            }
        }))
    }

    /// A request and its answer between a host and a controller.
    fn over_network(
        &mut self,
        between: &Between<'_>,
        kind: Kind,
        (cpu, target_cpu, disks): (u32, u32, u32),
    ) -> u32 {
        let first = self.steps.len() as u32;
        let packet = packet_bytes(between.host_adapter.kind);
        let (request, answer) = messages(between.stack, kind);
        let (before, after) = self.initiator_costs(kind, packet);
        self.on_cpu(between.host.cpu, cpu, before);
        self.there(between, request);
        let (before, after_target) =
            halves(&between.target_cost, kind, packet, between.target_clock_hz);
        self.on_cpu(between.target.cpu, target_cpu, before.reversed(after_target, kind).0);
        self.step(What::Store(between.target.store), disks);
        self.on_cpu(between.target.cpu, target_cpu, before.reversed(after_target, kind).1);
        self.back(between, answer);
        self.on_cpu(between.host.cpu, cpu, after);
        self.step(What::End, cpu);
        first
    }

    /// A message from the host to the controller.
    fn there(&mut self, between: &Between<'_>, message: Message) {
        let Between { host_ports, host_adapter, target, target_adapter, .. } = between;
        let pick = between.there.pick(host_ports.send);
        self.over_port(host_ports.component, pick, host_adapter, message, 0.0);
        self.over_lines(between.lines, false, message, host_adapter.kind);
        let pick = between.target_way.pick(target.ports.receive);
        let latency_ns = target_adapter.latency_ns;
        self.over_port(target.ports.component, pick, target_adapter, message, latency_ns);
    }

    /// A message from the controller to the host.
    fn back(&mut self, between: &Between<'_>, message: Message) {
        let Between { host_ports, host_adapter, target, target_adapter, .. } = between;
        let pick = between.target_way.pick(target.ports.send);
        self.over_port(target.ports.component, pick, target_adapter, message, 0.0);
        self.over_lines(between.lines, true, message, host_adapter.kind);
        let way = match between.there {
            Way::Rotate(_) => Way::Same,
            way => way,
        };
        let pick = way.pick(host_ports.receive);
        let latency_ns = host_adapter.latency_ns;
        self.over_port(host_ports.component, pick, host_adapter, message, latency_ns);
    }

    /// What a request takes on the host's CPU before it leaves and after its answer came.
    fn initiator_costs(&self, kind: Kind, packet_bytes: u32) -> (Takes, Takes) {
        let stack = &self.site.stacks[self.datastore.stack];
        let clock_hz = self.site.hosts[self.datastore.hosts].clock_hz;
        halves(&stack.cost, kind, packet_bytes, clock_hz)
    }

    fn on_cpu(&mut self, station: u32, component: u32, takes: Takes) {
        let what = What::Serve(Pick::One(station));
        self.steps.push(Step { what, component, takes, latency_ns: 0 });
    }

    fn step(&mut self, what: What, component: u32) {
        self.steps.push(Step { what, component, takes: Takes::default(), latency_ns: 0 });
    }
}

impl Takes {
    /// A target moves the payload at the other end: it sends what is read after its disks, and takes
    /// what is written before.
    fn reversed(self, after: Takes, _kind: Kind) -> (Takes, Takes) {
        (self, after)
    }
}

/// A cost as two halves on a CPU: before and after. Payload of a write is moved before, of a read
/// after.
fn halves(cost: &Cost, kind: Kind, packet_bytes: u32, clock_hz: f64) -> (Takes, Takes) {
    let ns = |cycles: f64| cycles / clock_hz * 1e9;
    let half = match kind {
        Kind::Read => cost.per_read_cycles,
        Kind::Write => cost.per_write_cycles,
    } / 2.0;
    let bare = Takes { fixed_ns: ns(half), ..Takes::default() };
    let loaded = Takes {
        fixed_ns: ns(half),
        per_byte_ns: ns(cost.per_byte_cycles),
        per_packet_ns: ns(cost.per_packet_cycles),
        packet_bytes,
        head_ns: 0,
    };
    match kind {
        Kind::Read => (bare, loaded),
        Kind::Write => (loaded, bare),
    }
}

/// What goes there and what comes back.
fn messages(stack: &Stack, kind: Kind) -> (Message, Message) {
    let options = &stack.options;
    let (request, answer, again) = match (stack.protocol, kind) {
        (Protocol::Local, _) => (0.0, 0.0, None),
        // RPC header 40 to 72 with AUTH_SYS, NFSv3 arguments 28 and a handle of 32 to 64; a reply's
        // header 24 and attributes 88 (RFC 5531, RFC 1813 sections 3.3.6 and 3.3.7).
        (Protocol::Nfs, Kind::Read) => (160.0, 128.0, Some((options.transfer_bytes, 288.0))),
        (Protocol::Nfs, Kind::Write) => (176.0, 160.0, Some((options.transfer_bytes, 336.0))),
        // A PDU's header is 48 bytes, a digest 4 (RFC 7143, sections 11.2 and 13.1).
        (Protocol::Iscsi, _) => (48.0, 48.0, Some((options.segment_bytes, 48.0))),
        // FCP_CMND 32, FCP_XFER_RDY 12, FCP_RSP 24 (FCP-4).
        (Protocol::Fc, _) => (32.0, 24.0, None),
    };
    let loaded = |fixed_bytes| Message { fixed_bytes, with_payload: true, again };
    match kind {
        Kind::Read => (Message::bare(request), loaded(answer)),
        Kind::Write => (loaded(request), Message::bare(answer)),
    }
}
