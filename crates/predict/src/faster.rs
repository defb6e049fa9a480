//! A site with one part sped up, for the reruns of [`crate::elasticity`].

use stormeter_simulator::SitePart;
use stormeter_site::{Adapter, Cache, Cost, Device, Site, WriteCache};

/// The site with one of its parts `factor` times as fast: a higher clock or rate, shorter times, a larger cache.
/// `None` if the site has no such part.
pub fn faster(site: &Site, part: SitePart, factor: f64) -> Option<Site> {
    let mut site = site.clone();
    match part {
        SitePart::VmPath(hosts) => site.hosts.get_mut(hosts)?.vm_path_cycles /= factor,
        SitePart::HostCpu(hosts) => site.hosts.get_mut(hosts)?.clock_hz *= factor,
        SitePart::HostPort(hosts, adapter) => {
            quicker_port(site.hosts.get_mut(hosts)?.adapters.get_mut(adapter)?, factor);
        }
        SitePart::Network(network) => {
            let network = site.networks.get_mut(network)?;
            network.rate_bytes_per_s = network.rate_bytes_per_s.map(|rate| rate * factor);
            network.latency_ns /= factor;
        }
        SitePart::ControllerCpu(controller) => {
            site.controllers.get_mut(controller)?.clock_hz *= factor;
        }
        SitePart::ControllerPort(controller, port) => {
            quicker_port(site.controllers.get_mut(controller)?.ports.get_mut(port)?, factor);
        }
        SitePart::ControllerCache(controller) => {
            larger_cache(&mut site.controllers.get_mut(controller)?.cache, factor);
        }
        SitePart::Disks(group) => quicker(&mut site.groups.get_mut(group)?.device, factor),
        // Nodes are hosts, whose clock is the initiator's too.
        SitePart::NodeCpu(cluster) => cheaper(&mut site.clusters.get_mut(cluster)?.cost, factor),
        SitePart::Flash(cluster) => quicker(&mut site.clusters.get_mut(cluster)?.cache, factor),
        SitePart::Buffer(cluster) => {
            let cluster = site.clusters.get_mut(cluster)?;
            cluster.write_buffer_bytes = larger(cluster.write_buffer_bytes, factor);
        }
        SitePart::Capacity(cluster) => {
            quicker(&mut site.clusters.get_mut(cluster)?.capacity, factor);
        }
    }
    Some(site)
}

fn cheaper(cost: &mut Cost, factor: f64) {
    cost.per_read_cycles /= factor;
    cost.per_write_cycles /= factor;
    cost.per_byte_cycles /= factor;
    cost.per_packet_cycles /= factor;
    cost.per_batch_cycles /= factor;
}

fn larger(bytes: u64, factor: f64) -> u64 {
    (bytes as f64 * factor) as u64
}

fn larger_cache(cache: &mut Cache, factor: f64) {
    cache.read_bytes = larger(cache.read_bytes, factor);
    if let WriteCache::Back { bytes, .. } = &mut cache.write {
        *bytes = larger(*bytes, factor);
    }
}

fn quicker_port(adapter: &mut Adapter, factor: f64) {
    adapter.rate_bytes_per_s *= factor;
    adapter.latency_ns /= factor;
}

