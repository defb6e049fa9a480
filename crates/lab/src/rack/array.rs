//! The arrays of a storage guest: finding a disk, failing it, and replacing it.
//!
//! mdadm(8) gets full paths of devices; there is no udev that would resolve others.

use super::on_disks::Disks;
use crate::error::LabError;
use crate::model::{DiskGroup, Raid, Storage};

/// A disk of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArrayDisk {
    /// The array's device.
    array: String,
    /// The disk's device, including its latency if it has one.
    disk: String,
    /// Number of disks that the array lacks from the start, according to the lab file.
    missing: usize,
}

/// The device of a storage guest's disk, by its index.
pub(super) fn device(storage: &Storage, disk: usize) -> String {
    match storage.disks[disk].latency_ms {
        0 => raw_device(disk),
        _ => format!("/dev/mapper/{}", delayed_name(disk)),
    }
}

/// The device without its latency.
pub(super) fn raw_device(disk: usize) -> String {
    format!("/dev/vd{}", char::from(b'a' + disk as u8))
}

/// The device mapper name of a disk with latency.
pub(super) fn delayed_name(disk: usize) -> String {
    format!("disk{disk}")
}

/// The device of a disk group, by its index: an array, or its only disk.
pub(super) fn group_device(storage: &Storage, group: usize) -> String {
    let DiskGroup { raid, first, .. } = storage.groups[group];
    raid.map_or_else(|| device(storage, first), |_| format!("/dev/md{group}"))
}

fn is_redundant(group: &DiskGroup) -> bool {
    !matches!(group.raid, None | Some(Raid::Zero))
}

/// The names of the arrays that can lose a disk, for messages.
pub(super) fn redundant(storage: &Storage) -> String {
    let arrays = storage.groups.iter().filter(|group| is_redundant(group));
    let known: Vec<&str> = arrays.map(|group| group.name.as_str()).collect();
    if known.is_empty() { "none".into() } else { known.join(", ") }
}

/// The disk of this number, from 0, among those of the array `name`.
pub(super) fn find(storage: &Storage, name: &str, number: usize) -> Result<ArrayDisk, LabError> {
    let found = storage.groups.iter().position(|group| group.name == name);
    let Some(group) = found.filter(|&group| is_redundant(&storage.groups[group])) else {
        return Err(LabError::NoPart {
            guest: storage.name.clone(),
            part: name.into(),
            what: "array that can lose a disk",
            known: redundant(storage),
        });
    };
    let DiskGroup { first, count, missing, .. } = storage.groups[group];
    let count = count - missing;
    if number >= count {
        return Err(LabError::NoPart {
            guest: storage.name.clone(),
            part: format!("{name} {number}"),
            what: "disk",
            known: format!("{name} 0 to {}", count - 1),
        });
    }
    let array = group_device(storage, group);
    Ok(ArrayDisk { array, disk: device(storage, first + number), missing })
}

/// Lines that rebuild the last disk of an array at this rate, in bytes per second: neither faster nor slower,
/// as the kernel would otherwise go to leave bandwidth to other I/O (md(4)).
pub(super) fn rebuild(storage: &Storage, group: usize, rate: u64, disks: Disks) -> Vec<String> {
    let array = group_device(storage, group);
    let DiskGroup { first, count, .. } = storage.groups[group];
    let last = device(storage, first + count - 1);
    let of = format!("/sys/block/md{group}/md");
    let mut lines = ["max", "min"]
        .map(|bound| format!("echo {} > {of}/sync_speed_{bound}", rate >> 10))
        .to_vec();
    if disks == Disks::New {
        lines.push(format!("/sbin/mdadm {array} --quiet --add {last}"));
    }
    lines
}

/// Lines that make the disk fail and remove it.
pub(super) fn fail(disk: &ArrayDisk) -> String {
    let ArrayDisk { array, disk, .. } = disk;
    // It is busy until outstanding I/O has failed.
    format!(
        "/sbin/mdadm {array} --fail {disk}\n\
         tries=0\n\
         until /sbin/mdadm {array} --remove {disk}; do\n\
         tries=$((tries + 1)); [ $tries -lt 50 ] || exit 1; usleep 100000\n\
         done\n"
    )
}

/// Lines that replace a removed disk with a new one; the array starts to rebuild.
pub(super) fn replace(disk: &ArrayDisk) -> String {
    let ArrayDisk { array, disk, .. } = disk;
    format!("/sbin/mdadm --zero-superblock {disk}\n/sbin/mdadm {array} --add {disk}\n")
}

/// Lines that complete the array, if it is not complete, and wait until it is.
pub(super) fn whole(disk: &ArrayDisk) -> String {
    let missing = disk.missing;
    let array = disk.array.trim_start_matches("/dev/");
    let name = disk.disk.rsplit('/').next().unwrap_or_default();
    // The kernel calls a disk with latency dm-0, and lists its device mapper name separately. The wait is
    // limited to half an hour: a guest that waited forever would accept no other command.
    format!(
        "found=\n\
         for member in /sys/block/{array}/slaves/*; do\n\
         if [ \"$(cat $member/dm/name 2>/dev/null || basename $member)\" = {name} ]; then found=1; fi\n\
         done\n\
         if [ -z \"$found\" ]; then\n\
         {}fi\n\
         tries=0\n\
         until [ \"$(cat /sys/block/{array}/md/degraded)\" = {missing} ]; do\n\
         tries=$((tries + 1)); [ $tries -lt 3400 ] || exit 1; usleep 500000\n\
         done\n",
        replace(disk)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;

    #[test]
    fn disks_are_found_by_the_names_of_the_file_and_others_are_refused() {
        let lab = "storage: {nas: {disks: {one: {size: 64MiB}, \
                   data: {size: 64MiB, count: 3, raid: 5, latency: 5ms}, \
                   fast: {size: 64MiB, count: 2, raid: 0}}, \
                   luns: {vm: data}}}\n";
        let lab = parse_lab(lab).unwrap();
        let storage = &lab.storage[0];
        let found = find(storage, "data", 2).unwrap();
        assert_eq!(found.array, "/dev/md1");
        assert_eq!(found.disk, "/dev/mapper/disk3");
        assert_eq!(group_device(storage, 0), "/dev/vda");
        let wrong = |name, number| find(storage, name, number).unwrap_err().to_string();
        assert!(wrong("data", 3).contains("data 0 to 2"), "{}", wrong("data", 3));
        for name in ["one", "fast", "dta"] {
            assert!(wrong(name, 0).contains("it has data"), "{}", wrong(name, 0));
        }
    }
}
