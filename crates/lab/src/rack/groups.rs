//! Turns a storage guest's disks into what it serves: disks with latency, arrays and caches built from them,
//! file systems on top; and makes all of that let go of the disks while their contents are changed underneath.
//!
//! The kernel caches the metadata of arrays, caches and file systems. They are therefore taken apart before the
//! disks get other contents, and reassembled afterwards. What serves them keeps its device meanwhile: on top of
//! every array and cache is a device-mapper device that can be suspended.

use super::array::{self, delayed_name, group_device, raw_device};
use super::on_disks::{Disks, export_path};
use super::volume;
use crate::model::{DiskGroup, Lab, Mounted, NfsVersion, Storage};

/// The program, with the option of not waiting for udev.
const DMSETUP: &str = "/sbin/dmsetup";
const NO_UDEV: &str = "--noudevsync --noudevrules";

/// Lines that set up the disks of a storage guest; returns the device of each group.
pub(super) fn make(storage: &Storage, disks: Disks, lines: &mut Vec<String>) -> Vec<String> {
    for (index, disk) in storage.disks.iter().enumerate() {
        // A frozen guest has seen another disk here.
        lines.push(format!("blockdev --flushbufs {}", raw_device(index)));
        if disk.latency_ms > 0 {
            let (device, name) = (raw_device(index), delayed_name(index));
            let (sectors, wait) = (disk.size_bytes / 512, disk.latency_ms);
            lines.push(format!(
                "{DMSETUP} create {name} {NO_UDEV} --table '0 {sectors} delay {device} 0 {wait}'"
            ));
        }
    }
    for group in 0..storage.groups.len() {
        if storage.groups[group].raid.is_some() {
            lines.push(join(storage, group, disks));
            lines.extend(rebuild(storage, group, disks));
        }
        if let Some(disk) = storage.groups[group].cache {
            let (name, fast) = (&storage.groups[group].name, array::device(storage, disk));
            lines.push(format!("fast=$(blockdev --getsz {fast})"));
            lines.push(format!(
                "{DMSETUP} create known-{name} {NO_UDEV} --table \"0 {KNOWN_SECTORS} linear {fast} 0\""
            ));
            lines.push(format!(
                "{DMSETUP} create fast-{name} {NO_UDEV} --table \
                 \"0 $((fast - {KNOWN_SECTORS})) linear {fast} {KNOWN_SECTORS}\""
            ));
        }
        if let Some(top) = top(storage, group) {
            lines.push(format!("sectors=$(blockdev --getsz {})", group_device(storage, group)));
            let table = table(storage, group);
            lines.push(format!("{DMSETUP} create {top} {NO_UDEV} --table \"{table}\""));
        }
        let (of, below) = (&storage.groups[group], below(storage, group));
        match disks {
            Disks::New if of.lvm => lines.extend(volume::make(of, &below)),
            Disks::Kept if of.lvm => lines.push(volume::find(of, &below)),
            _ => {}
        }
    }
    (0..storage.groups.len()).map(|group| served(storage, group)).collect()
}

/// Lines that mount a file system and export it.
pub(super) fn export(storage: &Storage, number: usize) -> [String; 2] {
    let export = &storage.exports[number];
    let (device, path) = (served(storage, export.group), export_path(&export.name));
    // Clients connect through the host, from any port and as any user.
    let writes = export.writes.name();
    let options = format!("rw,{writes},insecure,no_root_squash,no_subtree_check");
    [
        format!("mkdir -p {path} && mount -t ext4 {device} {path}"),
        format!("/usr/sbin/exportfs -o {options},fsid={} '*:{path}'", number + 1),
    ]
}

