//! What a storage guest is told to do: a script of the lines that are different in each lab.
//!
//! Programs are called by their paths: busybox has lesser ones of the same names, and its shell prefers
//! them.

use super::array::{self, delayed_name, group_device, raw_device};
use super::link::shape;
use super::ports::{self, End};
use super::secrets::Secrets;
use super::targets;
use crate::model::{Datastore, DiskFormat, Lab, Storage, Vm, VmDisk};
use crate::wiring::{Channel, network};

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
pub(super) fn script(
    lab: &Lab,
    index: usize,
    disks: Disks,
    channels: &[Channel],
    secrets: &Secrets,
) -> String {
    let storage = &lab.storage[index];
    let mut lines = Vec::new();
    if let Some(network) = network(lab, index) {
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
    let of = channels.iter().filter(|channel| channel.storage == index);
    for channel in of {
        lines.extend(ports::lines(channel, network(lab, index), End::Storage));
    }
    lines.extend(targets::lines(lab, index, &groups, channels, secrets));
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
        let device = group_device(storage, index);
        if let Some(raid) = group.raid {
            // A disk to be rebuilt comes to an array that is there.
            let absent = match disks {
                Disks::New => group.missing + usize::from(group.rebuild_rate.is_some()),
                Disks::Kept => group.missing,
            };
            let there = group.first..group.first + group.count - absent;
            let there: Vec<String> = there.map(|disk| array::device(storage, disk)).collect();
            let of = there.join(" ");
            lines.push(match disks {
                // New disks are all zeros, of which mirrors and parities are right already.
                Disks::New => format!(
                    "/sbin/mdadm --create {device} --run --quiet --metadata=1.2 --bitmap=none \
                     --assume-clean --level={} --raid-devices={} {of}{}",
                    raid.name(),
                    group.count,
                    " missing".repeat(absent),
                ),
                // An array that was cut off while it was written to is put together all the same.
                Disks::Kept => {
                    format!("/sbin/mdadm --assemble {device} --run --force --quiet {of}")
                }
            });
            if let Some(rate) = group.rebuild_rate {
                lines.extend(array::rebuild(storage, index, rate, disks));
            }
        }
        found.push(match group.cache {
            None => device,
            Some(disk) => cached(&device, &array::device(storage, disk), &group.name, lines),
        });
    }
    found
}

/// A device behind a cache on a fast disk (dm-cache, written back). What the cache knows of its blocks is at the
/// begin of that disk: zeros there are a new cache.
fn cached(slow: &str, fast: &str, name: &str, lines: &mut Vec<String>) -> String {
    const KNOWN_SECTORS: u64 = 16384;
    const BLOCK_SECTORS: u64 = 128;
    let create = "/sbin/dmsetup create --noudevsync --noudevrules";
    lines.push(format!("fast=$(blockdev --getsz {fast}) slow=$(blockdev --getsz {slow})"));
    lines.push(format!("{create} known-{name} --table \"0 {KNOWN_SECTORS} linear {fast} 0\""));
    lines.push(format!(
        "{create} fast-{name} --table \"0 $((fast - {KNOWN_SECTORS})) linear {fast} {KNOWN_SECTORS}\""
    ));
    lines.push(format!(
        "{create} cached-{name} --table \"0 $slow cache /dev/mapper/known-{name} \
         /dev/mapper/fast-{name} {slow} {BLOCK_SECTORS} 1 writeback smq 0\""
    ));
    format!("/dev/mapper/cached-{name}")
}
