//! The route of each VM's requests: the programs that they run.

use stormeter_disk::Kind;
use stormeter_site::{Adapter, Aggregation, Cost, PathPolicy, Target};

use super::network::{Gate, Wire};
use super::path::{Pair, Senders, Talk};
use super::ports::Ports;
use super::program::{End, Storage};
use super::protocol::{self, Rest};
use super::storage::Sharing;
use super::target::{port_of, unit_of};
use super::wire::Framing;
use super::{Builder, MachineError};
use crate::machine::component::{ComponentKind, SitePart};
use crate::machine::fault::PortCount;
use crate::machine::parts::Fork;
use crate::machine::step::{Pick, Route, What};

impl Builder<'_> {
    /// The routes of all VMs, by the host on which each runs.
    pub(super) fn routes(&mut self, hosts: &[u32]) -> Result<Vec<Route>, MachineError> {
        let name = &self.site.hosts[self.datastore.hosts].name;
        let cpu = self.component(format!("{name} cpu"), ComponentKind::HostCpu);
        self.stands_for(cpu, SitePart::HostCpu(self.datastore.hosts));
        let mut used: Vec<u32> = hosts.to_vec();
        used.sort_unstable();
        used.dedup();
        let of_host = match self.datastore.target {
            Target::Group(group) => self.local_routes(cpu, group, (&used, hosts))?,
            Target::Controller { controller, port } => {
                self.controller_routes(cpu, (controller, port), (&used, hosts))?
            }
            Target::Cluster { .. } => self.cluster_routes(cpu, &used)?,
        };
        let route = |host: &u32| {
            let place = used.binary_search(host).unwrap_or_default();
            of_host[place]
        };
        Ok(hosts.iter().map(route).collect())
    }

    /// Disks within each host.
    fn local_routes(
        &mut self,
        cpu: u32,
        group: usize,
        (hosts, vm_hosts): (&[u32], &[u32]),
    ) -> Result<Vec<Route>, MachineError> {
        let site = self.site;
        let about = &site.groups[group];
        let disks = self.component(about.name.clone(), ComponentKind::Disks);
        self.stands_for(disks, SitePart::Disks(group));
        let cost = &site.stacks[self.datastore.stack].cost;
        let host_group = &site.hosts[self.datastore.hosts];
        let sharing = Sharing::new(vm_hosts.iter().copied());
        sharing.fits(&self.load, about)?;
        let first_store = self.stores.len() as u32;
        let mut routes = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let station = Pick::One(self.station(cpu, host_group.cores));
            let store = self.array(host, &sharing, about, None, (disks, disks));
            let storage = Storage { what: What::Store(store), component: disks };
            let clock_hz = host_group.clock_hz;
            let mut program = |kind| self.at_once((station, cpu), (cost, clock_hz), kind, storage);
            let (read, write) = (program(Kind::Read), program(Kind::Write));
            routes.push(whole(read, write, program(Kind::Flush)));
        }
        self.map.group_disks(group, first_store, hosts.len() as u32, about);
        Ok(routes)
    }

    /// Controllers behind a network.
    fn controller_routes(
        &mut self,
        cpu: u32,
        (number, port): (usize, usize),
        (hosts, vm_hosts): (&[u32], &[u32]),
    ) -> Result<Vec<Route>, MachineError> {
        let site = self.site;
        let group = &site.hosts[self.datastore.hosts];
        let stack = &site.stacks[self.datastore.stack];
        let about = &site.controllers[number];
        let target_adapter = &about.ports[port];
        let lines = self.lines();
        self.map.lines(&lines);
        let controllers = self.controllers(number, port, vm_hosts)?;
        // Without an adapter there is no path; the reader of the site has checked that.
        let Some(adapter_number) = self.datastore.adapter else {
            return Ok(hosts.iter().map(|_| whole(0, 0, 0)).collect());
        };
        let adapter = &group.adapters[adapter_number];
        let component =
            self.component(format!("{} {}", group.name, adapter.name), ComponentKind::HostPort);
        self.stands_for(component, SitePart::HostPort(self.datastore.hosts, adapter_number));
        let wire = wire(adapter, target_adapter, &lines);
        let cost = about.costs.iter().find(|(protocol, _)| *protocol == stack.protocol);
        // A host that is assigned to one port has the paths from its own ports to that one.
        let target_ports = match target_adapter.aggregation {
            Aggregation::ByHost => 1,
            _ => target_adapter.count,
        };
        let switches =
            self.datastore.policy == PathPolicy::RoundRobin && adapter.count.max(target_ports) > 1;
        let mut routes = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let station = self.station(cpu, group.cores);
            let ports = self.ports(component, adapter, 1);
            self.map.host_ports(
                self.datastore.hosts,
                adapter_number,
                ports,
                PortCount { owners: 1, each: adapter.count },
            );
            // Each controller serves consecutive hosts, and each of its ports the same number of
            // them.
            let unit = unit_of(host, about.count, group.count);
            let target_port = port_of(host, about.count, target_adapter, group.count);
            let pair = Pair {
                host: adapter,
                target: target_adapter,
                policy: self.datastore.policy,
                protocol: stack.protocol,
                flow: host << 12 | unit,
                senders: Senders::new(self.layout_seed, Talk::Storage),
                target_port,
            };
            let (at_host, at_target) = pair.ways();
            let host = End {
                cpu: Pick::One(station),
                cpu_component: cpu,
                cost: stack.cost,
                clock_hz: group.clock_hz,
                more_cycles: if switches { stack.path_switch_cycles } else { 0.0 },
                gate: Gate { ports, adapter, ways: at_host },
            };
            let target = End {
                cpu: Pick::One(controllers.cpu + unit),
                cpu_component: controllers.cpu_component,
                cost: cost.map_or(Cost::default(), |(_, cost)| *cost),
                clock_hz: about.clock_hz,
                more_cycles: 0.0,
                gate: Gate {
                    ports: of_unit(controllers.ports, unit, target_adapter),
                    adapter: target_adapter,
                    ways: at_target,
                },
            };
            let storage = Storage {
                what: What::Store(controllers.store + unit),
                component: controllers.disks,
            };
            routes.push(self.route_over(host, target, wire, storage));
        }
        Ok(routes)
    }

    /// The programs between two ends.
    fn route_over(
        &mut self,
        host: End<'_>,
        target: End<'_>,
        wire: Wire<'_>,
        storage: Storage,
    ) -> Route {
        let stack = &self.site.stacks[self.datastore.stack];
        let read_messages = protocol::read(stack);
        let messages = protocol::write(stack);
        let read = self.exchange_over(Kind::Read, host, target, wire, storage, read_messages);
        let by_adapter = matches!(messages.rest, Rest::Asked { by_adapter: true, .. });
        let write = self.write_over(host, target, wire, storage, (messages, by_adapter));
        let flush = match protocol::flush(stack) {
            Some(messages) => {
                self.exchange_over(Kind::Flush, host, target, wire, storage, messages)
            }
            None => self.nothing_to_do(host.cpu_component),
        };
        let mut route = Route {
            read: [read, read],
            write: [write, write],
            flush,
            read_bytes: protocol::read_bytes(stack),
            write_bytes: messages.at_once_bytes,
            writes_durably: protocol::writes_durably(stack),
        };
        match messages.rest {
            Rest::Calls => {
                let calls = self.calls(route, host.cpu_component);
                route.read[1] = calls;
                route.write[1] = calls;
            }
            Rest::Asked { by_adapter: false, .. } => {
                route.write[1] = self.write_over(host, target, wire, storage, (messages, true));
            }
            Rest::Asked { .. } | Rest::Nothing => {}
        }
        route
    }

    /// A program that splits a long request into several.
    fn calls(&mut self, route: Route, cpu: u32) -> u32 {
        let waiting = self.slowest();
        let fork = self.forks.len() as u32;
        self.forks.push(Fork::Calls { route });
        let first = self.program();
        self.store(Storage { what: What::Fork(fork), component: waiting });
        self.end(cpu);
        first
    }

    /// The component of requests that wait for the slowest of their parts.
    pub(super) fn slowest(&mut self) -> u32 {
        let found = self.components.iter().position(|about| about.kind == ComponentKind::Parts);
        match found {
            Some(found) => found as u32,
            None => self.component("slowest part".into(), ComponentKind::Parts),
        }
    }
}

/// A route whose requests are never split.
pub(super) fn whole(read: u32, write: u32, flush: u32) -> Route {
    Route {
        read: [read, read],
        write: [write, write],
        flush,
        read_bytes: u32::MAX,
        write_bytes: u32::MAX,
        writes_durably: false,
    }
}

/// What is between two adapters.
pub(super) fn wire<'a>(
    host: &Adapter,
    target: &Adapter,
    lines: &'a [super::ports::Line],
) -> Wire<'a> {
    let lossless = matches!(host.kind, stormeter_site::PortKind::FibreChannel { .. });
    Wire { framing: Framing::between(host.kind, target.kind), lines, lossless }
}

/// The ports of one of several owners.
fn of_unit(ports: Ports, unit: u32, adapter: &Adapter) -> Ports {
    let offset = unit * adapter.count;
    Ports {
        send: ports.send + offset,
        receive: ports.receive + offset,
        credit: ports.credit.map(|first| first + offset),
        ..ports
    }
}
