//! Where bytes end up: the storages behind controllers and in hosts.

use stormeter_site::Controller;

use super::Builder;
use super::network::Ports;
use crate::machine::component::ComponentKind;
use crate::storage::Store;

/// Controllers of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Controllers {
    pub(super) cpu_component: u32,
    /// The first controller's CPU; the others' follow.
    pub(super) cpu: u32,
    /// Their ports, one controller after the other.
    pub(super) ports: Ports,
    pub(super) disks: u32,
    /// The first controller's storage; the others' follow.
    pub(super) store: u32,
}

impl Builder<'_> {
    /// The storage of disks in one host.
    pub(super) fn group_store(&mut self, group: usize, disks: u32) -> u32 {
        let number = self.stores.len() as u32;
        let group = &self.site.groups[group];
        self.stores.push(Store::plain(number, disks, group, self.load.disk_bytes));
        number
    }

    /// The storage of one controller.
    fn controller_store(&mut self, controller: &Controller, disks: u32) -> u32 {
        let number = self.stores.len() as u32;
        let group = &self.site.groups[controller.group];
        self.stores.push(Store::plain(number, disks, group, self.load.disk_bytes));
        number
    }

    /// All controllers of a kind.
    pub(super) fn controllers(&mut self, number: usize, port: usize) -> Controllers {
        let controller = &self.site.controllers[number];
        let adapter = &controller.ports[port];
        let name = &controller.name;
        let ports =
            self.component(format!("{name} {}", adapter.name), ComponentKind::ControllerPort);
        let cpu_component = self.component(format!("{name} cpu"), ComponentKind::ControllerCpu);
        let group = &self.site.groups[controller.group];
        let disks = self.component(group.name.clone(), ComponentKind::Disks);
        let store = self.stores.len() as u32;
        let cpu = self.stations.len() as u32;
        for _ in 0..controller.count {
            self.controller_store(controller, disks);
            self.station(cpu_component, controller.cores);
        }
        let ports = self.ports(ports, adapter, controller.count);
        self.map.controller_ports(number, port, ports, (controller.count, adapter.count));
        self.map.group_disks(controller.group, store, controller.count, group);
        Controllers { cpu_component, cpu, ports, disks, store }
    }
}