/// All times of a device divided, all its rates multiplied.
fn quicker(device: &mut Device, factor: f64) {
    match device {
        Device::Hdd(hdd) => {
            hdd.rpm *= factor;
            hdd.outer_bytes_per_s *= factor;
            hdd.inner_bytes_per_s *= factor;
            hdd.interface_bytes_per_s *= factor;
            hdd.seek_track_ns /= factor;
            hdd.seek_average_ns /= factor;
            hdd.seek_full_ns /= factor;
            hdd.write_settle_ns /= factor;
            hdd.overhead_ns /= factor;
        }
        Device::Ssd(ssd) => {
            ssd.interface_bytes_per_s *= factor;
            ssd.read_ns /= factor;
            ssd.program_ns /= factor;
            ssd.erase_ns /= factor;
            ssd.overhead_ns /= factor;
        }
        Device::Queue(queue) => {
            queue.read_ns /= factor;
            queue.write_ns /= factor;
            queue.flush_ns /= factor;
            queue.per_byte_ns /= factor;
            queue.per_written_byte_ns /= factor;
            queue.shared_per_byte_ns /= factor;
            queue.shared_per_written_byte_ns /= factor;
            queue.shared_per_io_ns /= factor;
            queue.shared_per_write_ns /= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_disk::{Disks, Wait};
    use stormeter_simulator::{Load, Machine, Window};
    use stormeter_site::parse_site;
    use stormeter_trial::{ComponentKind, ComponentUse};

    const SITES: [&str; 5] = [
        include_str!("../../../studies/tr3808/site.yaml"),
        include_str!("../../../studies/vsan/site.yaml"),
        include_str!("../../../studies/nfs-datastore/site.yaml"),
        include_str!("../../../studies/mpls-servers/site.yaml"),
        include_str!("../../../studies/virtual-physical/site.yaml"),
    ];

    const LOAD: Load = Load {
        vms: 4,
        disk_bytes: 1 << 20,
        working_set_bytes: 1 << 20,
        random: 1.0,
        zipf: None,
        flushes: false,
    };
    const WINDOW: Window = Window { from_ns: 0, interval_ns: 1000 };

    /// What differs between two sites, in the words of the machine's components.
    fn changed(now: &Site, then: &Site) -> Vec<String> {
        let mut named = Vec::new();
        for (now, then) in now.hosts.iter().zip(&then.hosts) {
            named.extend((now.clock_hz != then.clock_hz).then(|| format!("{} cpu", now.name)));
            let path = now.vm_path_cycles != then.vm_path_cycles;
            named.extend(path.then(|| format!("{} vm path", now.name)));
            for (port, before) in now.adapters.iter().zip(&then.adapters) {
                named.extend((port != before).then(|| format!("{} {}", now.name, port.name)));
            }
        }
        for (now, then) in now.networks.iter().zip(&then.networks) {
            named.extend((now != then).then(|| now.name.clone()));
        }
        for (now, then) in now.controllers.iter().zip(&then.controllers) {
            named.extend((now.clock_hz != then.clock_hz).then(|| format!("{} cpu", now.name)));
            named.extend((now.cache != then.cache).then(|| format!("{} cache", now.name)));
            for (port, before) in now.ports.iter().zip(&then.ports) {
                named.extend((port != before).then(|| format!("{} {}", now.name, port.name)));
            }
        }
        for (now, then) in now.groups.iter().zip(&then.groups) {
            named.extend((now != then).then(|| now.name.clone()));
        }
        for (cluster, before) in now.clusters.iter().zip(&then.clusters) {
            let nodes = &now.hosts[cluster.nodes].name;
            named.extend((cluster.cost != before.cost).then(|| format!("{nodes} cpu")));
            named
                .extend((cluster.cache != before.cache).then(|| format!("{} flash", cluster.name)));
            let buffer = cluster.write_buffer_bytes != before.write_buffer_bytes;
            named.extend(buffer.then(|| format!("{} cache", cluster.name)));
            let capacity = cluster.capacity != before.capacity;
            named.extend(capacity.then(|| format!("{} capacity", cluster.name)));
        }
        named
    }

    /// The components of a machine, with what they stand for.
    fn components(mut machine: Machine) -> Vec<(ComponentUse, Option<SitePart>)> {
        machine.reap(Wait::AtMost(4000), &mut Vec::new()).unwrap();
        let uses = machine.usage();
        assert!(!uses.is_empty());
        uses.into_iter().zip(machine.parts()).collect()
    }

    #[test]
    fn what_is_faster_is_what_a_component_is_called_on_every_published_site() {
        let mut kinds = Vec::new();
        for text in SITES {
            let site = parse_site(text).unwrap().site;
            for number in 0..site.datastores.len() {
                let mut machines = vec![Machine::new(&site, number, LOAD, WINDOW, 1).unwrap()];
                if site.client.is_some() {
                    machines.push(Machine::with_client(&site, number, LOAD, WINDOW, 1).unwrap());
                }
                for (one, part) in machines.into_iter().flat_map(components) {
                    if one.kind == ComponentKind::Parts {
                        assert_eq!(part, None);
                        continue;
                    }
                    let part = part.unwrap_or_else(|| panic!("{} stands for nothing", one.name));
                    // A switch without latency cannot be faster.
                    if let SitePart::Network(network) = part
                        && site.networks[network].latency_ns == 0.0
                        && site.networks[network].rate_bytes_per_s.is_none()
                    {
                        continue;
                    }
                    let other = faster(&site, part, 1.1).unwrap();
                    assert_eq!(changed(&other, &site), [one.name.as_str()], "{part:?}");
                    kinds.push(one.kind);
                }
            }
        }
        let seen = |kind: &ComponentKind| kinds.contains(kind) || *kind == ComponentKind::Parts;
        assert!(ComponentKind::ALL.iter().all(seen));
    }

    #[test]
    fn nodes_that_are_hosts_keep_their_parts_apart() {
        let mut site = parse_site(SITES[1]).unwrap().site;
        let is_cluster = |one: &stormeter_site::SiteDatastore| {
            matches!(one.target, stormeter_site::Target::Cluster { .. })
        };
        let number = site.datastores.iter().position(is_cluster).unwrap();
        // A cluster may be called so.
        for cluster in &mut site.clusters {
            cluster.name = "cached".into();
        }
        let machine = Machine::new(&site, number, LOAD, WINDOW, 1).unwrap();
        for (one, part) in components(machine) {
            match part {
                Some(SitePart::Capacity(_)) => assert_eq!(one.name, "cached capacity"),
                Some(SitePart::Flash(_)) => assert_eq!(one.name, "cached flash"),
                Some(SitePart::Buffer(_)) => assert_eq!(one.name, "cached cache"),
                _ => assert!(!one.name.starts_with("cached"), "{}", one.name),
            }
        }
    }

    #[test]
    fn a_part_that_the_site_does_not_have_is_none() {
        let site = parse_site(SITES[0]).unwrap().site;
        assert!(faster(&site, SitePart::Network(99), 1.1).is_none());
        assert!(faster(&site, SitePart::HostPort(0, 99), 1.1).is_none());
    }
}
