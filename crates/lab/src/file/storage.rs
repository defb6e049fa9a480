//! Reads `storage`.

use stormeter_yaml::{Diagnostics, Section, Value};

use super::host::chap;
use super::part::{Entry, entries, link, needed, open};
use super::router::names;
use super::{keys, value};
use crate::model::{
    DiskGroup, DiskLimit, ExportWrites, Lun, Protocol, Raid, Share, Storage, StorageDisk,
    WriteCache,
};

/// Enough for nfsd, a target and their programs, in addition to the kernel.
const LEAST_MEMORY_MIB: u64 = 192;
/// The default.
const MEMORY_BYTES: u64 = 256 << 20;
/// Limited by device letters and by the slots of the guest's bus.
const MOST_DISKS: usize = 24;

pub(super) fn storage(
    entry: &Entry<'_>,
    networks: &[&str],
    diagnostics: &mut Diagnostics,
) -> Storage {
    let mut storage = Storage {
        name: entry.name.into(),
        memory_bytes: MEMORY_BYTES,
        vcpus: 1,
        network: None,
        networks: Vec::new(),
        disks: Vec::new(),
        groups: Vec::new(),
        exports: Vec::new(),
        luns: Vec::new(),
    };
    let title = format!("storage guest {}", entry.name);
    let Some(section) = open(entry.node, &title, &keys::STORAGE, diagnostics) else {
        return storage;
    };
    storage.memory_bytes = value::size(&section, "memory", LEAST_MEMORY_MIB, 65536, diagnostics)
        .unwrap_or(MEMORY_BYTES);
    storage.vcpus = value::number(&section, "vcpus", 1, 16, diagnostics).unwrap_or(1);
    storage.network = section
        .get("network")
        .and_then(|node| link(node, &title, "network", networks, diagnostics));
    storage.networks = names(&section, &title, networks, diagnostics);
    needed(&section, &title, entry.place, "disks", &keys::STORAGE, diagnostics);
    let named = entries(section.get("disks"), "disk", "slow: {size: 1GiB}", diagnostics);
    for disk in &named {
        group(disk, &mut storage, diagnostics);
    }
    if storage.disks.len() > MOST_DISKS {
        diagnostics.error_at(
            section.place_of("disks"),
            format!("{title} has {} disks; {MOST_DISKS} fit", storage.disks.len()),
        );
    }
    let disks: Vec<&str> = named.iter().map(|disk| disk.name).collect();
    let mut used = Vec::new();
    storage.exports = shares(&section, "exports", &disks, &mut used, diagnostics);
    storage.luns = luns(&section, &disks, &mut used, diagnostics);
    if !section.has("exports") && !section.has("luns") {
        diagnostics.error_at(
            entry.place,
            format!("{title} serves nothing; write exports: {{vm: DISK}} or luns: {{vm: DISK}}"),
        );
    }
    storage
}

/// Reads a group of disks and appends them.
fn group(entry: &Entry<'_>, storage: &mut Storage, diagnostics: &mut Diagnostics) {
    let title = format!("disks {}", entry.name);
    let first = storage.disks.len();
    let name = entry.name.into();
    let mut group = DiskGroup {
        name,
        first,
        count: 1,
        raid: None,
        missing: 0,
        rebuild_rate: None,
        cache: None,
        lvm: false,
    };
    let mut disk = StorageDisk { size_bytes: 1 << 30, limit: DiskLimit::default(), latency_ms: 0 };
    let mut cache = None;
    if let Some(section) = open(entry.node, &title, &keys::DISKS, diagnostics) {
        cache = ssd_cache(&section, &title, diagnostics);
        needed(&section, &title, entry.place, "size", &keys::DISKS, diagnostics);
        // The minimum for ext4 and an array's metadata.
        disk.size_bytes =
            value::size(&section, "size", 16, 1 << 20, diagnostics).unwrap_or(1 << 30);
        disk.limit = value::limit(&section, diagnostics);
        let latency_ns =
            value::duration(&section, "latency", 1_000_000, "milliseconds", diagnostics)
                .unwrap_or(0);
        disk.latency_ms = (latency_ns / 1_000_000) as u32;
        group.raid = section.choice("raid", &Raid::ALL, diagnostics);
        let count = value::number(&section, "count", 1, MOST_DISKS as u32, diagnostics);
        group.count = count.unwrap_or(1) as usize;
        group.missing =
            value::number(&section, "missing", 1, 24, diagnostics).unwrap_or(0) as usize;
        group.rebuild_rate = rebuild_rate(&section, diagnostics);
        group.lvm = section.flag("lvm", diagnostics).unwrap_or(false);
        fits(&section, &title, &group, diagnostics);
    }
    storage.disks.extend(std::iter::repeat_n(disk, group.count));
    if let Some(cache) = cache {
        group.cache = Some(storage.disks.len());
        storage.disks.push(cache);
    }
    storage.groups.push(group);
}

