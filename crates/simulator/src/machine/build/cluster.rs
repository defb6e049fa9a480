//! A distributed datastore: its nodes, and the paths from each host to all of them.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use stormeter_disk::Kind;
use stormeter_site::{
    Adapter, Aggregation, Cluster, Cost, HostGroup, PathPolicy, Protocol, Stack, Target,
};
use stormeter_units::format_bytes;

use super::network::{Gate, Wire};
use super::path::{Senders, Talk, Way, Ways};
use super::placement::{MOST_PIECES, Pieces, placed};
use super::ports::{Line, Ports};
use super::program::{End, Storage};
use super::protocol;
use super::route::{whole, wire};
use super::{Builder, MachineError};
use crate::machine::Resync;
use crate::machine::component::{ComponentKind, SitePart};
use crate::machine::fault::PortCount;
use crate::machine::nodes::Nodes;
use crate::machine::parts::{Choice, Fork, Parts, Starts};
use crate::machine::step::{Pick, Route, What};
use crate::storage::{Components, Node, Store};

/// The components and stations of nodes and hosts.
struct Stations {
    host_cpu: u32,
    host_cpu_component: u32,
    host_ports: Ports,
    node_cpu: u32,
    node_cpu_component: u32,
    node_ports: Ports,
    capacity: u32,
    store: u32,
}

