//! Limits on products of counts in a site, such as the disks of the groups of all controllers. Each
//! factor may be valid by itself, and the simulator would still run out of memory.

use stormeter_yaml::{Diagnostics, Node, Place};

use super::like::get;
use super::part::{Part, all_of};
use crate::model::{Cluster, Controller, Device, DiskGroup, HostGroup};

/// Disks behind one controller, or in one host.
const DISKS: u64 = 100_000;
/// Disks of a kind in the site.
const ALL_DISKS: u64 = 1_000_000;
/// Flash channels, or servers of a queue, of all disks of a kind.
const CHANNELS: u64 = 10_000_000;
/// Ports of an adapter, over all hosts or controllers that have it.
const PORTS: u64 = 2_000_000;
/// Cores of one kind.
const CORES: u64 = 10_000_000;
/// Nodes of a cluster, and capacity devices of a node: the simulator stores 16 bits.
const SHORT: u64 = u16::MAX as u64;

/// A factor and its name.
type Factor<'a> = (u32, &'a str);

/// Reports a product that is too large.
fn product(
    (owner, place): (&str, Place),
    what: &str,
    factors: &[Factor<'_>],
    most: u64,
    diagnostics: &mut Diagnostics,
) {
    let product: u128 = factors.iter().map(|(count, _)| u128::from(*count)).product();
    if product <= u128::from(most) {
        return;
    }
    // Factors of one are not shown and cannot be reduced.
    let factors = || factors.iter().filter(|(count, _)| *count > 1);
    let written: Vec<String> = factors().map(|(count, name)| format!("{count} {name}")).collect();
    let written =
        if written.len() > 1 { format!(" ({})", written.join(" x ")) } else { String::new() };
    let fewer = all_of(factors().map(|(_, name)| *name)).replace(" and ", " or ");
    diagnostics.error_at(
        place,
        format!(
            "{owner} has {product} {what}{written}, and a site that is simulated has at most {most}; \
             write fewer {fewer}"
        ),
    );
}

/// Concurrent accesses of a device: each takes memory.
fn channels(device: &Device) -> Factor<'static> {
    match device {
        Device::Hdd(_) => (1, "heads"),
        Device::Ssd(ssd) => (ssd.channels, "channels"),
        Device::Queue(queue) => (queue.servers, "servers"),
    }
}

/// Cores and ports of all hosts or controllers of a kind; ports by adapter name.
fn machines(
    part: &Part<'_>,
    (count, of): Factor<'_>,
    cores: u32,
    ports: impl Iterator<Item = (String, u32)>,
    diagnostics: &mut Diagnostics,
) {
    let at = (part.name.as_str(), part.place_of("count"));
    product(at, "cores", &[(count, of), (cores, "cores")], CORES, diagnostics);
    for (name, ports) in ports {
        product(at, &format!("ports {name}"), &[(count, of), (ports, "ports")], PORTS, diagnostics);
    }
}

/// Checks a group of hosts.
pub(super) fn hosts(part: &Part<'_>, host: &HostGroup, diagnostics: &mut Diagnostics) {
    let ports = host.adapters.iter().map(|adapter| (adapter.name.clone(), adapter.count));
    machines(part, (host.count, "hosts"), host.cores, ports, diagnostics);
}

/// Checks controllers of one kind.
pub(super) fn controllers(part: &Part<'_>, controller: &Controller, diagnostics: &mut Diagnostics) {
    let ports = controller.ports.iter().map(|port| (port.name.clone(), port.count));
    machines(part, (controller.count, "controllers"), controller.cores, ports, diagnostics);
}

/// Checks the disks of a group.
pub(super) fn disks(part: &Part<'_>, group: &DiskGroup, diagnostics: &mut Diagnostics) {
    let key = if group.groups > 1 { "groups" } else { "disks" };
    let at = (part.name.as_str(), part.place_of(key));
    let before = diagnostics.count();
    product(at, "disks", &of_group(group), DISKS, diagnostics);
    if diagnostics.count() == before {
        let [disks, groups] = of_group(group);
        let channels = channels(&group.device);
        product(at, channels.1, &[disks, groups, channels], CHANNELS, diagnostics);
    }
}

fn of_group(group: &DiskGroup) -> [Factor<'static>; 2] {
    [(group.disks, "disks"), (group.groups, "groups")]
}

/// Checks the disks of all owners of such a group; `of` names the owners, and `place` is where they
/// are defined.
pub(super) fn all_disks(
    at: (&str, Place),
    owners: Factor<'_>,
    group: &DiskGroup,
    diagnostics: &mut Diagnostics,
) {
    // A factor of one has been reported with the group.
    let [disks, groups] = of_group(group);
    if owners.0 <= 1 || u64::from(disks.0) * u64::from(groups.0) > DISKS {
        return;
    }
    let before = diagnostics.count();
    product(at, "disks", &[owners, disks, groups], ALL_DISKS, diagnostics);
    if diagnostics.count() == before {
        let channels = channels(&group.device);
        product(at, channels.1, &[owners, disks, groups, channels], CHANNELS, diagnostics);
    }
}

/// Checks the disks behind all controllers of a kind, as given by its entry.
pub(super) fn behind_controllers(
    place: Place,
    entry: &Node,
    controller: &Controller,
    group: &DiskGroup,
    diagnostics: &mut Diagnostics,
) {
    let place = get(entry, "count").map_or(place, |count| count.place);
    let name = format!("controller {}", controller.name);
    all_disks((&name, place), (controller.count, "controllers"), group, diagnostics);
}

/// Checks the nodes of a cluster and their devices.
pub(super) fn nodes(part: &Part<'_>, cluster: &Cluster, nodes: u32, diagnostics: &mut Diagnostics) {
    let name = part.name.as_str();
    let nodes = (nodes, "nodes");
    let groups = (cluster.groups_per_node, "groups-per-node");
    let devices = (cluster.capacity_per_group, "capacity-per-group");
    let before = diagnostics.count();
    product((name, part.place_of("nodes")), "nodes", &[nodes], SHORT, diagnostics);
    let at = (name, part.place_of("capacity-per-group"));
    product(at, "capacity devices a node", &[groups, devices], SHORT, diagnostics);
    if diagnostics.count() > before {
        return;
    }
    product(at, "capacity devices", &[nodes, groups, devices], ALL_DISKS, diagnostics);
    if diagnostics.count() > before {
        return;
    }
    let of_capacity = channels(&cluster.capacity);
    product(at, of_capacity.1, &[nodes, groups, devices, of_capacity], CHANNELS, diagnostics);
    let at = (name, part.place_of("cache"));
    let of_cache = channels(&cluster.cache);
    product(at, of_cache.1, &[nodes, groups, of_cache], CHANNELS, diagnostics);
}
