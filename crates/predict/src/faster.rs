//! A site of which one part is faster: what elasticity reruns a cell on.

use stormeter_driver::ComponentKind;
use stormeter_site::{Adapter, Cache, Cost, Device, Site, Target, WriteCache};

/// The site with one part of a datastore's way `factor` times as fast: more clock, a higher rate, shorter
/// times, a larger cache. `kind` and `name` are those of a component of the datastore's machine; the name
/// tells networks apart, and a cluster's flash from its capacity devices. `None` where there is nothing that could be faster.
pub fn faster(
    site: &Site,
    datastore: usize,
    kind: ComponentKind,
    name: &str,
    factor: f64,
) -> Option<Site> {
    let mut site = site.clone();
    let own = site.datastores.get(datastore)?.clone();
    match kind {
        ComponentKind::HostCpu => site.hosts.get_mut(own.hosts)?.clock_hz *= factor,
        ComponentKind::HostPort => {
            // Where a datastore names none, its hosts reach the nodes through the nodes' own.
            let of_nodes = |target| match target {
                Target::Cluster { cluster, .. } => Some(site.clusters.get(cluster)?.adapter),
                _ => None,
            };
            let number = own.adapter.or_else(|| of_nodes(own.target))?;
            quicker_port(site.hosts.get_mut(own.hosts)?.adapters.get_mut(number)?, factor);
        }
        ComponentKind::Network => {
            let mut ways = own.networks.iter().copied();
            let number = ways.find(|&number| site.networks[number].name == name)?;
            let network = &mut site.networks[number];
            network.rate_bytes_per_s = network.rate_bytes_per_s.map(|rate| rate * factor);
            network.latency_ns /= factor;
        }
        ComponentKind::ControllerPort => match own.target {
            Target::Group(_) => return None,
            Target::Controller { controller, port } => {
                let port = site.controllers.get_mut(controller)?.ports.get_mut(port)?;
                quicker_port(port, factor);
            }
            Target::Cluster { cluster, .. } => {
                let cluster = site.clusters.get(cluster)?;
                let nodes = site.hosts.get_mut(cluster.nodes)?;
                quicker_port(nodes.adapters.get_mut(cluster.adapter)?, factor);
            }
        },
        ComponentKind::ControllerCpu => match own.target {
            Target::Group(_) => return None,
            Target::Controller { controller, .. } => {
                site.controllers.get_mut(controller)?.clock_hz *= factor;
            }
            Target::Cluster { cluster, .. } => {
                // Nodes are hosts, whose clock is the initiator's too.
                cheaper(&mut site.clusters.get_mut(cluster)?.cost, factor);
            }
        },
        ComponentKind::Cache => match own.target {
            Target::Cluster { cluster, .. } => {
                let cluster = site.clusters.get_mut(cluster)?;
                cluster.write_buffer_bytes = larger(cluster.write_buffer_bytes, factor);
            }
            Target::Controller { controller, .. } => {
                larger_cache(&mut site.controllers.get_mut(controller)?.cache, factor);
            }
            Target::Group(_) => return None,
        },
        ComponentKind::Disks => match own.target {
            Target::Group(group) => quicker(&mut site.groups.get_mut(group)?.device, factor),
            Target::Controller { controller, .. } => {
                let group = site.controllers.get(controller)?.group;
                quicker(&mut site.groups.get_mut(group)?.device, factor);
            }
            Target::Cluster { cluster, .. } => {
                let cluster = site.clusters.get_mut(cluster)?;
                // In front of the capacity devices is a device too.
                let device = match name.strip_prefix(&cluster.name) {
                    Some(" flash") => &mut cluster.cache,
                    _ => &mut cluster.capacity,
                };
                quicker(device, factor);
            }
        },
        ComponentKind::Parts => return None,
    }
    Some(site)
}

fn cheaper(cost: &mut Cost, factor: f64) {
    cost.per_read_cycles /= factor;
    cost.per_write_cycles /= factor;
    cost.per_byte_cycles /= factor;
    cost.per_packet_cycles /= factor;
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
            queue.per_byte_ns /= factor;
            queue.shared_per_byte_ns /= factor;
            queue.shared_per_io_ns /= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_site::parse_site;

    /// What of the site changes when a part of a cluster's way is faster.
    fn changed(kind: ComponentKind, name: &str) -> Vec<&'static str> {
        let text = include_str!("../../../studies/vsan/site.yaml");
        let mut site = parse_site(text).unwrap().site;
        let is_cluster =
            |one: &stormeter_site::SiteDatastore| matches!(one.target, Target::Cluster { .. });
        let number = site.datastores.iter().position(is_cluster).unwrap();
        let Target::Cluster { cluster, .. } = site.datastores[number].target else { panic!() };
        // VMs on the nodes themselves, by the adapter that the cluster names.
        site.datastores[number].hosts = site.clusters[cluster].nodes;
        site.datastores[number].adapter = None;
        let other = faster(&site, number, kind, name, 1.1).unwrap();
        let (now, then) = (&other.clusters[cluster], &site.clusters[cluster]);
        let adapter = now.adapter;
        let ports = |site: &Site| site.hosts[then.nodes].adapters[adapter].clone();
        let mut told = Vec::new();
        told.extend((now.write_buffer_bytes > then.write_buffer_bytes).then_some("buffer"));
        told.extend((now.cache != then.cache).then_some("flash"));
        told.extend((now.capacity != then.capacity).then_some("capacity"));
        told.extend((ports(&other) != ports(&site)).then_some("ports"));
        told
    }

    #[test]
    fn parts_of_a_cluster_are_told_by_their_kind_whatever_they_are_called() {
        assert_eq!(changed(ComponentKind::Cache, "vsan cache"), ["buffer"]);
        let site = parse_site(include_str!("../../../studies/vsan/site.yaml")).unwrap().site;
        let flash = format!("{} flash", site.clusters[0].name);
        assert_eq!(changed(ComponentKind::Disks, &flash), ["flash"]);
        // A cluster may be called so.
        assert_eq!(changed(ComponentKind::Disks, "cached capacity"), ["capacity"]);
        assert_eq!(changed(ComponentKind::ControllerPort, "server vsan-1"), ["ports"]);
        assert_eq!(changed(ComponentKind::HostPort, "server vsan-1"), ["ports"]);
    }
}
