//! A predictor that knows nothing but line rates: a datastore is as fast as the slowest link on the way to its bytes.
//!
//! What cannot beat it has no need of a simulator.

use stormeter_site::{Adapter, Device, Site, SiteDatastore, Target};

/// The rate of the slowest link between a host and its bytes, in bytes a second; `None` if there is none.
pub(crate) fn slowest(site: &Site, name: &str) -> Option<f64> {
    let is_it = |own: &&SiteDatastore| own.name == name || own.also.iter().any(|also| also == name);
    let own = site.datastores.iter().find(is_it)?;
    let ports = |adapter: &Adapter| adapter.rate_bytes_per_s * f64::from(adapter.count);
    let host = own.adapter.map(|number| ports(&site.hosts[own.hosts].adapters[number]));
    let networks = own.networks.iter().filter_map(|number| site.networks[*number].rate_bytes_per_s);
    let storage = match own.target {
        Target::Group(group) => interface(&site.groups[group].device),
        Target::Controller { controller, port } => {
            Some(ports(&site.controllers[controller].ports[port]))
        }
        Target::Cluster { cluster, .. } => {
            let cluster = &site.clusters[cluster];
            Some(ports(&site.hosts[cluster.nodes].adapters[cluster.adapter]))
        }
    };
    host.into_iter().chain(networks).chain(storage).min_by(f64::total_cmp)
}

fn interface(device: &Device) -> Option<f64> {
    match device {
        Device::Hdd(disk) => Some(disk.interface_bytes_per_s),
        Device::Ssd(disk) => Some(disk.interface_bytes_per_s),
        Device::Queue(_) => None,
    }
}
