//! Where the parts of a site are in a machine, for faults.

use stormeter_site::DiskGroup;

use crate::machine::build::{Line, Ports};

/// The parts of a site, by their places in a machine.
#[derive(Debug, Default)]
pub(in crate::machine) struct Map {
    pub(super) sets: Vec<PortSet>,
    lines: Vec<Line>,
    pub(super) disks: Vec<Disks>,
    /// How long until a failure is noticed.
    pub(in crate::machine) failover_ns: u64,
}

/// The owner of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// Hosts: index of the group and its adapter.
    Hosts(usize, usize),
    /// Controllers: index and its port.
    Controllers(usize, usize),
}

/// The ports of one adapter, of consecutive owners.
#[derive(Debug, Clone, Copy)]
pub(super) struct PortSet {
    pub(super) owner: Owner,
    ports: Ports,
    owners: u32,
    pub(super) count: u32,
}

/// The number of ports of an adapter.
#[derive(Debug, Clone, Copy)]
pub(in crate::machine) struct PortCount {
    /// Hosts or controllers that have it.
    pub(in crate::machine) owners: u32,
    /// Ports of each.
    pub(in crate::machine) each: u32,
}

/// Disks that a fault can name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Disks {
    /// A disk group: index, first storage, number of storages, and the disks of each.
    Group { group: usize, store: u32, stores: u32, each: u32 },
    /// A cluster: index and its hosts, first storage, number of nodes, capacity devices of each.
    Cluster { cluster: usize, hosts: usize, store: u32, nodes: u32, each: u32 },
}

impl PortSet {
    /// Another port of the same owner that is up, in place of one that is down.
    pub(super) fn first_that_is_up(&self, port: u32, down: &[bool]) -> Option<u32> {
        let mut all = (1..self.count).map(|next| (port + next) % self.count);
        all.find(|&other| !down[(self.ports.send + other) as usize])
    }
}

impl Map {
    pub(in crate::machine) fn controller_ports(
        &mut self,
        controller: usize,
        port: usize,
        ports: Ports,
        PortCount { owners, each }: PortCount,
    ) {
        let owner = Owner::Controllers(controller, port);
        self.sets.push(PortSet { owner, ports, owners, count: each });
    }

    pub(in crate::machine) fn host_ports(
        &mut self,
        group: usize,
        adapter: usize,
        ports: Ports,
        PortCount { owners, each }: PortCount,
    ) {
        self.sets.push(PortSet { owner: Owner::Hosts(group, adapter), ports, owners, count: each });
    }

    pub(in crate::machine) fn lines(&mut self, lines: &[Line]) {
        self.lines.extend_from_slice(lines);
    }

    /// The line of a network, if there is one already.
    pub(in crate::machine) fn line_of(&self, network: usize) -> Option<Line> {
        self.lines.iter().find(|line| line.network == network).copied()
    }

    /// The ports of one host of a group (its index, and its adapter's), in the order in which they were
    /// added.
    pub(in crate::machine) fn ports_of_host(
        &self,
        (group, adapter): (usize, usize),
        place: u32,
    ) -> Option<Ports> {
        let mut before = place;
        for set in self.sets.iter().filter(|set| set.owner == Owner::Hosts(group, adapter)) {
            if before < set.owners {
                let offset = before * set.count;
                return Some(Ports {
                    send: set.ports.send + offset,
                    receive: set.ports.receive + offset,
                    credit: set.ports.credit.map(|first| first + offset),
                    ..set.ports
                });
            }
            before -= set.owners;
        }
        None
    }

    pub(in crate::machine) fn group_disks(
        &mut self,
        group: usize,
        store: u32,
        stores: u32,
        about: &DiskGroup,
    ) {
        let each = about.disks * about.groups;
        self.disks.push(Disks::Group { group, store, stores, each });
    }

    pub(in crate::machine) fn cluster(
        &mut self,
        cluster: usize,
        hosts: usize,
        (store, nodes): (u32, u32),
        each: u32,
    ) {
        self.disks.push(Disks::Cluster { cluster, hosts, store, nodes, each });
    }

    /// The line of a network, if the datastore uses it.
    pub(super) fn line(&self, network: usize) -> Option<u32> {
        self.lines.iter().position(|line| line.network == network).map(|line| line as u32)
    }

    /// Stations at which messages wait while a line is down: its own, or all sending ports if it has
    /// none.
    pub(super) fn line_stations(&self, line: u32) -> Vec<u32> {
        let line = &self.lines[line as usize];
        let own: Vec<u32> = [line.there, line.back].into_iter().flatten().collect();
        if !own.is_empty() {
            return own;
        }
        let send = |set: &PortSet| set.ports.send..set.ports.send + set.owners * set.count;
        self.sets.iter().flat_map(send).collect()
    }

    /// The stations of a port, of all owners.
    pub(super) fn port_stations(&self, set: u32, port: u32) -> impl Iterator<Item = u32> + use<> {
        let PortSet { ports, owners, count, .. } = self.sets[set as usize];
        (0..owners).flat_map(move |owner| {
            let offset = owner * count + port;
            [Some(ports.send), Some(ports.receive), ports.credit]
                .into_iter()
                .flatten()
                .map(move |first| first + offset)
        })
    }

    /// The station that serves in place of one that is down.
    pub(super) fn instead(&self, station: u32, down: &[bool]) -> u32 {
        if !down[station as usize] {
            return station;
        }
        for set in &self.sets {
            let firsts = [Some(set.ports.send), Some(set.ports.receive), set.ports.credit];
            for first in firsts.into_iter().flatten() {
                let Some(offset) = station.checked_sub(first) else { continue };
                if offset >= set.owners * set.count {
                    continue;
                }
                let (owner, port) = (offset / set.count, offset % set.count);
                let mut others = (1..set.count).map(|next| (port + next) % set.count);
                let others =
                    others.find(|other| !down[(first + owner * set.count + other) as usize]);
                return others.map_or(station, |other| first + owner * set.count + other);
            }
        }
        station
    }
}
