//! Reads `disk-groups` and the devices in them.

use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Node, Place, Value};

use super::keys;
use super::limits;
use super::part::Part;
use super::value::{self, At};
use crate::model::{Device, DiskGroup, Hdd, Queue, Raid, Service, Spread, Ssd};

/// A RAID level: its name, and the minimum number of disks per group.
const LEVELS: [(&str, Raid, u32); 6] = [
    ("0", Raid::Raid0, 1),
    ("1", Raid::Raid1, 2),
    ("10", Raid::Raid10, 2),
    ("5", Raid::Raid5, 3),
    ("6", Raid::Raid6, 4),
    ("dp", Raid::Raid6, 3),
];

/// A group of disks.
pub(super) fn group(
    name: &str,
    place: Place,
    node: &Node,
    diagnostics: &mut Diagnostics,
) -> DiskGroup {
    let mut group = DiskGroup {
        name: name.into(),
        raid: Raid::Raid0,
        disks: 1,
        groups: 1,
        spares: 0,
        stripe_bytes: 64 << 10,
        rebuild_bytes_per_s: None,
        device: nothing(),
    };
    let title = format!("disk group {name}");
    let Some(part) = Part::open(node, place, title, &keys::DISK_GROUP, diagnostics) else {
        return group;
    };
    let before = diagnostics.count();
    let names: Vec<(&str, &str)> = LEVELS.iter().map(|(name, ..)| (*name, *name)).collect();
    let level = part.choice("raid", &names, diagnostics).unwrap_or("0");
    group.disks = part.get("disks", value::count, diagnostics).unwrap_or(1);
    if diagnostics.count() == before {
        group.raid = raid(&part, level, group.disks, diagnostics);
    }
    group.groups = part.get("groups", value::count, diagnostics).unwrap_or(1);
    group.spares = part.get("spares", value::number, diagnostics).unwrap_or(0);
    if let Some(stripe) = part.get("stripe", value::unit_size, diagnostics) {
        group.stripe_bytes = u64::from(stripe);
    }
    group.rebuild_bytes_per_s = part.get("rebuild", value::rate, diagnostics);
    if let Some(node) = part.needed("device", diagnostics) {
        group.device = device(node, &format!("the device of {}", part.name), diagnostics);
    }
    limits::disks(&part, &group, diagnostics);
    group
}

/// The level, if it is possible with this number of disks.
fn raid(part: &Part<'_>, level: &str, disks: u32, diagnostics: &mut Diagnostics) -> Raid {
    let (_, raid, least) =
        LEVELS.into_iter().find(|(name, ..)| *name == level).unwrap_or(LEVELS[0]);
    let name = if level == "dp" { "RAID-DP".into() } else { format!("RAID {level}") };
    let message = if disks < least {
        let disks = if disks == 1 { "1 disk".into() } else { format!("{disks} disks") };
        format!("{} is a {name} of {disks}; {name} needs at least {least}", part.name)
    } else if raid == Raid::Raid10 && disks % 2 == 1 {
        format!(
            "{} is a RAID 10 of {disks} disks, whose mirrors are pairs; write an even number",
            part.name
        )
    } else {
        return raid;
    };
    let key = if part.node("disks").is_some() { "disks" } else { "raid" };
    diagnostics.error_at(part.place_of(key), message);
    raid
}

/// A placeholder for a device that could not be read; a site with errors is not used.
fn nothing() -> Device {
    Device::Queue(Queue {
        servers: 1,
        read_ns: 1.0,
        write_ns: 1.0,
        per_byte_ns: 0.0,
        per_written_byte_ns: 0.0,
        shared_per_byte_ns: 0.0,
        shared_per_written_byte_ns: 0.0,
        shared_per_io_ns: 0.0,
        shared_per_write_ns: 0.0,
        spread: Spread::Constant,
        service: Service::Single,
        write_cache: None,
        flush_ns: 0.0,
    })
}

