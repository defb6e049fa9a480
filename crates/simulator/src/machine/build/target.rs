//! Where bytes end up: the storages behind controllers.

use super::network::Ports;
use super::storage::Sharing;
use super::{Builder, MachineError};
use crate::machine::component::ComponentKind;

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
    /// All controllers of a kind.
    pub(super) fn controllers(
        &mut self,
        number: usize,
        port: usize,
        vm_hosts: &[u32],
    ) -> Result<Controllers, MachineError> {
        let controller = &self.site.controllers[number];
        let adapter = &controller.ports[port];
        let name = &controller.name;
        let ports =
            self.component(format!("{name} {}", adapter.name), ComponentKind::ControllerPort);
        let cpu_component = self.component(format!("{name} cpu"), ComponentKind::ControllerCpu);
        let group = &self.site.groups[controller.group];
        let disks = self.component(group.name.clone(), ComponentKind::Disks);
        let memory = self.memory(name, &controller.cache, disks);
        let hosts = self.site.hosts[self.datastore.hosts].count;
        let unit_of = |host: &u32| unit_of(*host, controller.count, hosts);
        let sharing = Sharing::new(vm_hosts.iter().map(unit_of));
        sharing.fits(&self.load, group)?;
        let store = self.stores.len() as u32;
        let cpu = self.stations.len() as u32;
        for unit in 0..controller.count {
            self.array(unit, &sharing, group, Some(&controller.cache), (disks, memory));
            self.station(cpu_component, controller.cores);
        }
        let ports = self.ports(ports, adapter, controller.count);
        self.map.controller_ports(number, port, ports, (controller.count, adapter.count));
        self.map.group_disks(controller.group, store, controller.count, group);
        Ok(Controllers { cpu_component, cpu, ports, disks, store })
    }
}

/// Which of several controllers a host's requests go to: each serves hosts that stand together.
pub(super) fn unit_of(host: u32, controllers: u32, hosts: u32) -> u32 {
    let place = u64::from(host) * u64::from(controllers) / u64::from(hosts);
    place.min(u64::from(controllers - 1)) as u32
}

/// Which port of its controller a host is mapped to: each port has as many hosts that stand together.
pub(super) fn port_of(host: u32, controllers: u32, ports: u32, hosts: u32) -> u32 {
    let within = u64::from(host) * u64::from(controllers) % u64::from(hosts);
    (within * u64::from(ports) / u64::from(hosts)) as u32
}
