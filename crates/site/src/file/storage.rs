//! Reads `networks`, `controllers` and `clusters`.

use stormeter_yaml::{Diagnostics, Node, Place};

use super::device::device;
use super::host::{adapters, cost, protocols};
use super::keys;
use super::limits;
use super::part::{Part, THE_SITE, entries};
use super::value::{self, At};
use crate::model::{
    Cache, Cluster, Controller, Cost, Device, Distribution, Hits, HostGroup, Layout, Network,
    Protocol, ReplicaReads, WriteCache,
};

/// Default time to wait for a lost node: one hour (VMware vSphere 6.5, Administering VMware Virtual SAN,
/// "Failure States of Virtual SAN Components"; the object repair timer).
const REPAIR_DELAY_NS: u64 = 3_600_000_000_000;

/// A switch or a line.
pub(super) fn network(
    name: &str,
    place: Place,
    node: &Node,
    diagnostics: &mut Diagnostics,
) -> Network {
    let mut network = Network {
        name: name.into(),
        rate_bytes_per_s: None,
        latency_ns: 0.0,
        buffer_bytes: None,
        label_bytes: 0,
        failover_ns: 0,
    };
    let title = format!("network {name}");
    let Some(part) = Part::open(node, place, title, &keys::NETWORK, diagnostics) else {
        return network;
    };
    network.rate_bytes_per_s = part.get("rate", value::rate, diagnostics);
    network.latency_ns = part.get("latency", value::latency, diagnostics).unwrap_or(0.0);
    network.buffer_bytes = part.get("buffer", value::some_size, diagnostics);
    if network.buffer_bytes.is_some() && part.node("rate").is_none() {
        diagnostics.error_at(
            part.place_of("buffer"),
            format!("{} does not block, so nothing waits in a buffer; give it a rate, or take buffer out", part.name),
        );
    }
    // A label stack entry has 4 bytes (RFC 3032, section 2.1).
    network.label_bytes = part.get("labels", value::labels, diagnostics).unwrap_or(0) * 4;
    network.failover_ns = part.get("failover", value::duration, diagnostics).unwrap_or(0.0) as u64;
    network
}

/// Reads a kind of controllers; `groups` are the names of the disk groups.
pub(super) fn controller(
    name: &str,
    place: Place,
    node: &Node,
    groups: &[String],
    diagnostics: &mut Diagnostics,
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
    let Some(part) = Part::open(node, place, title, &keys::CONTROLLER, diagnostics) else {
        return controller;
    };
    controller.count = part.get("count", value::count, diagnostics).unwrap_or(1);
    controller.cores = part.need("cores", value::count, diagnostics).unwrap_or(1);
    controller.clock_hz = part.need("clock", value::clock, diagnostics).unwrap_or(1e9);
    controller.ports = adapters(&part, "ports", "port", diagnostics);
    limits::controllers(&part, &controller, diagnostics);
    controller.costs = costs(&part, diagnostics);
    if let Some(node) = part.node("cache") {
        cache(node, part.place_of("cache"), &part.name, &mut controller.cache, diagnostics);
    }
    let layouts = [("in-place", Layout::InPlace), ("write-anywhere", Layout::WriteAnywhere)];
    controller.cache.layout =
        part.choice("layout", &layouts, diagnostics).unwrap_or(Layout::InPlace);
    part.needed("disks", diagnostics);
    controller.group = part.link("disks", "disk group", THE_SITE, groups, diagnostics).unwrap_or(0);
    controller
}

fn costs(part: &Part<'_>, diagnostics: &mut Diagnostics) -> Vec<(Protocol, Cost)> {
    let example = "nfs: {per-read: 40000 cycles, per-write: 60000 cycles}";
    let entries = entries(part.node("costs"), "protocol", example, diagnostics);
    let mut costs = Vec::new();
    for (name, place, node) in entries {
        let protocol = protocols().into_iter().find(|(known, _)| *known == name);
        let Some((_, protocol)) = protocol.filter(|(_, known)| *known != Protocol::Local) else {
            diagnostics.error_at(
                place,
                format!("{} has costs of nfs, iscsi and fc, not of \"{name}\"", part.name),
            );
            continue;
        };
        let title = format!("the cost of {name} of {}", part.name);
        if let Some(part) = Part::open(node, place, title, &keys::COST, diagnostics) {
            part.get("clock", value::clock, diagnostics);
            costs.push((protocol, cost(&part, diagnostics)));
        }
    }
    costs
}