/// Reads a device.
pub(super) fn device(node: &Node, title: &str, diagnostics: &mut Diagnostics) -> Device {
    let Value::Map(pairs) = &node.value else {
        let found = node.found();
        let advice = node.text().filter(|text| !text.is_empty());
        let advice =
            advice.map_or("{like: fc-15k-144gb}".into(), |name| format!("{{like: {name}}}"));
        diagnostics
            .error_at(node.place, format!("{title} is a mapping, not {found}; write {advice}"));
        return nothing();
    };
    let find = |key: &str| pairs.iter().find(|(k, _)| k.text() == Some(key)).map(|(_, v)| v);
    let Some(kind) = find("kind") else {
        if find("like").is_none() {
            diagnostics.error_at(
                node.place,
                format!(
                    "{title} has neither kind nor like; write kind: hdd, kind: ssd or kind: queue, \
                     or like: with an entry of the library"
                ),
            );
        }
        return nothing();
    };
    let mut open = |keys| Part::open(node, node.place, title, keys, diagnostics);
    match kind.text().unwrap_or_default() {
        "hdd" => open(&keys::HDD).map_or_else(nothing, |part| Device::Hdd(hdd(&part, diagnostics))),
        "ssd" => open(&keys::SSD).map_or_else(nothing, |part| Device::Ssd(ssd(&part, diagnostics))),
        "queue" => {
            open(&keys::QUEUE).map_or_else(nothing, |part| Device::Queue(queue(&part, diagnostics)))
        }
        other => {
            let meant = nearest(other, ["hdd", "ssd", "queue"]);
            let meant = meant.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
            diagnostics.error_at(
                kind.place,
                format!("kind cannot be {}; {meant}kind is hdd, ssd or queue", kind.found()),
            );
            nothing()
        }
    }
}

fn hdd(part: &Part<'_>, diagnostics: &mut Diagnostics) -> Hdd {
    let before = diagnostics.count();
    let rpm = part.need("rpm", value::rpm, diagnostics).unwrap_or(1.0);
    let mut need = |key, read: fn(At<'_, '_>, &mut Diagnostics) -> Option<f64>| {
        part.need(key, read, diagnostics).unwrap_or(1.0)
    };
    let mut hdd = Hdd {
        rpm,
        seek_track_ns: need("seek-track", value::duration),
        seek_average_ns: need("seek-average", value::duration),
        seek_full_ns: need("seek-full", value::duration),
        write_settle_ns: 0.0,
        outer_bytes_per_s: need("outer", value::rate),
        inner_bytes_per_s: need("inner", value::rate),
        capacity_bytes: 0,
        interface_bytes_per_s: need("interface", value::rate),
        overhead_ns: 0.0,
        queue_depth: part.get("queue-depth", value::count, diagnostics).unwrap_or(1),
        buffer_bytes: part.get("buffer", value::size, diagnostics).unwrap_or(0),
        write_cache: part.get("write-cache", value::flag, diagnostics).unwrap_or(false),
    };
    hdd.write_settle_ns = part.get("write-settle", value::duration, diagnostics).unwrap_or(0.0);
    hdd.overhead_ns = part.get("overhead", value::duration, diagnostics).unwrap_or(0.0);
    hdd.capacity_bytes = part.need("capacity", value::some_size, diagnostics).unwrap_or(1);
    if diagnostics.count() == before {
        let orders = [
            ("seek-track", hdd.seek_track_ns, "seek-average", hdd.seek_average_ns, "longer"),
            ("seek-average", hdd.seek_average_ns, "seek-full", hdd.seek_full_ns, "longer"),
            ("inner", hdd.inner_bytes_per_s, "outer", hdd.outer_bytes_per_s, "quicker"),
        ];
        for (less, smaller, more, larger, word) in orders {
            if smaller > larger {
                diagnostics.error_at(
                    part.place_of(less),
                    format!("{less} is {word} than {more}; the two may be exchanged"),
                );
            }
        }
    }
    hdd
}

/// Default number of commands that flash works on concurrently: that of SATA's native command queueing
/// (SATA 2.6, section 13.6), the narrowest of the interfaces that flash has.
const NCQ: u32 = 32;