/// In bytes per second.
fn rebuild_rate(section: &Section<'_>, diagnostics: &mut Diagnostics) -> Option<u64> {
    /// The kernel's unit.
    const KIBIBYTE: u64 = 1 << 10;
    let rate = section.size("rebuild-rate", diagnostics)?;
    if !(64 * KIBIBYTE..=1 << 30).contains(&rate) || rate % KIBIBYTE != 0 {
        diagnostics.error_at(
            section.place_of("rebuild-rate"),
            "rebuild-rate is in bytes a second, whole KiB between 64KiB and 1GiB, such as 1MiB",
        );
        return None;
    }
    Some(rate)
}

/// Reads a fast disk that caches others; QEMU enforces its limits.
fn ssd_cache(
    section: &Section<'_>,
    title: &str,
    diagnostics: &mut Diagnostics,
) -> Option<StorageDisk> {
    let node = section.get("ssd-cache")?;
    let title = format!("the SSD cache of {title}");
    let section = open(node, &title, &keys::SSD_CACHE, diagnostics)?;
    needed(&section, &title, node.place, "size", &keys::SSD_CACHE, diagnostics);
    Some(StorageDisk {
        // The cache's metadata takes 8 MiB of it.
        size_bytes: value::size(&section, "size", 24, 1 << 20, diagnostics)?,
        limit: value::limit(&section, diagnostics),
        latency_ms: 0,
    })
}

fn fits(section: &Section<'_>, title: &str, group: &DiskGroup, diagnostics: &mut Diagnostics) {
    let count = group.count;
    match group.raid {
        None if count > 1 && !section.has("raid") => diagnostics.error_at(
            section.place_of("count"),
            format!("{title} are {count} and nothing joins them; write raid: 0, or 1, 5, 6, 10"),
        ),
        Some(raid) if count < raid.least_disks() => diagnostics.error_at(
            section.place_of("raid"),
            format!(
                "{title}: RAID-{} needs at least {} disks, not {count}; write count: {}",
                raid.name(),
                raid.least_disks(),
                raid.least_disks()
            ),
        ),
        Some(Raid::Ten) if count % 2 == 1 => diagnostics.error_at(
            section.place_of("count"),
            format!("{title}: RAID-10 is made of pairs, so count is even, not {count}"),
        ),
        None if group.missing > 0 => diagnostics.error_at(
            section.place_of("missing"),
            format!("{title} are not an array that can lack a disk; write raid: 1, 5, 6 or 10"),
        ),
        Some(raid) if group.missing > raid.tolerates(count) => diagnostics.error_at(
            section.place_of("missing"),
            format!(
                "{title}: RAID-{} of {count} disks tolerates {} missing, not {}",
                raid.name(),
                raid.tolerates(count),
                group.missing
            ),
        ),
        None | Some(Raid::Zero) if group.rebuild_rate.is_some() => diagnostics.error_at(
            section.place_of("rebuild-rate"),
            format!("{title} are not an array that can rebuild a disk; write raid: 1, 5, 6 or 10"),
        ),
        Some(_) if group.rebuild_rate.is_some() && group.missing > 0 => diagnostics.error_at(
            section.place_of("rebuild-rate"),
            format!(
                "{title}: the disk that is rebuilt is there; leave missing out, or rebuild-rate"
            ),
        ),
        _ => {}
    }
}

