//! A site of which one part is faster: what elasticity reruns a cell on.

use stormeter_driver::ComponentKind;
use stormeter_site::{Cost, Device, Site, Target, WriteCache};

/// The site with one part of a datastore's way `factor` times as fast: more clock, a higher rate, shorter
/// times, a larger cache. `kind` and `name` are those of a component of the datastore's machine. `None`
/// where there is nothing that could be faster.
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
            let adapter = site.hosts.get_mut(own.hosts)?.adapters.get_mut(own.adapter?)?;
            adapter.rate_bytes_per_s *= factor;
            adapter.latency_ns /= factor;
        }
        ComponentKind::Network => {
            let mut ways = own.networks.iter().copied();
            let number = ways.find(|&number| site.networks[number].name == name)?;
            let network = &mut site.networks[number];
            network.rate_bytes_per_s = network.rate_bytes_per_s.map(|rate| rate * factor);
            network.latency_ns /= factor;
        }
        ComponentKind::ControllerPort => {
            let Target::Controller { controller, port } = own.target else { return None };
            let port = site.controllers.get_mut(controller)?.ports.get_mut(port)?;
            port.rate_bytes_per_s *= factor;
            port.latency_ns /= factor;
        }
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
        ComponentKind::Cache => larger_cache(&mut site, own.target, factor)?,
        ComponentKind::Disks => match own.target {
            Target::Group(group) => quicker(&mut site.groups.get_mut(group)?.device, factor),
            Target::Controller { controller, .. } => {
                let group = site.controllers.get(controller)?.group;
                quicker(&mut site.groups.get_mut(group)?.device, factor);
            }
            Target::Cluster { cluster, .. } => {
                let cluster = site.clusters.get_mut(cluster)?;
                match name.contains("cache") {
                    true => quicker(&mut cluster.cache, factor),
                    false => quicker(&mut cluster.capacity, factor),
                }
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

fn larger_cache(site: &mut Site, target: Target, factor: f64) -> Option<()> {
    match target {
        Target::Group(_) => None,
        Target::Controller { controller, .. } => {
            let cache = &mut site.controllers.get_mut(controller)?.cache;
            cache.read_bytes = larger(cache.read_bytes, factor);
            if let WriteCache::Back { bytes, .. } = &mut cache.write {
                *bytes = larger(*bytes, factor);
            }
            Some(())
        }
        Target::Cluster { cluster, .. } => {
            let cluster = site.clusters.get_mut(cluster)?;
            cluster.read_cache_bytes = larger(cluster.read_cache_bytes, factor);
            cluster.write_buffer_bytes = larger(cluster.write_buffer_bytes, factor);
            Some(())
        }
    }
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