impl Builder<'_> {
    /// The routes of the hosts that run VMs.
    pub(super) fn cluster_routes(
        &mut self,
        cpu: u32,
        hosts: &[u32],
    ) -> Result<Vec<Route>, MachineError> {
        let Target::Cluster { cluster, stripes, replicas } = self.datastore.target else {
            return Ok(Vec::new());
        };
        let (number, site) = (cluster, self.site);
        let cluster = &site.clusters[number];
        let nodes = &site.hosts[cluster.nodes];
        if nodes.count < replicas {
            return Err(MachineError::TooFewNodes {
                nodes: nodes.count,
                replicas,
                name: nodes.name.clone(),
                cluster: cluster.name.clone(),
            });
        }
        let devices = cluster.groups_per_node * cluster.capacity_per_group;
        let stripe_bytes = cluster.stripe_bytes.max(65536);
        // A piece holds units of whole stripes.
        let of_each = self.load.disk_bytes.div_ceil(u64::from(stripes.max(1)));
        let piece_bytes = of_each.div_ceil(stripe_bytes) * stripe_bytes;
        let pieces = Pieces {
            objects: self.load.vms,
            stripes: stripes.max(1),
            replicas: replicas.max(1),
            nodes: nodes.count,
            devices,
            distribution: cluster.distribution,
        };
        if pieces.count().is_none() {
            return Err(MachineError::TooManyPieces {
                vms: self.load.vms,
                stripes,
                replicas,
                name: cluster.name.clone(),
                most: MOST_PIECES,
            });
        }
        let places = placed(pieces, self.layout_seed);
        let fullest = places.iter().map(|place| u64::from(place.before) + 1).max().unwrap_or(0);
        if let Some(room) = cluster.capacity.capacity_bytes()
            && fullest.saturating_mul(piece_bytes) > room
        {
            let whole = room * u64::from(devices) * u64::from(nodes.count);
            return Err(MachineError::NoRoom {
                vms: self.load.vms,
                disk: format_bytes(self.load.disk_bytes),
                name: format!("{} with {replicas} replicas", cluster.name),
                room: format_bytes(whole),
            });
        }
        let lines = self.lines();
        self.map.lines(&lines);
        let waiting = self.slowest();
        let stations = self.cluster_stations(cpu, number);
        let group = &site.hosts[self.datastore.hosts];
        let host_adapter = match self.datastore.adapter {
            Some(adapter) => &group.adapters[adapter],
            None => &nodes.adapters[cluster.adapter],
        };
        let node_adapter = &nodes.adapters[cluster.adapter];
        let wire = wire(host_adapter, node_adapter, &lines);
        let same = self.datastore.hosts == cluster.nodes;
        let mut routes = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let ends = Ends { group, nodes, cluster, host_adapter, node_adapter, wire };
            let parts = self.parts_of_host(&stations, &ends, host, same);
            routes.push(self.cluster_route(&stations, (host, waiting), parts));
        }
        let ways = self.ways_between_nodes(&stations, (nodes, cluster), &lines, replicas);
        let room = u64::from(devices) * u64::from(nodes.count);
        let pieces_per_device =
            cluster.capacity.capacity_bytes().map_or(u64::MAX, |room| room / piece_bytes.max(1));
        self.nodes = Some(Nodes {
            places,
            stripes: pieces.stripes,
            replicas: pieces.replicas,
            devices,
            stripe_bytes,
            distribution: cluster.distribution,
            reads: cluster.reads,
            piece_bytes,
            lost: vec![false; room as usize],
            any_lost: false,
            silent: vec![false; room as usize],
            any_silent: false,
            node_ports: (stations.node_ports.send, stations.node_ports.receive),
            ports_per_node: node_adapter.count as u16,
            resync: Resync::new(
                &cluster.name,
                ways,
                (cluster.repair_delay_ns, cluster.resync_bytes_per_s),
                pieces_per_device,
                Xoshiro256PlusPlus::seed_from_u64(self.seed ^ 0x7265_7379_6e63),
            ),
        });
        Ok(routes)
    }

    /// How each node reaches the others, to copy lost data; empty if there is one replica only.
    fn ways_between_nodes(
        &mut self,
        stations: &Stations,
        (nodes, cluster): (&HostGroup, &Cluster),
        lines: &[Line],
        replicas: u32,
    ) -> Vec<Parts> {
        if replicas < 2 {
            return Vec::new();
        }
        let adapter = &nodes.adapters[cluster.adapter];
        let ends = Ends {
            group: nodes,
            nodes,
            cluster,
            host_adapter: adapter,
            node_adapter: adapter,
            wire: wire(adapter, adapter, lines),
        };
        let stations = Stations {
            host_cpu: stations.node_cpu,
            host_cpu_component: stations.node_cpu_component,
            host_ports: stations.node_ports,
            ..*stations
        };
        (0..nodes.count).map(|node| self.parts_of_host(&stations, &ends, node, true)).collect()
    }

    /// A host's program: its own work before and after the parts.
    fn cluster_route(
        &mut self,
        stations: &Stations,
        (host, waiting): (u32, u32),
        parts: Parts,
    ) -> Route {
        let stack = &self.site.stacks[self.datastore.stack];
        let clock_hz = self.site.hosts[self.datastore.hosts].clock_hz;
        let fork = self.forks.len() as u32;
        self.forks.push(Fork::Nodes(parts));
        let cpu = Pick::One(stations.host_cpu + host);
        let storage = Storage { what: What::Fork(fork), component: waiting };
        let mut program = |kind| {
            let own = (cpu, stations.host_cpu_component);
            self.at_once(own, (&stack.cost, clock_hz), kind, storage)
        };
        let (read, write) = (program(Kind::Read), program(Kind::Write));
        whole(read, write, program(Kind::Flush))
    }

    /// The programs of a host's parts: on its own node, and over the network.
    fn parts_of_host(
        &mut self,
        stations: &Stations,
        ends: &Ends<'_>,
        host: u32,
        same: bool,
    ) -> Parts {
        let stack = &self.site.stacks[self.datastore.stack];
        let storage =
            Storage { what: What::NodeStore(stations.store), component: stations.capacity };
        let offset = host * ends.host_adapter.count;
        let ports = stations.host_ports;
        let host_ports = Ports {
            send: ports.send + offset,
            receive: ports.receive + offset,
            credit: ports.credit.map(|first| first + offset),
            ..ports
        };
        let count = ends.host_adapter.count as u16;
        let ways = self.ways_to_nodes(ends, host);
        // The request's own cost is in the program around the parts; a part costs its packets.
        let initiator = End {
            cpu: Pick::One(stations.host_cpu + host),
            cpu_component: stations.host_cpu_component,
            cost: Cost {
                per_packet_cycles: stack.cost.per_packet_cycles,
                per_batch_cycles: stack.cost.per_batch_cycles,
                ..Cost::default()
            },
            clock_hz: ends.group.clock_hz,
            more_cycles: 0.0,
            gate: Gate { ports: host_ports, adapter: ends.host_adapter, ways: ways.0 },
        };
        let node = End {
            cpu: Pick::Node { first: stations.node_cpu, ports: 1 },
            cpu_component: stations.node_cpu_component,
            cost: ends.cluster.cost,
            clock_hz: ends.nodes.clock_hz,
            more_cycles: 0.0,
            gate: Gate { ports: stations.node_ports, adapter: ends.node_adapter, ways: ways.1 },
        };
        // The internal protocol of a distributed datastore is not known: a part's payload is sent with
        // it.
        let inside = Stack { protocol: Protocol::Local, ..stack.clone() };
        let (read, write) = (protocol::read(&inside), protocol::write(&inside));
        let read = self.exchange_over(Kind::Read, initiator, node, ends.wire, storage, read);
        let write = self.write_over(initiator, node, ends.wire, storage, (write, false));
        let flush = match protocol::flush(&inside) {
            Some(flush) => {
                self.exchange_over(Kind::Flush, initiator, node, ends.wire, storage, flush)
            }
            None => self.nothing_to_do(initiator.cpu_component),
        };
        let own = same.then(|| {
            let cpu = (node.cpu, node.cpu_component);
            let cost = (&ends.cluster.cost, ends.nodes.clock_hz);
            let mut program = |kind| self.at_once(cpu, cost, kind, storage);
            let (read, write) = (program(Kind::Read), program(Kind::Write));
            Starts { read, write, flush: program(Kind::Flush) }
        });
        let turns = self.datastore.policy == PathPolicy::RoundRobin
            || ends.host_adapter.aggregation == Aggregation::RoundRobin
            || ends.host_adapter.aggregation == Aggregation::Hash
                && ends.node_adapter.aggregation == Aggregation::RoundRobin;
        let choice = if turns && count > 1 { Choice::Turns } else { Choice::First };
        Parts {
            host,
            over: Starts { read, write, flush },
            own,
            choice,
            send: host_ports.send,
            receive: host_ports.receive,
            ports: count,
        }
    }

    /// The paths of a host's parts and of the nodes' answers: selected by the flow if ports are
    /// aggregated by a hash, where each sender has its own hash; otherwise by the part's path.
    /// Multipathing takes precedence over aggregation.
    fn ways_to_nodes(&self, ends: &Ends<'_>, host: u32) -> (Ways, Ways) {
        let [by_host, to_node, by_node, to_host] =
            Senders::new(self.layout_seed, Talk::Storage).salts(host);
        let hashed = |adapter: &Adapter| {
            adapter.aggregation == Aggregation::Hash
                && self.datastore.policy == PathPolicy::Fixed
                && adapter.count > 1
        };
        let ports = ends.host_adapter.count as u16;
        let at_host = match hashed(ends.host_adapter) {
            true => Ways {
                send: Way::Flow { ports, salt: by_host },
                receive: Way::Flow { ports, salt: to_host },
            },
            false => Ways::both(Way::Same { ports }),
        };
        let ports = ends.node_adapter.count as u16;
        let at_node = match hashed(ends.node_adapter) {
            true => Ways {
                send: Way::NodeFlow { ports, salt: by_node },
                receive: Way::NodeFlow { ports, salt: to_node },
            },
            false => Ways::both(Way::Node { ports }),
        };
        (at_host, at_node)
    }

    /// CPUs, ports and disks of all nodes, and of the hosts if they are not nodes.
    fn cluster_stations(&mut self, cpu: u32, number: usize) -> Stations {
        let site = self.site;
        let cluster = &site.clusters[number];
        let (hosts, nodes) = (&site.hosts[self.datastore.hosts], &site.hosts[cluster.nodes]);
        let same = self.datastore.hosts == cluster.nodes;
        let adapter_number = self.datastore.adapter.unwrap_or(cluster.adapter);
        let (host_cpu, host_ports) =
            self.machines(hosts, (cpu, ComponentKind::HostPort), &hosts.adapters[adapter_number]);
        let each = hosts.adapters[adapter_number].count;
        let count = PortCount { owners: hosts.count, each };
        self.map.host_ports(self.datastore.hosts, adapter_number, host_ports, count);
        let node_adapter = &nodes.adapters[cluster.adapter];
        let (node_cpu_component, node_cpu, node_ports) = if same {
            let ports = match adapter_number == cluster.adapter {
                true => host_ports,
                false => {
                    let ports =
                        self.ports_of_group(nodes, ComponentKind::ControllerPort, node_adapter);
                    let count = PortCount { owners: nodes.count, each: node_adapter.count };
                    self.map.host_ports(cluster.nodes, cluster.adapter, ports, count);
                    ports
                }
            };
            (cpu, host_cpu, ports)
        } else {
            let component =
                self.component(format!("{} cpu", nodes.name), ComponentKind::ControllerCpu);
            let kind = (component, ComponentKind::ControllerPort);
            let (station, ports) = self.machines(nodes, kind, node_adapter);
            let count = PortCount { owners: nodes.count, each: node_adapter.count };
            self.map.host_ports(cluster.nodes, cluster.adapter, ports, count);
            (component, station, ports)
        };
        self.stands_for(
            host_ports.component,
            SitePart::HostPort(self.datastore.hosts, adapter_number),
        );
        self.stands_for(node_ports.component, SitePart::HostPort(cluster.nodes, cluster.adapter));
        // The host's own, if nodes are hosts.
        self.stands_for(node_cpu_component, SitePart::NodeCpu(number));
        let (capacity, store) = self.node_stores((number, cluster), nodes.count);
        let devices = cluster.groups_per_node * cluster.capacity_per_group;
        self.map.cluster(number, cluster.nodes, (store, nodes.count), devices);
        Stations {
            host_cpu,
            host_cpu_component: cpu,
            host_ports,
            node_cpu,
            node_cpu_component,
            node_ports,
            capacity,
            store,
        }
    }

    fn node_stores(&mut self, (number, cluster): (usize, &Cluster), nodes: u32) -> (u32, u32) {
        // Flash is a device, which may be busy; its write buffer is a memory, which may be full.
        let buffer = (cluster.write_buffer_bytes > 0)
            .then(|| self.component(format!("{} cache", cluster.name), ComponentKind::Cache));
        let flash = self.component(format!("{} flash", cluster.name), ComponentKind::Disks);
        let capacity = self.component(format!("{} capacity", cluster.name), ComponentKind::Disks);
        self.stands_for(flash, SitePart::Flash(number));
        self.stands_for(capacity, SitePart::Capacity(number));
        if let Some(buffer) = buffer {
            self.stands_for(buffer, SitePart::Buffer(number));
        }
        let store = self.stores.len() as u32;
        let replicas = match self.datastore.target {
            Target::Cluster { replicas, .. } => replicas.max(1),
            _ => 1,
        };
        for unit in 0..nodes {
            let components = Components { buffer: buffer.unwrap_or(flash), flash, capacity };
            let node = Node::new(store + unit, components, (cluster, nodes, replicas), &self.load);
            self.stores.push(Store::Node(Box::new(node)));
        }
        (capacity, store)
    }

    /// CPUs and ports of all hosts of a group.
    fn machines(
        &mut self,
        group: &HostGroup,
        (cpu, kind): (u32, ComponentKind),
        adapter: &Adapter,
    ) -> (u32, Ports) {
        let first = self.stations.len() as u32;
        for _ in 0..group.count {
            self.station(cpu, group.cores);
        }
        (first, self.ports_of_group(group, kind, adapter))
    }

    fn ports_of_group(
        &mut self,
        group: &HostGroup,
        kind: ComponentKind,
        adapter: &Adapter,
    ) -> Ports {
        let component = self.component(format!("{} {}", group.name, adapter.name), kind);
        self.ports(component, adapter, group.count)
    }
}

/// Both ends of all parts.
struct Ends<'a> {
    group: &'a HostGroup,
    nodes: &'a HostGroup,
    cluster: &'a Cluster,
    host_adapter: &'a Adapter,
    node_adapter: &'a Adapter,
    wire: Wire<'a>,
}