/// Reads exports: names with the disks behind them.
fn shares<'n>(
    section: &Section<'n>,
    key: &str,
    disks: &[&str],
    used: &mut Vec<usize>,
    diagnostics: &mut Diagnostics,
) -> Vec<Share> {
    let named = entries(section.get(key), "export", "vm: slow", diagnostics);
    let mut shares = Vec::new();
    for entry in named {
        let owner = format!("export {}", entry.name);
        let (mut writes, mut node) = (ExportWrites::default(), Some(entry.node));
        if matches!(entry.node.value, Value::Map(_)) {
            let Some(section) = open(entry.node, &owner, &keys::EXPORT, diagnostics) else {
                continue;
            };
            node = needed(&section, &owner, entry.place, "disks", &keys::EXPORT, diagnostics);
            writes = section.choice("writes", &ExportWrites::WORDS, diagnostics).unwrap_or(writes);
        }
        if let Some(group) = node.and_then(|node| link(node, &owner, "disk", disks, diagnostics)) {
            once(group, disks, &entry, &owner, used, diagnostics);
            shares.push(Share { name: entry.name.into(), group, writes });
        }
    }
    shares
}

/// Reads LUNs: names with the disks behind them, or with more than that.
fn luns<'n>(
    section: &Section<'n>,
    disks: &[&str],
    used: &mut Vec<usize>,
    diagnostics: &mut Diagnostics,
) -> Vec<Lun> {
    let named = entries(section.get("luns"), "lun", "vm: slow", diagnostics);
    let mut luns = Vec::new();
    for entry in named {
        let owner = format!("lun {}", entry.name);
        let (mut protocol, mut login, mut node) = (Protocol::Iscsi, None, Some(entry.node));
        let mut write_cache = None;
        if matches!(entry.node.value, Value::Map(_)) {
            let Some(section) = open(entry.node, &owner, &keys::LUN, diagnostics) else { continue };
            node = needed(&section, &owner, entry.place, "disks", &keys::LUN, diagnostics);
            protocol =
                section.choice("protocol", &Protocol::WORDS, diagnostics).unwrap_or(protocol);
            write_cache = section.choice("write-cache", &WriteCache::WORDS, diagnostics);
            if protocol == Protocol::NvmeTcp && section.has("write-cache") {
                diagnostics.error_at(
                    section.place_of("write-cache"),
                    format!(
                        "{owner}: over NVMe/TCP the cache is that of its disks; remove write-cache"
                    ),
                );
            }
            login = section.get("chap").and_then(|node| chap(node, diagnostics));
            if protocol != Protocol::Iscsi && section.has("chap") {
                diagnostics.error_at(
                    section.place_of("chap"),
                    format!("{owner}: CHAP is a matter of iSCSI; remove it, or the protocol"),
                );
            }
        }
        if let Some(group) = node.and_then(|node| link(node, &owner, "disk", disks, diagnostics)) {
            once(group, disks, &entry, &owner, used, diagnostics);
            luns.push(Lun { name: entry.name.into(), group, protocol, chap: login, write_cache });
        }
    }
    luns
}

/// Reports disks that would serve two purposes.
fn once(
    group: usize,
    disks: &[&str],
    entry: &Entry<'_>,
    owner: &str,
    used: &mut Vec<usize>,
    diagnostics: &mut Diagnostics,
) {
    if used.contains(&group) {
        let name = disks[group];
        diagnostics.error_at(
            entry.node.place,
            format!("{owner}: {name} is served already; give it disks of its own"),
        );
    }
    used.push(group);
}
