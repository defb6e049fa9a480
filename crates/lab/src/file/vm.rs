//! Reads `vms`.

use stormeter_units::format_bytes;
use stormeter_yaml::{Diagnostics, Node, Place, Section};

use super::part::{Entry, entries, link, needed, open};
use super::{keys, value};
use crate::model::{
    CacheMode, Controller, Datastore, DiskFormat, Lab, Storage, Vm, VmDisk, VmNetwork,
};

/// Enough for the kernel, the image twice while it is unpacked, and the program.
pub(super) const LEAST_MEMORY_MIB: u64 = 96;
/// The default.
pub(super) const MEMORY_BYTES: u64 = 160 << 20;
/// Limit for a disk's name, in letters: the space in a virtio disk's serial number.
const MOST_NAME: usize = 20;
/// Limit for disks of a VM: its bus slots are shared with devices of every guest.
const MOST_DISKS: usize = 8;
/// Limit for disks on the one IDE controller: two channels with two each.
const MOST_IDE: usize = 4;

/// Reads the VMs of an entry and adds them to `lab` one by one.
pub(super) fn vms(entry: &Entry<'_>, lab: &mut Lab, diagnostics: &mut Diagnostics) {
    let title = format!("VM {}", entry.name);
    let Some(section) = open(entry.node, &title, &keys::VM, diagnostics) else { return };
    let memory_bytes = value::size(&section, "memory", LEAST_MEMORY_MIB, 65536, diagnostics)
        .unwrap_or(MEMORY_BYTES);
    let vcpus = value::number(&section, "vcpus", 1, 16, diagnostics).unwrap_or(1);
    let network = section.get("network").and_then(|node| network(node, &title, lab, diagnostics));
    let count = value::number(&section, "count", 1, 256, diagnostics);
    // What could not be read has been reported.
    let Some(disks) = disks(&section, &title, &lab.storage, diagnostics) else { return };
    for number in 1..=count.unwrap_or(1) {
        let name = match count {
            Some(_) => format!("{}{number}", entry.name),
            None => entry.name.to_owned(),
        };
        let at = lab.vms.len();
        lab.vms.push(Vm { name, memory_bytes, vcpus, network, disks: Vec::new() });
        // One by one: each is placed behind the existing ones.
        for disk in &disks {
            let disk = put(disk, (&title, entry.place), lab, diagnostics);
            lab.vms[at].disks.extend(disk);
        }
    }
}

/// The network that leads to a VM. The file's `networks` are between storage guests and their clients, and
/// a worker guest has nothing that could shape one.
fn network(
    node: &Node,
    title: &str,
    lab: &Lab,
    diagnostics: &mut Diagnostics,
) -> Option<VmNetwork> {
    let text = node.text().unwrap_or_default().trim();
    let found = VmNetwork::WORDS.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let is_ours = lab.networks.iter().any(|network| network.name == text);
        let given = if is_ours { format!("the network {text}") } else { node.found() };
        diagnostics.error_at(
            node.place,
            format!(
                "{title} is reached over QEMU's user-mode network, which has no rate, delay or loss, or \
                 not at all, not over {given}; write network: user, or leave it out"
            ),
        );
    }
    found.map(|(_, network)| *network)
}

