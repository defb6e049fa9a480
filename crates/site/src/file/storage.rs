//! `networks`, `controllers` and `clusters`.

use stormeter_yaml::{Faults, Node, Place};

use super::device::device;
use super::host::{adapters, cost, protocols};
use super::keys;
use super::limits;
use super::part::{Part, THE_SITE, entries};
use super::value::{self, At};
use crate::model::{
    Cache, Cluster, Controller, Cost, Device, Hits, HostGroup, Layout, Network, Protocol,
    WriteCache,
};

/// How long a node that is gone is waited for: one hour (VMware vSphere 6.5, Administering VMware Virtual
/// SAN, "Failure States of Virtual SAN Components"; the object repair timer).
const REPAIR_DELAY_NS: u64 = 3_600_000_000_000;

/// A switch or a line.
pub(super) fn network(name: &str, place: Place, node: &Node, faults: &mut Faults) -> Network {
    let mut network = Network {
        name: name.into(),
        rate_bytes_per_s: None,
        latency_ns: 0.0,
        buffer_bytes: None,
        label_bytes: 0,
        failover_ns: 0,
    };
    let title = format!("network {name}");
    let Some(part) = Part::open(node, place, title, &keys::NETWORK, faults) else { return network };
    network.rate_bytes_per_s = part.get("rate", value::rate, faults);
    network.latency_ns = part.get("latency", value::latency, faults).unwrap_or(0.0);
    network.buffer_bytes = part.get("buffer", value::some_size, faults);
    if network.buffer_bytes.is_some() && part.node("rate").is_none() {
        faults.at(
            part.place_of("buffer"),
            format!("{} does not block, so nothing waits in a buffer; give it a rate, or take buffer out", part.name),
        );
    }
    // A label stack entry has 4 bytes (RFC 3032, section 2.1).
    network.label_bytes = part.get("labels", value::labels, faults).unwrap_or(0) * 4;
    network.failover_ns = part.get("failover", value::duration, faults).unwrap_or(0.0) as u64;
    network
}

/// A kind of controllers; `groups` are the names of the disk groups.
pub(super) fn controller(
    name: &str,
    place: Place,
    node: &Node,
    groups: &[String],
    faults: &mut Faults,
) -> Controller {
    let mut controller = Controller {
        name: name.into(),
        count: 1,
        cores: 1,
        clock_hz: 1e9,
        ports: Vec::new(),
        costs: Vec::new(),
        cache: Cache {
            read_bytes: 0,
            hits: Hits::WorkingSet,
            write: WriteCache::Through,
            layout: Layout::InPlace,
        },
        group: 0,
    };
    let title = format!("controller {name}");
    let Some(part) = Part::open(node, place, title, &keys::CONTROLLER, faults) else {
        return controller;
    };
    controller.count = part.get("count", value::count, faults).unwrap_or(1);
    controller.cores = part.need("cores", value::count, faults).unwrap_or(1);
    controller.clock_hz = part.need("clock", value::clock, faults).unwrap_or(1e9);
    controller.ports = adapters(&part, "ports", "port", faults);
    limits::controllers(&part, &controller, faults);
    controller.costs = costs(&part, faults);
    if let Some(node) = part.node("cache") {
        cache(node, part.place_of("cache"), &part.name, &mut controller.cache, faults);
    }
    let layouts = [("in-place", Layout::InPlace), ("write-anywhere", Layout::WriteAnywhere)];
    controller.cache.layout = part.choice("layout", &layouts, faults).unwrap_or(Layout::InPlace);
    part.needed("disks", faults);
    controller.group = part.link("disks", "disk group", THE_SITE, groups, faults).unwrap_or(0);
    controller
}

fn costs(part: &Part<'_>, faults: &mut Faults) -> Vec<(Protocol, Cost)> {
    let example = "nfs: {per-read: 40000 cycles, per-write: 60000 cycles}";
    let entries = entries(part.node("costs"), "protocol", example, faults);
    let mut costs = Vec::new();
    for (name, place, node) in entries {
        let protocol = protocols().into_iter().find(|(known, _)| *known == name);
        let Some((_, protocol)) = protocol.filter(|(_, known)| *known != Protocol::Local) else {
            faults.at(
                place,
                format!("{} has costs of nfs, iscsi and fc, not of \"{name}\"", part.name),
            );
            continue;
        };
        let title = format!("the cost of {name} of {}", part.name);
        if let Some(part) = Part::open(node, place, title, &keys::COST, faults) {
            part.get("clock", value::clock, faults);
            costs.push((protocol, cost(&part, faults)));
        }
    }
    costs
}

