//! What an acknowledged write means on a datastore of a site, from its caches and how writes are requested.

use stormeter_disk::{Acknowledged, Promise, PromiseEvidence};
use stormeter_site::{Device, Protocol, Site, Target, WriteCache};

/// The promise of a site's datastore (an index into [`Site::datastores`]); each layer that decides is evidence.
pub(crate) fn promise(site: &Site, datastore: usize) -> Promise {
    let datastore = &site.datastores[datastore];
    match datastore.target {
        Target::Group(group) => {
            let group = &site.groups[group];
            of_device(&group.device, &format!("disk group {}", group.name))
        }
        Target::Controller { controller, .. } => {
            let controller = &site.controllers[controller];
            let group = &site.groups[controller.group];
            let name = format!("controller {}", controller.name);
            let disks = || of_device(&group.device, &format!("disk group {}", group.name));
            let storage = match controller.cache.write {
                WriteCache::Back { battery: true, .. } => {
                    one(Acknowledged::Stable, format!("{name}: memory that survives a power loss"))
                }
                WriteCache::Back { .. } => one(
                    Acknowledged::VolatileCache,
                    format!("{name}: memory that a power loss empties"),
                ),
                WriteCache::Through => {
                    behind(one(Acknowledged::Stable, format!("{name}: writes through")), disks())
                }
            };
            let stack = &site.stacks[datastore.stack];
            match (stack.protocol, stack.options.unstable_writes) {
                (Protocol::Nfs, false) => requested_stable(&stack.name, storage),
                (Protocol::Nfs, true) => {
                    let how = format!("stack {}: UNSTABLE writes", stack.name);
                    behind(one(Acknowledged::Stable, how), storage)
                }
                (Protocol::Local | Protocol::Iscsi | Protocol::Fc, _) => storage,
            }
        }
        Target::Cluster { cluster, replicas, .. } => {
            let cluster = &site.clusters[cluster];
            let name = format!("cluster {}", cluster.name);
            let copies = match replicas {
                1 => format!("{name}: 1 replica"),
                _ => format!("{name}: {replicas} replicas before a write is acknowledged"),
            };
            let device = match cluster.write_buffer_bytes {
                0 => of_device(&cluster.capacity, &format!("{name}, capacity")),
                _ => of_device(&cluster.cache, &format!("{name}, cache")),
            };
            behind(one(Acknowledged::Stable, copies), device)
        }
    }
}

/// FILE_SYNC writes go past volatile caches; what is not known of a device stays so.
fn requested_stable(stack: &str, storage: Promise) -> Promise {
    let acknowledged = match storage.acknowledged {
        Acknowledged::Stable | Acknowledged::VolatileCache | Acknowledged::Memory => {
            Acknowledged::Stable
        }
        Acknowledged::Unknown => Acknowledged::Unknown,
    };
    let how = one(Acknowledged::Stable, format!("stack {stack}: FILE_SYNC writes"));
    Promise { acknowledged, ..behind(how, storage) }
}

fn of_device(device: &Device, name: &str) -> Promise {
    let volatile = device.has_volatile_cache();
    let what = match (device, volatile) {
        (Device::Hdd(_), Some(true)) => "hard disks with a volatile write cache",
        (Device::Hdd(_), _) => "hard disks without a write cache",
        (Device::Ssd(_), Some(true)) => "flash with a volatile write buffer",
        (Device::Ssd(_), _) => "flash that keeps its writes when power is lost",
        (Device::Queue(_), Some(true)) => "a device with a volatile write cache",
        (Device::Queue(_), Some(false)) => "a device without a volatile write cache",
        (Device::Queue(_), None) => "a device whose write cache is not described",
    };
    let acknowledged = match volatile {
        Some(true) => Acknowledged::VolatileCache,
        Some(false) => Acknowledged::Stable,
        None => Acknowledged::Unknown,
    };
    one(acknowledged, format!("{name}: {what}"))
}