/// The disks of a VM: a single `disk`, which has that name, or named `disks`.
fn disks(
    section: &Section<'_>,
    title: &str,
    storage: &[Storage],
    diagnostics: &mut Diagnostics,
) -> Option<Vec<VmDisk>> {
    let whole = |name: &str| format!("the disk {name} of {title}");
    let Some(several) = section.get("disks") else {
        let Some(node) = section.get("disk") else { return Some(Vec::new()) };
        let title = format!("the disk of {title}");
        let mut find = |node: &Node, to: &mut Diagnostics| datastore(node, &title, storage, to);
        return Some(vec![disk(node, (&title, "disk"), &mut find, diagnostics)?]);
    };
    if section.has("disk") {
        diagnostics.error_at(
            section.place_of("disk"),
            format!("{title} has disk and disks; put the one among the others"),
        );
    }
    let example = "fast: {datastore: nas.vm, size: 256MiB}";
    let mut found = Vec::new();
    for entry in entries(Some(several), "disk", example, diagnostics) {
        if entry.name.len() > MOST_NAME {
            let text = format!("the name of a disk has at most {MOST_NAME} letters");
            diagnostics.error_at(entry.place, text);
        }
        let title = whole(entry.name);
        let mut find = |node: &Node, to: &mut Diagnostics| datastore(node, &title, storage, to);
        found.push(disk(entry.node, (&title, entry.name), &mut find, diagnostics));
    }
    if found.len() > MOST_DISKS {
        diagnostics.error_at(
            section.place_of("disks"),
            format!("a VM has at most {MOST_DISKS} disks, not {}", found.len()),
        );
    }
    let found: Option<Vec<VmDisk>> = found.into_iter().collect();
    let of_ide = found.iter().flatten().filter(|disk| disk.controller == Controller::Ide).count();
    if of_ide > MOST_IDE {
        diagnostics.error_at(
            section.place_of("disks"),
            format!(
                "IDE has {MOST_IDE} disks at most, not {of_ide}; give others another controller"
            ),
        );
    }
    found
}

/// Reads a virtual disk; `find` knows the datastores that it may be on.
pub(super) fn disk(
    node: &Node,
    (title, name): (&str, &str),
    find: &mut dyn FnMut(&Node, &mut Diagnostics) -> Option<Datastore>,
    diagnostics: &mut Diagnostics,
) -> Option<VmDisk> {
    let before = diagnostics.count();
    let section = open(node, title, &keys::VM_DISK, diagnostics)?;
    let of = &keys::VM_DISK;
    let named = needed(&section, title, node.place, "datastore", of, diagnostics);
    let datastore = named.and_then(|node| find(node, diagnostics));
    needed(&section, title, node.place, "size", of, diagnostics);
    let size_bytes = value::size(&section, "size", 1, 1 << 20, diagnostics);
    let controller = section.choice("controller", &Controller::WORDS, diagnostics);
    let format =
        section.choice("format", &DiskFormat::WORDS, diagnostics).unwrap_or(DiskFormat::Raw);
    let cache = section.choice("cache", &CacheMode::WORDS, diagnostics).unwrap_or(CacheMode::None);
    let limit = value::limit(&section, diagnostics);
    check(&section, controller, format, datastore, cache, diagnostics);
    // Keys that labs do not support yet are reported, too.
    if diagnostics.count() > before {
        return None;
    }
    Some(VmDisk {
        name: name.into(),
        datastore: datastore?,
        size_bytes: size_bytes?,
        controller: controller.unwrap_or(Controller::VirtioBlk),
        format,
        cache,
        limit,
    })
}

fn check(
    section: &Section<'_>,
    controller: Option<Controller>,
    format: DiskFormat,
    datastore: Option<Datastore>,
    cache: CacheMode,
    diagnostics: &mut Diagnostics,
) {
    if format == DiskFormat::Qcow2 && matches!(datastore, Some(Datastore::Lun { .. })) {
        diagnostics.error_at(
            section.place_of("format"),
            "qcow2 on a LUN cannot be had yet; write format: raw, or put the disk on an export",
        );
    }
    if controller == Some(Controller::Nvme) && cache == CacheMode::Writethrough {
        diagnostics.error_at(
            section.place_of("cache"),
            "QEMU's NVMe controller has no writethrough; write cache: none or writeback",
        );
    }
}