fn hits(at: At<'_, '_>, faults: &mut Faults) -> Option<Hits> {
    match at.node.text().map(str::trim) {
        Some("working-set") => Some(Hits::WorkingSet),
        Some(text) if text.ends_with('%') => value::share(at, faults).map(Hits::Share),
        _ => {
            let found = at.node.found();
            at.fault(
                format!("hits cannot be {found}; write working-set, or a share such as 30%"),
                faults,
            );
            None
        }
    }
}

fn cache(node: &Node, place: Place, of: &str, cache: &mut Cache, faults: &mut Faults) {
    let title = format!("the cache of {of}");
    let Some(part) = Part::open(node, place, title, &keys::CACHE, faults) else { return };
    cache.read_bytes = part.get("read", value::size, faults).unwrap_or(0);
    cache.hits = part.get("hits", hits, faults).unwrap_or(Hits::WorkingSet);
    let start_share = part.get("destage-from", value::share, faults);
    let depth = part.get("destage-depth", value::count, faults);
    let is_through = part.node("write").and_then(Node::text).is_none_or(|text| text == "through");
    if !is_through {
        if let Some(bytes) = part.get("write", value::some_size, faults) {
            let start_share = start_share.unwrap_or(0.5);
            cache.write = WriteCache::Back { bytes, start_share, depth: depth.unwrap_or(2) };
        }
        return;
    }
    for key in ["destage-from", "destage-depth"] {
        if part.node(key).is_some() {
            faults.at(
                part.place_of(key),
                format!("{} writes through, so nothing is destaged; write a size for write, or take {key} out", part.name),
            );
        }
    }
}

/// A datastore spread over hosts.
pub(super) fn cluster(
    name: &str,
    place: Place,
    node: &Node,
    hosts: &[HostGroup],
    faults: &mut Faults,
) -> Option<Cluster> {
    let title = format!("cluster {name}");
    let part = Part::open(node, place, title, &keys::CLUSTER, faults)?;
    let before = faults.count();
    let names: Vec<String> = hosts.iter().map(|host| host.name.clone()).collect();
    part.needed("nodes", faults);
    let nodes = part.link("nodes", "host group", THE_SITE, &names, faults);
    part.needed("adapter", faults);
    let adapter = nodes.and_then(|index| {
        let names: Vec<String> = hosts[index].adapters.iter().map(|a| a.name.clone()).collect();
        part.link("adapter", "adapter", &hosts[index].name, &names, faults)
    });
    let mut tier = |key: &'static str| {
        let node = part.needed(key, faults)?;
        Some(device(node, &format!("the {key} device of {}", part.name), faults))
    };
    let (cache, capacity) = (tier("cache"), tier("capacity"));
    let read_cache_bytes = part.get("read-cache", value::size, faults).unwrap_or(0);
    let write_buffer_bytes = part.get("write-buffer", value::size, faults);
    let hits = part.get("hits", hits, faults).unwrap_or(Hits::WorkingSet);
    let groups_per_node = part.get("groups-per-node", value::count, faults).unwrap_or(1);
    let capacity_per_group = part.get("capacity-per-group", value::count, faults).unwrap_or(1);
    let stripe_bytes = part.get("stripe", value::unit_size, faults).map_or(1 << 20, u64::from);
    let repair_delay_ns = part.get("repair-delay", value::duration, faults);
    let resync_bytes_per_s = part.get("resync", value::rate, faults);
    let mut per_request = Cost::default();
    if let Some(node) = part.needed("costs", faults) {
        let title = format!("the cost of {}", part.name);
        if let Some(part) = Part::open(node, node.place, title, &keys::COST, faults) {
            part.get("clock", value::clock, faults);
            per_request = cost(&part, faults);
        }
    }
    let flash_bytes = cache.as_ref().and_then(Device::capacity_bytes);
    let left = flash_bytes.map_or(1 << 30, |bytes| bytes.saturating_sub(read_cache_bytes));
    let write_buffer_bytes = write_buffer_bytes.unwrap_or(left);
    if faults.count() == before
        && flash_bytes.is_some_and(|bytes| read_cache_bytes + write_buffer_bytes > bytes)
    {
        let key = if part.node("write-buffer").is_some() { "write-buffer" } else { "read-cache" };
        faults.at(
            part.place_of(key),
            format!(
                "{} has a cache device that is smaller than read-cache and write-buffer together",
                part.name
            ),
        );
    }
    let cluster = Cluster {
        name: name.into(),
        nodes: nodes?,
        adapter: adapter?,
        groups_per_node,
        capacity_per_group,
        cache: cache?,
        capacity: capacity?,
        read_cache_bytes,
        hits,
        write_buffer_bytes,
        cost: per_request,
        stripe_bytes,
        repair_delay_ns: repair_delay_ns.map_or(REPAIR_DELAY_NS, |ns| ns as u64),
        resync_bytes_per_s,
    };
    limits::nodes(&part, &cluster, hosts[cluster.nodes].count, faults);
    Some(cluster)
}
