//! `networks` and `storage`.

use stormeter_yaml::{Faults, Node, Section, Value};

use super::part::{Entry, entries, link, needed, open};
use super::{keys, value};
use crate::model::{DiskGroup, Network, Raid, Share, Storage, StorageDisk};

/// nfsd, a target and their programs need as much, and the kernel beside them.
const LEAST_MEMORY_MIB: u64 = 192;
/// What is given when nothing is said.
const MEMORY_BYTES: u64 = 256 << 20;
/// Letters of devices, and slots of the guest's bus.
const MOST_DISKS: usize = 24;

pub(super) fn network(entry: &Entry<'_>, faults: &mut Faults) -> Network {
    let mut network = Network { name: entry.name.into(), rate_bits_per_s: None, delay_ns: 0 };
    let title = format!("network {}", entry.name);
    let Some(section) = open(entry.node, &title, &keys::NETWORK, faults) else { return network };
    network.rate_bits_per_s = section.get("rate").and_then(|node| value::rate(node, faults));
    network.delay_ns =
        value::duration(&section, "delay", 1000, "microseconds", faults).unwrap_or(0);
    network
}

pub(super) fn storage(entry: &Entry<'_>, networks: &[&str], faults: &mut Faults) -> Storage {
    let mut storage = Storage {
        name: entry.name.into(),
        memory_bytes: MEMORY_BYTES,
        vcpus: 1,
        network: None,
        disks: Vec::new(),
        groups: Vec::new(),
        exports: Vec::new(),
        luns: Vec::new(),
    };
    let title = format!("storage guest {}", entry.name);
    let Some(section) = open(entry.node, &title, &keys::STORAGE, faults) else { return storage };
    storage.memory_bytes =
        value::size(&section, "memory", LEAST_MEMORY_MIB, 65536, faults).unwrap_or(MEMORY_BYTES);
    storage.vcpus = value::number(&section, "vcpus", 1, 16, faults).unwrap_or(1);
    storage.network =
        section.get("network").and_then(|node| link(node, &title, "network", networks, faults));
    needed(&section, &title, entry.place, "disks", &keys::STORAGE, faults);
    let named = entries(section.get("disks"), "disk", "slow: {size: 1GiB}", faults);
    for disk in &named {
        group(disk, &mut storage, faults);
    }
    if storage.disks.len() > MOST_DISKS {
        faults.at(
            section.place_of("disks"),
            format!("{title} has {} disks; {MOST_DISKS} fit", storage.disks.len()),
        );
    }
    let names: Vec<&str> = named.iter().map(|disk| disk.name).collect();
    let mut used = Vec::new();
    storage.exports = shares(&section, "exports", &names, &mut used, faults);
    storage.luns = shares(&section, "luns", &names, &mut used, faults);
    if !section.has("exports") && !section.has("luns") {
        faults.at(
            entry.place,
            format!("{title} serves nothing; write exports: {{vm: DISK}} or luns: {{vm: DISK}}"),
        );
    }
    storage
}

/// Disks of one name, one after the other.
fn group(entry: &Entry<'_>, storage: &mut Storage, faults: &mut Faults) {
    let title = format!("disks {}", entry.name);
    let first = storage.disks.len();
    let mut group = DiskGroup { name: entry.name.into(), first, count: 1, raid: None, missing: 0 };
    let mut disk = StorageDisk { size_bytes: 1 << 30, iops: None, latency_ms: 0 };
    if let Some(section) = open(entry.node, &title, &keys::DISKS, faults) {
        needed(&section, &title, entry.place, "size", &keys::DISKS, faults);
        // What ext4 and an array's own records fit into.
        disk.size_bytes = value::size(&section, "size", 16, 1 << 20, faults).unwrap_or(1 << 30);
        disk.iops = value::number(&section, "iops", 1, 1_000_000, faults);
        let latency_ns =
            value::duration(&section, "latency", 1_000_000, "milliseconds", faults).unwrap_or(0);
        disk.latency_ms = (latency_ns / 1_000_000) as u32;
        group.raid = section.choice("raid", &Raid::ALL, faults);
        let count = value::number(&section, "count", 1, MOST_DISKS as u32, faults);
        group.count = count.unwrap_or(1) as usize;
        group.missing = value::number(&section, "missing", 1, 24, faults).unwrap_or(0) as usize;
        fits(&section, &title, &group, faults);
    }
    storage.disks.extend(std::iter::repeat_n(disk, group.count));
    storage.groups.push(group);
}

fn fits(section: &Section<'_>, title: &str, group: &DiskGroup, faults: &mut Faults) {
    let count = group.count;
    match group.raid {
        None if count > 1 && !section.has("raid") => faults.at(
            section.place_of("count"),
            format!("{title} are {count} and nothing joins them; write raid: 0, or 1, 5, 6, 10"),
        ),
        Some(raid) if count < raid.least_disks() => faults.at(
            section.place_of("raid"),
            format!(
                "{title}: RAID-{} needs at least {} disks, not {count}; write count: {}",
                raid.name(),
                raid.least_disks(),
                raid.least_disks()
            ),
        ),
        Some(Raid::Ten) if count % 2 == 1 => faults.at(
            section.place_of("count"),
            format!("{title}: RAID-10 is made of pairs, so count is even, not {count}"),
        ),
        None if group.missing > 0 => faults.at(
            section.place_of("missing"),
            format!("{title} are no array that could miss a disk; write raid: 1, 5, 6 or 10"),
        ),
        Some(raid) if group.missing > raid.bears(count) => faults.at(
            section.place_of("missing"),
            format!(
                "{title}: RAID-{} of {count} disks bears {} that are missing, not {}",
                raid.name(),
                raid.bears(count),
                group.missing
            ),
        ),
        _ => {}
    }
}

/// What is served: names with the disks behind them, each of which serves one purpose.
fn shares<'n>(
    section: &Section<'n>,
    key: &str,
    disks: &[&str],
    used: &mut Vec<usize>,
    faults: &mut Faults,
) -> Vec<Share> {
    let kind = key.trim_end_matches('s');
    let named = entries(section.get(key), kind, "vm: slow", faults);
    let mut shares = Vec::new();
    for entry in named {
        let owner = format!("{kind} {}", entry.name);
        if let Some(node) = bare(entry.node, &owner, faults)
            && let Some(group) = link(node, &owner, "disk", disks, faults)
        {
            if used.contains(&group) {
                faults.at(
                    entry.node.place,
                    format!(
                        "{owner}: {} is served already; give it disks of its own",
                        disks[group]
                    ),
                );
            }
            used.push(group);
            shares.push(Share { name: entry.name.into(), group });
        }
    }
    shares
}

/// The name of disks, and no mapping: protocols' own settings are not there yet.
fn bare<'n>(node: &'n Node, owner: &str, faults: &mut Faults) -> Option<&'n Node> {
    if matches!(node.value, Value::Text(_)) {
        return Some(node);
    }
    let found = node.found();
    faults.at(
        node.place,
        format!("{owner} is the name of disks, not {found}; settings of its own (CHAP) it cannot have yet"),
    );
    None
}