/// Resolves `local` or `STORAGE.SHARE`.
pub(super) fn datastore(
    node: &Node,
    title: &str,
    storage: &[Storage],
    diagnostics: &mut Diagnostics,
) -> Option<Datastore> {
    let mut names = vec!["local".to_owned()];
    let mut found = vec![Datastore::Local];
    for (index, guest) in storage.iter().enumerate() {
        for (export, share) in guest.exports.iter().enumerate() {
            names.push(format!("{}.{}", guest.name, share.name));
            found.push(Datastore::Export { storage: index, export });
        }
        for (lun, share) in guest.luns.iter().enumerate() {
            names.push(format!("{}.{}", guest.name, share.name));
            found.push(Datastore::Lun { storage: index, lun, offset_bytes: 0 });
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = link(node, title, "datastore", &names, diagnostics).map(|index| found[index])?;
    if let Datastore::Lun { storage: guest, lun, .. } = found
        && !storage[guest].is_open(lun)
    {
        diagnostics.error_at(
            node.place,
            format!(
                "{title}: QEMU cannot be an initiator for FC, NVMe/TCP or CHAP here; take a plain LUN of \
                 iSCSI, or mount it in a host"
            ),
        );
        return None;
    }
    Some(found)
}

/// Places a disk behind the others on the same LUN, or reports that it does not fit.
pub(super) fn put(
    disk: &VmDisk,
    (title, place): (&str, Place),
    lab: &Lab,
    diagnostics: &mut Diagnostics,
) -> Option<VmDisk> {
    let Some((room_bytes, name)) = room(disk.datastore, lab) else { return Some(disk.clone()) };
    let same = |other: &&VmDisk| is_same(other.datastore, disk.datastore);
    let taken: u64 = lab.vm_disks().filter(same).map(|disk| disk.size_bytes).sum();
    if taken + disk.size_bytes > room_bytes {
        diagnostics.error_at(
            place,
            format!(
                "the disks of {} do not fit: {name} holds {} in all; make its disks larger, or those \
                 of VMs smaller or fewer",
                title,
                format_bytes(room_bytes)
            ),
        );
        return None;
    }
    let mut disk = disk.clone();
    if let Datastore::Lun { offset_bytes, .. } = &mut disk.datastore {
        *offset_bytes = taken;
    }
    Some(disk)
}

fn is_same(one: Datastore, other: Datastore) -> bool {
    match (one, other) {
        (
            Datastore::Lun { storage, lun, .. },
            Datastore::Lun { storage: other_storage, lun: other_lun, .. },
        ) => (storage, lun) == (other_storage, other_lun),
        _ => one == other,
    }
}

/// The space of a datastore, in whole mebibytes, and its name.
fn room(datastore: Datastore, lab: &Lab) -> Option<(u64, String)> {
    // A generous estimate of an array's metadata at the start of each disk; ext4's own metadata
    // takes a tenth.
    const RECORDS_BYTES: u64 = 8 << 20;
    // LVM's, and what does not fill one of its extents.
    const VOLUME_BYTES: u64 = 8 << 20;
    let of = |storage: usize, name: &str, group: usize| {
        let guest = &lab.storage[storage];
        let group = &guest.groups[group];
        let each = guest.disks.get(group.first).map_or(0, |disk| disk.size_bytes);
        let bytes = match group.raid {
            None => each,
            Some(raid) => raid.data_disks(group.count) as u64 * each.saturating_sub(RECORDS_BYTES),
        };
        let bytes = bytes.saturating_sub(if group.lvm { VOLUME_BYTES } else { 0 });
        (bytes, format!("{}.{name}", guest.name))
    };
    match datastore {
        Datastore::Local | Datastore::Pool { .. } => None,
        Datastore::Export { storage, export } => {
            let share = &lab.storage[storage].exports[export];
            let (bytes, name) = of(storage, &share.name, share.group);
            Some(((bytes / 10 * 9) >> 20 << 20, name))
        }
        Datastore::Lun { storage, lun, .. } => {
            let share = &lab.storage[storage].luns[lun];
            Some(of(storage, &share.name, share.group))
        }
    }
}