fn ssd(part: &Part<'_>, diagnostics: &mut Diagnostics) -> Ssd {
    let mut need = |key, read: fn(At<'_, '_>, &mut Diagnostics) -> Option<f64>| {
        part.need(key, read, diagnostics).unwrap_or(1.0)
    };
    let ssd = Ssd {
        channels: 1,
        page_bytes: 4096,
        read_ns: need("read", value::some_duration),
        program_ns: need("program", value::some_duration),
        erase_ns: need("erase", value::duration),
        pages_per_block: 1,
        spare_share: 0.07,
        filled_share: 0.5,
        capacity_bytes: 1,
        interface_bytes_per_s: need("interface", value::rate),
        overhead_ns: 0.0,
        queue_depth: NCQ,
        write_buffer_bytes: 0,
        power_loss_protection: true,
    };
    let spare_share = part.get("spare", value::share, diagnostics).unwrap_or(ssd.spare_share);
    if !(0.005..=0.9).contains(&spare_share) {
        diagnostics.error_at(
            part.place_of("spare"),
            format!(
                "{} cannot collect garbage like this; spare must be between 0.5% and 90%",
                part.name
            ),
        );
    }
    Ssd {
        channels: part.need("channels", value::count, diagnostics).unwrap_or(1),
        page_bytes: part.need("page", value::unit_size, diagnostics).unwrap_or(4096),
        pages_per_block: part.need("pages-per-block", value::count, diagnostics).unwrap_or(1),
        spare_share,
        filled_share: part.get("filled", value::share, diagnostics).unwrap_or(ssd.filled_share),
        capacity_bytes: part.need("capacity", value::some_size, diagnostics).unwrap_or(1),
        overhead_ns: part.get("overhead", value::duration, diagnostics).unwrap_or(0.0),
        queue_depth: part.get("queue-depth", value::count, diagnostics).unwrap_or(ssd.queue_depth),
        write_buffer_bytes: part.get("write-buffer", value::size, diagnostics).unwrap_or(0),
        power_loss_protection: part
            .get("power-loss-protection", value::flag, diagnostics)
            .unwrap_or(true),
        ..ssd
    }
}

fn queue(part: &Part<'_>, diagnostics: &mut Diagnostics) -> Queue {
    let mut time = |key, default| part.get(key, value::duration, diagnostics).unwrap_or(default);
    let per_byte_ns = time("per-byte", 0.0);
    let shared_per_byte_ns = time("shared-per-byte", 0.0);
    let shared_per_io_ns = time("shared-per-io", 0.0);
    let queue = Queue {
        servers: 1,
        read_ns: 1.0,
        write_ns: 1.0,
        per_byte_ns,
        per_written_byte_ns: time("per-written-byte", per_byte_ns),
        shared_per_byte_ns,
        shared_per_written_byte_ns: time("shared-per-written-byte", shared_per_byte_ns),
        shared_per_io_ns,
        shared_per_write_ns: time("shared-per-write", shared_per_io_ns),
        spread: Spread::Constant,
        service: Service::Single,
        write_cache: None,
        flush_ns: 0.0,
    };
    let write_ns = part.need("write", value::some_duration, diagnostics).unwrap_or(1.0);
    let write_cache = part.get("write-cache", value::flag, diagnostics);
    // What a cache holds costs at least a write to the medium behind it.
    let flush_ns = if write_cache == Some(true) { write_ns } else { 0.0 };
    Queue {
        servers: part.get("servers", value::count, diagnostics).unwrap_or(1),
        read_ns: part.need("read", value::some_duration, diagnostics).unwrap_or(1.0),
        write_ns,
        write_cache,
        flush_ns: part.get("flush", value::duration, diagnostics).unwrap_or(flush_ns),
        spread: part.get("spread", spread, diagnostics).unwrap_or(Spread::Constant),
        service: part.get("service", service, diagnostics).unwrap_or(Service::Single),
        ..queue
    }
}

fn service(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<Service> {
    match at.node.text().unwrap_or_default().trim() {
        "single" => Some(Service::Single),
        "bulk" => Some(Service::Bulk),
        _ => {
            let found = at.node.found();
            at.fault(
                format!(
                    "service cannot be {found}; write single, each request by itself, or bulk, all that \
                     wait together"
                ),
                diagnostics,
            );
            None
        }
    }
}

fn spread(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<Spread> {
    let text = at.node.text().unwrap_or_default().trim();
    let sigma = text.strip_prefix("log-normal").and_then(|rest| rest.trim().parse::<f64>().ok());
    match (text, sigma) {
        ("constant", _) => Some(Spread::Constant),
        ("exponential", _) => Some(Spread::Exponential),
        (_, Some(sigma)) if (0.0..=5.0).contains(&sigma) => Some(Spread::LogNormal(sigma)),
        _ => {
            let found = at.node.found();
            at.fault(
                format!(
                    "spread cannot be {found}; write constant, exponential, or log-normal with the \
                     standard deviation of the logarithm, 0 to 5: log-normal 0.4"
                ),
                diagnostics,
            );
            None
        }
    }
}