/// Lines after which the kernel of a storage guest caches nothing of its disks and has nothing left to write.
/// They can be repeated if they were interrupted.
pub(super) fn let_go(lab: &Lab, index: usize) -> String {
    let storage = &lab.storage[index];
    let mut lines = vec!["sync".to_owned()];
    if keeps_state(lab, index) {
        lines.push("/usr/sbin/rpc.nfsd 0".into());
    }
    for export in &storage.exports {
        let path = export_path(&export.name);
        lines.push(format!("/usr/sbin/exportfs -u '*:{path}' || true"));
        // When the server stops, it closes the files that clients have open; clients reclaim them when it is
        // back.
        lines.push("tries=0".into());
        lines.push("/usr/sbin/exportfs -f".into());
        lines.push(format!(
            "while grep -q ' {path} ' /proc/mounts && ! umount {path} 2>/tmp/busy; do"
        ));
        lines.push("tries=$((tries + 1)); [ $tries -lt 100 ] || { cat /tmp/busy; exit 1; }".into());
        lines.push("[ $tries != 1 ] || /usr/sbin/rpc.nfsd 0".into());
        lines.push("usleep 50000".into());
        lines.push("done".into());
    }
    for group in 0..storage.groups.len() {
        if let Some(top) = top(storage, group) {
            lines.push(format!("sectors=$(blockdev --getsz /dev/mapper/{top})"));
            lines.push(format!("{DMSETUP} suspend {NO_UDEV} {top}"));
            lines.push(format!("{DMSETUP} load {top} --table \"0 $sectors error\""));
            lines.push(format!("{DMSETUP} resume {NO_UDEV} {top}"));
            // I/O that arrives anyway waits.
            lines.push(format!("{DMSETUP} suspend {NO_UDEV} {top}"));
        }
        if storage.groups[group].raid.is_some() {
            let array = group_device(storage, group);
            let name = array.trim_start_matches("/dev/");
            lines.push(format!(
                "! grep -q '^{name} :' /proc/mdstat || /sbin/mdadm --stop --quiet {array}"
            ));
        }
    }
    lines.join("\n") + "\n"
}

/// Lines that reassemble what is on the disks now, and serve it again.
pub(super) fn take_up(lab: &Lab, index: usize) -> String {
    let storage = &lab.storage[index];
    let mut lines = Vec::new();
    for disk in 0..storage.disks.len() {
        lines.push(format!("blockdev --flushbufs {}", raw_device(disk)));
        if storage.disks[disk].latency_ms > 0 {
            lines.push(format!("blockdev --flushbufs /dev/mapper/{}", delayed_name(disk)));
        }
    }
    for (number, group) in storage.groups.iter().enumerate() {
        if group.raid.is_some() {
            let array = group_device(storage, number);
            let name = array.trim_start_matches("/dev/");
            lines.push(format!(
                "grep -q '^{name} :' /proc/mdstat || {}",
                join(storage, number, Disks::Kept)
            ));
            lines.extend(rebuild(storage, number, Disks::Kept));
        }
        if group.cache.is_some() {
            lines.push(format!("blockdev --flushbufs /dev/mapper/known-{}", group.name));
            lines.push(format!("blockdev --flushbufs /dev/mapper/fast-{}", group.name));
        }
        if let Some(top) = top(storage, number) {
            lines.push(format!("sectors=$(blockdev --getsz {})", group_device(storage, number)));
            let table = table(storage, number);
            lines.push(format!("{DMSETUP} load {top} --table \"{table}\""));
            lines.push(format!("{DMSETUP} resume {NO_UDEV} {top}"));
            lines.push(format!("blockdev --flushbufs /dev/mapper/{top}"));
        }
        // A volume lies where it lay: a snapshot has the same records of LVM.
        if group.lvm {
            lines.push(format!("blockdev --flushbufs {}", volume::device(group)));
        }
    }
    for number in 0..storage.exports.len() {
        let path = export_path(&storage.exports[number].name);
        let [mount, export] = export(storage, number);
        lines.push(format!("grep -q ' {path} ' /proc/mounts || {{ {mount}; }}"));
        lines.push(export);
    }
    // Clients have closed their files, and reclaim nothing.
    lines.push("if [ \"$(cat /proc/fs/nfsd/threads)\" = 0 ]; then".into());
    lines.push("/usr/sbin/rpc.nfsd --tcp 8; echo Y > /proc/fs/nfsd/v4_end_grace".into());
    lines.push("fi".into());
    lines.push("echo 3 > /proc/sys/vm/drop_caches".into());
    lines.join("\n") + "\n"
}

