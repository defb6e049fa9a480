//! What a storage guest is told to do: a script of the lines that are different in each lab.
//!
//! Programs are called by their paths: busybox has lesser ones of the same names, and its shell prefers
//! them.

use crate::model::{Datastore, DiskFormat, Lab, Storage, Vm, VmDisk};
use crate::rack::array::{self, delayed_name, group_device, raw_device};
use crate::rack::link::shape;
use crate::rack::state::target;

/// Where exports are mounted in the guest, and what clients call them.
pub(super) fn export_path(name: &str) -> String {
    format!("/export/{name}")
}

/// The file of a VM's disk, on an export or on the host.
pub(super) fn file_name(vm: &Vm, disk: &VmDisk) -> String {
    format!("{}-{}.{}", vm.name, disk.name, disk.format.name())
}

/// What a storage guest finds on its disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disks {
    /// Nothing: arrays and file systems are made.
    New,
    /// What it has left there: they are put together and mounted again.
    Kept,
}

/// The whole script for the lab's storage guest of this place.
pub(super) fn script(lab: &Lab, index: usize, disks: Disks) -> String {
    let storage = &lab.storage[index];
    let mut lines = Vec::new();
    if let Some(network) = storage.network.and_then(|network| lab.networks.get(network)) {
        lines.extend(shape(network));
    }
    for disk in 0..storage.disks.len() {
        device(storage, disk, &mut lines);
    }
    let groups = groups(storage, disks, &mut lines);
    for (number, export) in storage.exports.iter().enumerate() {
        let (device, path) = (&groups[export.group], export_path(&export.name));
        if disks == Disks::New {
            lines.push(format!(
                "/sbin/mke2fs -q -F -t ext4 -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 {device}"
            ));
        }
        lines.push(format!("mkdir -p {path} && mount -t ext4 {device} {path}"));
        // Clients come through the host, from any port and as any user.
        let options = "rw,sync,insecure,no_root_squash,no_subtree_check";
        lines.push(format!("/usr/sbin/exportfs -o {options},fsid={} '*:{path}'", number + 1));
        let files = lab.vms.iter().flat_map(|vm| vm.disks.iter().map(move |disk| (vm, disk)));
        for (vm, disk) in files {
            let here = Datastore::Export { storage: index, export: number };
            if disk.datastore == here && disk.format == DiskFormat::Raw {
                let file = file_name(vm, disk);
                lines.push(format!("truncate -s {} {path}/{file}", disk.size_bytes));
            }
        }
    }
    luns(storage, &groups, &mut lines);
    lines.join("\n") + "\n"
}

/// Makes a disk ready, and puts its latency before it if it has one.
fn device(storage: &Storage, index: usize, lines: &mut Vec<String>) {
    let device = raw_device(index);
    // A frozen guest has seen another disk here.
    lines.push(format!("blockdev --flushbufs {device}"));
    let disk = &storage.disks[index];
    if disk.latency_ms > 0 {
        let name = delayed_name(index);
        let (sectors, wait) = (disk.size_bytes / 512, disk.latency_ms);
        lines.push(format!(
            "/sbin/dmsetup create {name} --noudevsync --noudevrules --table '0 {sectors} delay {device} 0 {wait}'"
        ));
    }
}

/// The device of each group.
fn groups(storage: &Storage, disks: Disks, lines: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (index, group) in storage.groups.iter().enumerate() {
        let array = group_device(storage, index);
        if let Some(raid) = group.raid {
            let there = group.first..group.first + group.count - group.missing;
            let there: Vec<String> = there.map(|disk| array::device(storage, disk)).collect();
            let of = there.join(" ");
            lines.push(match disks {
                // New disks are all zeros, of which mirrors and parities are right already.
                Disks::New => format!(
                    "/sbin/mdadm --create {array} --run --quiet --metadata=1.2 --bitmap=none \
                     --assume-clean --level={} --raid-devices={} {of}{}",
                    raid.name(),
                    group.count,
                    " missing".repeat(group.missing),
                ),
                // An array that was cut off while it was written to is put together all the same.
                Disks::Kept => format!("/sbin/mdadm --assemble {array} --run --force --quiet {of}"),
            });
        }
        found.push(array);
    }
    found
}

/// LUNs of the kernel's target, made in its file system of settings (Linux,
/// Documentation/target/scripts.rst).
fn luns(storage: &Storage, groups: &[String], lines: &mut Vec<String>) {
    if storage.luns.is_empty() {
        return;
    }
    let settings = "/sys/kernel/config/target";
    let portal_group = format!("{settings}/iscsi/{}/tpgt_1", target(storage));
    lines.push(format!("mkdir -p {portal_group}"));
    for (number, lun) in storage.luns.iter().enumerate() {
        let store = format!("{settings}/core/iblock_0/{}", lun.name);
        lines.push(format!("mkdir -p {store}"));
        lines.push(format!("echo udev_path={} > {store}/control", groups[lun.group]));
        lines.push(format!("echo 1 > {store}/enable"));
        // What an initiator tells two LUNs apart by.
        lines.push(format!("echo {}-{} > {store}/wwn/vpd_unit_serial", storage.name, lun.name));
        lines.push(format!("mkdir {portal_group}/lun/lun_{number}"));
        lines.push(format!("ln -s {store} {portal_group}/lun/lun_{number}/store"));
    }
    for (name, value) in [
        ("authentication", 0),
        ("generate_node_acls", 1),
        ("cache_dynamic_acls", 1),
        ("demo_mode_write_protect", 0),
    ] {
        lines.push(format!("echo {value} > {portal_group}/attrib/{name}"));
    }
    lines.push(format!("mkdir {portal_group}/np/0.0.0.0:3260"));
    lines.push(format!("echo 1 > {portal_group}/enable"));
}
