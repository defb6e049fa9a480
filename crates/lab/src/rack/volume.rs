//! Logical volumes (LVM) of a storage guest: each of them is all of one disk, array or cache, as a volume on an appliance
//! is that has one volume group for each array.
//!
//! LVM gets the one device that it may look at. It would otherwise find the same physical volume twice: on an array,
//! and on the device above it that can be suspended.

use crate::model::DiskGroup;

/// What is left below this is not used, in bytes as LVM writes them. The default, 4 MiB, is much of a small disk.
const EXTENT: &str = "1m";

/// The device of a group's volume.
pub(super) fn device(group: &DiskGroup) -> String {
    format!("/dev/{}/volume", name(group))
}

/// The name of a volume group, which must not be that of a device.
fn name(group: &DiskGroup) -> String {
    format!("lvm-{}", group.name)
}

/// Lines that make the volume of a group on `below`.
pub(super) fn make(group: &DiskGroup, below: &str) -> [String; 3] {
    let name = name(group);
    [
        lvm(below, &format!("pvcreate -ff --yes {below}")),
        lvm(below, &format!("vgcreate --physicalextentsize {EXTENT} {name} {below}")),
        lvm(
            below,
            &format!(
                "lvcreate --extents 100%FREE --zero n --wipesignatures n --name volume {name}"
            ),
        ),
    ]
}

/// The line that makes an existing volume usable.
pub(super) fn find(group: &DiskGroup, below: &str) -> String {
    lvm(below, &format!("vgchange --activate y {}", name(group)))
}

fn lvm(below: &str, command: &str) -> String {
    let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
    format!("/sbin/lvm {verb} --quiet --devices {below} {rest}")
}