fn one(acknowledged: Acknowledged, what: String) -> Promise {
    Promise::new(acknowledged, PromiseEvidence::Modelled { what })
}

/// A layer and what is behind it.
fn behind(front: Promise, back: Promise) -> Promise {
    let acknowledged = front.acknowledged.and(back.acknowledged);
    let evidence = front.evidence.into_iter().chain(back.evidence).collect();
    Promise { acknowledged, evidence }
}

#[cfg(test)]
mod tests {
    use stormeter_site::parse_site;

    use super::*;

    fn site(text: &str) -> Site {
        parse_site(text).unwrap_or_else(|errors| panic!("{errors}")).site
    }

    fn of(site: &Site, name: &str) -> Promise {
        let found = site.datastores.iter().position(|own| own.name == name);
        promise(site, found.unwrap_or_else(|| panic!("{name}")))
    }

    #[test]
    fn the_five_sites_say_what_theirs_promise() {
        use Acknowledged::{Stable, VolatileCache};
        let sites = [
            (include_str!("../../../studies/tr3808/site.yaml"), "fc-fixed", Stable),
            (include_str!("../../../studies/tr3808/site.yaml"), "nfs-1g", Stable),
            (include_str!("../../../studies/vsan/site.yaml"), "local", Stable),
            (include_str!("../../../studies/vsan/site.yaml"), "nas", Stable),
            (include_str!("../../../studies/vsan/site.yaml"), "hybrid-10g", Stable),
            (include_str!("../../../studies/nfs-datastore/site.yaml"), "local", Stable),
            (include_str!("../../../studies/nfs-datastore/site.yaml"), "nfs", Stable),
            (
                include_str!("../../../studies/virtual-physical/site.yaml"),
                "physical",
                VolatileCache,
            ),
            (include_str!("../../../studies/virtual-physical/site.yaml"), "virtual", VolatileCache),
            (include_str!("../../../studies/mpls-servers/site.yaml"), "media-1", VolatileCache),
            (include_str!("../../../studies/mpls-servers/site.yaml"), "media-2", VolatileCache),
        ];
        for (text, name, acknowledged) in sites {
            let promise = of(&site(text), name);
            assert_eq!(promise.acknowledged, acknowledged, "{name}: {promise:?}");
        }
    }

    #[test]
    fn how_writes_are_requested_decides_over_what_caches_could_lose() {
        let with = |sync: &str, storage: &str| {
            let text = format!(
                "hosts: {{pc: {{cores: 4, clock: 3GHz, adapters: {{nic: {{rate: 1GbE}}}}}}}}\n\
                 stacks: {{nfs: {{protocol: nfs, sync: {sync}, per-read: 1 cycles, per-write: 1 cycles}}}}\n\
                 disk-groups: {{raid: {{device: {{kind: queue, read: 1ms, write: 1ms}}}}}}\n\
                 controllers: {{filer: {{cores: 1, clock: 1GHz, ports: {{e0: {{rate: 1GbE}}}}, \
                 costs: {{nfs: {{per-read: 1 cycles, per-write: 1 cycles}}}}, {storage} disks: raid}}}}\n\
                 datastores: {{nfs: {{hosts: pc, stack: nfs, adapter: nic, controller: filer, port: e0}}}}\n"
            );
            of(&site(&text), "nfs")
        };
        let volatile = "cache: {write: 1GiB, battery: no},";
        assert_eq!(with("unstable", volatile).acknowledged, Acknowledged::VolatileCache);
        let stable = with("file", volatile);
        assert_eq!(stable.acknowledged, Acknowledged::Stable);
        let words =
            ["stack nfs: FILE_SYNC writes", "controller filer: memory that a power loss empties"];
        let modelled = |what: &str| PromiseEvidence::Modelled { what: what.into() };
        assert_eq!(stable.evidence, words.map(modelled));
        // Of a device described by its times only, nothing is promised.
        assert_eq!(with("file", "").acknowledged, Acknowledged::Unknown);
    }
}
