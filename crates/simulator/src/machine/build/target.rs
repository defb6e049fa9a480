//! The storage behind controllers.

use stormeter_site::{Adapter, Aggregation};

use super::ports::Ports;
use super::storage::Sharing;
use super::{Builder, MachineError};
use crate::machine::component::{ComponentKind, SitePart};
use crate::machine::fault::PortCount;

/// Controllers of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Controllers {
    pub(super) cpu_component: u32,
    /// The first controller's CPU; the others' follow.
    pub(super) cpu: u32,
    /// Their ports, controller by controller.
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
        self.stands_for(ports, SitePart::ControllerPort(number, port));
        self.stands_for(cpu_component, SitePart::ControllerCpu(number));
        self.stands_for(disks, SitePart::Disks(controller.group));
        self.stands_for(memory, SitePart::ControllerCache(number));
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
        self.map.controller_ports(
            number,
            port,
            ports,
            PortCount { owners: controller.count, each: adapter.count },
        );
        self.map.group_disks(controller.group, store, controller.count, group);
        Ok(Controllers { cpu_component, cpu, ports, disks, store })
    }
}

/// Which of several controllers a host's requests go to: each serves consecutive hosts.
pub(super) fn unit_of(host: u32, controllers: u32, hosts: u32) -> u32 {
    let place = u64::from(host) * u64::from(controllers) / u64::from(hosts);
    place.min(u64::from(controllers - 1)) as u32
}

/// Which port of its controller a host uses. If ports are assigned by host, each host has the one
/// after that of the previous host; otherwise each port has the same number of consecutive hosts.
pub(super) fn port_of(host: u32, controllers: u32, ports: &Adapter, hosts: u32) -> u32 {
    let count = ports.count.max(1);
    if ports.aggregation == Aggregation::ByHost {
        let unit = u64::from(unit_of(host, controllers, hosts));
        let first = (unit * u64::from(hosts)).div_ceil(u64::from(controllers)) as u32;
        return (host - first) % count;
    }
    let within = u64::from(host) * u64::from(controllers) % u64::from(hosts);
    (within * u64::from(count) / u64::from(hosts)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_site::{Coalescing, PortKind};

    fn ports(count: u32, aggregation: Aggregation) -> Adapter {
        let kind = PortKind::Ethernet { mtu_bytes: 1500 };
        let name = "e0".into();
        Adapter {
            name,
            kind,
            rate_bytes_per_s: 125e6,
            count,
            aggregation,
            latency_ns: 0.0,
            coalescing: Coalescing::default(),
        }
    }

    #[test]
    fn hosts_are_dealt_to_ports_in_turn_or_in_blocks() {
        let dealt = |controllers, count, hosts, aggregation| -> Vec<(u32, u32)> {
            let ports = ports(count, aggregation);
            let place = |host| {
                (unit_of(host, controllers, hosts), port_of(host, controllers, &ports, hosts))
            };
            (0..hosts).map(place).collect()
        };
        let turns =
            |controllers, count, hosts| dealt(controllers, count, hosts, Aggregation::ByHost);
        let two = [(0, 0), (0, 1), (0, 0), (0, 1), (1, 0), (1, 1), (1, 0), (1, 1)];
        assert_eq!(turns(2, 2, 8), two);
        // The first controller has four of seven hosts; the second's start at its first port again.
        let odd = [(0, 0), (0, 1), (0, 2), (0, 0), (1, 0), (1, 1), (1, 2)];
        assert_eq!(turns(2, 3, 7), odd);
        assert_eq!(turns(4, 2, 2), [(0, 0), (2, 0)]);
        let blocks = [(0, 0), (0, 0), (0, 1), (0, 1), (1, 0), (1, 0), (1, 1), (1, 1)];
        assert_eq!(dealt(2, 2, 8, Aggregation::ActiveBackup), blocks);
    }
}