/// Whether the server keeps state about clients and their files, as for NFSv4. It discards that state
/// only by stopping completely.
fn keeps_state(lab: &Lab, storage: usize) -> bool {
    let mounts = lab.hosts.iter().flat_map(|host| &host.mounts);
    mounts
        .filter(|mount| mount.storage == storage)
        .any(|mount| matches!(mount.of, Mounted::Nfs { version: NfsVersion::FourTwo, .. }))
}

/// Creates an array, or assembles it again.
fn join(storage: &Storage, group: usize, disks: Disks) -> String {
    let device = group_device(storage, group);
    let group = &storage.groups[group];
    // A disk that is to be rebuilt is added to an existing array.
    let absent = match disks {
        Disks::New => group.missing + usize::from(group.rebuild_rate.is_some()),
        Disks::Kept => group.missing,
    };
    let there = group.first..group.first + group.count - absent;
    let there: Vec<String> = there.map(|disk| array::device(storage, disk)).collect();
    let of = there.join(" ");
    match (disks, group.raid) {
        // New disks are all zeros, for which mirrors and parities are already consistent.
        (Disks::New, Some(raid)) => format!(
            "/sbin/mdadm --create {device} --run --quiet --metadata=1.2 --bitmap=none \
             --assume-clean --level={} --raid-devices={} {of}{}",
            raid.name(),
            group.count,
            " missing".repeat(absent),
        ),
        // Force the assembly of an array that was interrupted while it was being written to.
        _ => format!("/sbin/mdadm --assemble {device} --run --force --quiet {of}"),
    }
}

/// Lines that make an array rebuild its last disk, if the lab file asks for it.
fn rebuild(storage: &Storage, group: usize, disks: Disks) -> Vec<String> {
    let rate = storage.groups[group].rebuild_rate;
    rate.map_or_else(Vec::new, |rate| array::rebuild(storage, group, rate, disks))
}

/// A cache's metadata is at the start of the fast disk: zeros there mean a new cache.
const KNOWN_SECTORS: u64 = 16384;

/// The device-mapper name of the device on top of an array or a cache.
fn top(storage: &Storage, group: usize) -> Option<String> {
    let group = &storage.groups[group];
    match (group.raid, group.cache) {
        (_, Some(_)) => Some(format!("cached-{}", group.name)),
        (Some(_), None) => Some(format!("array-{}", group.name)),
        (None, None) => None,
    }
}

/// The table of that device; `$sectors` is the size. A cache is dm-cache in writeback mode.
fn table(storage: &Storage, group: usize) -> String {
    const BLOCK_SECTORS: u64 = 128;
    let device = group_device(storage, group);
    let DiskGroup { name, cache, .. } = &storage.groups[group];
    match cache {
        None => format!("0 $sectors linear {device} 0"),
        Some(_) => format!(
            "0 $sectors cache /dev/mapper/known-{name} /dev/mapper/fast-{name} {device} \
             {BLOCK_SECTORS} 1 writeback smq 0"
        ),
    }
}

/// The device of a group that is served.
fn served(storage: &Storage, group: usize) -> String {
    let of = &storage.groups[group];
    if of.lvm { volume::device(of) } else { below(storage, group) }
}

/// The same without its logical volume.
fn below(storage: &Storage, group: usize) -> String {
    match top(storage, group) {
        Some(top) => format!("/dev/mapper/{top}"),
        None => group_device(storage, group),
    }
}