fn hits(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<Hits> {
    match at.node.text().map(str::trim) {
        Some("working-set") => Some(Hits::WorkingSet),
        Some(text) if text.ends_with('%') => value::share(at, diagnostics).map(Hits::Share),
        _ => {
            let found = at.node.found();
            at.fault(
                format!("hits cannot be {found}; write working-set, or a share such as 30%"),
                diagnostics,
            );
            None
        }
    }
}

/// Concurrent destage requests of a data disk, if a site gives none. Linux md keeps 256 pages of each disk in its
/// stripe cache, a mebibyte (Documentation/admin-guide/md.rst, stripe_cache_size): 16 units of 64 KiB.
const DESTAGE_DEPTH: u32 = 16;

fn cache(node: &Node, place: Place, of: &str, cache: &mut Cache, diagnostics: &mut Diagnostics) {
    let title = format!("the cache of {of}");
    let Some(part) = Part::open(node, place, title, &keys::CACHE, diagnostics) else { return };
    cache.read_bytes = part.get("read", value::size, diagnostics).unwrap_or(0);
    cache.hits = part.get("hits", hits, diagnostics).unwrap_or(Hits::WorkingSet);
    let start_share = part.get("destage-from", value::share, diagnostics);
    let depth = part.get("destage-depth", value::count, diagnostics);
    let battery = part.get("battery", value::flag, diagnostics);
    let is_through = part.node("write").and_then(Node::text).is_none_or(|text| text == "through");
    if !is_through {
        if let Some(bytes) = part.get("write", value::some_size, diagnostics) {
            let start_share = start_share.unwrap_or(0.5);
            let depth = depth.unwrap_or(DESTAGE_DEPTH);
            let battery = battery.unwrap_or(true);
            cache.write = WriteCache::Back { bytes, battery, start_share, depth };
        }
        return;
    }
    let empty = [
        ("destage-from", "nothing is destaged"),
        ("destage-depth", "nothing is destaged"),
        ("battery", "a battery has nothing to keep"),
    ];
    for (key, so) in empty {
        // That there is no battery is true of it, and stays true when a study turns write-back on and off.
        let is_true = key == "battery" && battery == Some(false);
        if part.node(key).is_some() && !is_true {
            diagnostics.error_at(
                part.place_of(key),
                format!(
                    "{} writes through, so {so}; write a size for write, or take {key} out",
                    part.name
                ),
            );
        }
    }
}

/// Reads a datastore spread over hosts.
pub(super) fn cluster(
    name: &str,
    place: Place,
    node: &Node,
    hosts: &[HostGroup],
    diagnostics: &mut Diagnostics,
) -> Option<Cluster> {
    let title = format!("cluster {name}");
    let part = Part::open(node, place, title, &keys::CLUSTER, diagnostics)?;
    let before = diagnostics.count();
    let names: Vec<String> = hosts.iter().map(|host| host.name.clone()).collect();
    part.needed("nodes", diagnostics);
    let nodes = part.link("nodes", "host group", THE_SITE, &names, diagnostics);
    part.needed("adapter", diagnostics);
    let adapter = nodes.and_then(|index| {
        let names: Vec<String> = hosts[index].adapters.iter().map(|a| a.name.clone()).collect();
        part.link("adapter", "adapter", &hosts[index].name, &names, diagnostics)
    });
    let mut tier = |key: &'static str| {
        let node = part.needed(key, diagnostics)?;
        Some(device(node, &format!("the {key} device of {}", part.name), diagnostics))
    };
    let (cache, capacity) = (tier("cache"), tier("capacity"));
    let read_cache_bytes = part.get("read-cache", value::size, diagnostics).unwrap_or(0);
    let write_buffer_bytes = part.get("write-buffer", value::size, diagnostics);
    let hits = part.get("hits", hits, diagnostics).unwrap_or(Hits::WorkingSet);
    let groups_per_node = part.get("groups-per-node", value::count, diagnostics).unwrap_or(1);
    let capacity_per_group = part.get("capacity-per-group", value::count, diagnostics).unwrap_or(1);
    let stripe_bytes = part.get("stripe", value::unit_size, diagnostics).map_or(1 << 20, u64::from);
    let distributions = [("even", Distribution::Even), ("hash", Distribution::Hash)];
    let distribution = part.choice("distribution", &distributions, diagnostics);
    let reads = [("all", ReplicaReads::All), ("primary", ReplicaReads::Primary)];
    let reads = part.choice("reads", &reads, diagnostics);
    let repair_delay_ns = part.get("repair-delay", value::duration, diagnostics);
    let resync_bytes_per_s = part.get("resync", value::rate, diagnostics);
    let mut per_request = Cost::default();
    if let Some(node) = part.needed("costs", diagnostics) {
        let title = format!("the cost of {}", part.name);
        if let Some(part) = Part::open(node, node.place, title, &keys::COST, diagnostics) {
            part.get("clock", value::clock, diagnostics);
            per_request = cost(&part, diagnostics);
        }
    }
    let flash_bytes = cache.as_ref().and_then(Device::capacity_bytes);
    let left = flash_bytes.map_or(1 << 30, |bytes| bytes.saturating_sub(read_cache_bytes));
    let write_buffer_bytes = write_buffer_bytes.unwrap_or(left);
    if diagnostics.count() == before
        && flash_bytes.is_some_and(|bytes| read_cache_bytes + write_buffer_bytes > bytes)
    {
        let key = if part.node("write-buffer").is_some() { "write-buffer" } else { "read-cache" };
        diagnostics.error_at(
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
        distribution: distribution.unwrap_or(Distribution::Even),
        reads: reads.unwrap_or(ReplicaReads::All),
        repair_delay_ns: repair_delay_ns.map_or(REPAIR_DELAY_NS, |ns| ns as u64),
        resync_bytes_per_s,
    };
    limits::nodes(&part, &cluster, hosts[cluster.nodes].count, diagnostics);
    Some(cluster)
}
