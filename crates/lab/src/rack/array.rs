//! The arrays of a storage guest: which disk is which, a disk that fails, and a new one in its place.
//!
//! mdadm(8) is told with full paths of devices; there is no udev that would know others.

use super::setup::Disks;
use crate::error::LabError;
use crate::model::{DiskGroup, Raid, Storage};

/// A disk of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArrayDisk {
    /// The array's device.
    array: String,
    /// The disk's, behind its latency if it has one.
    disk: String,
    /// How many disks the array lacks from the beginning, as the file has it.
    missing: usize,
}

/// The device of a disk of a storage guest, by its place.
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

/// What the device mapper calls a disk with latency.
pub(super) fn delayed_name(disk: usize) -> String {
    format!("disk{disk}")
}

/// The device of a group of disks, by its place: an array, or its only disk.
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

/// Lines after which the last disk of an array is rebuilt at this rate, in bytes a second: neither faster nor,
/// as the kernel would to be kind to what else is done, slower (md(4)).
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

/// Lines that have the disk fail and pull it out.
pub(super) fn fail(disk: &ArrayDisk) -> String {
    let ArrayDisk { array, disk, .. } = disk;
    // It is busy until what was under way has failed.
    format!(
        "/sbin/mdadm {array} --fail {disk}\n\
         tries=0\n\
         until /sbin/mdadm {array} --remove {disk}; do\n\
         tries=$((tries + 1)); [ $tries -lt 50 ] || exit 1; usleep 100000\n\
         done\n"
    )
}

/// Lines that put a new disk in the place of one that was pulled out; the array begins to rebuild.
pub(super) fn replace(disk: &ArrayDisk) -> String {
    let ArrayDisk { array, disk, .. } = disk;
    format!("/sbin/mdadm --zero-superblock {disk}\n/sbin/mdadm {array} --add {disk}\n")
}

/// Lines that make the array whole, if it is not, and wait until it is.
pub(super) fn whole(disk: &ArrayDisk) -> String {
    let missing = disk.missing;
    let array = disk.array.trim_start_matches("/dev/");
    let name = disk.disk.rsplit('/').next().unwrap_or_default();
    // The kernel calls a disk with latency dm-0, and tells beside what that is to the device mapper. Half an
    // hour, then it is given up: a guest that waits for ever hears nothing more.
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
