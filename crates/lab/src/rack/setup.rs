//! What a storage guest is told to do: a script of the lines that are different in each lab.
//!
//! Programs are called by their paths: busybox has lesser ones of the same names, and its shell prefers
//! them.

use super::ports::{self, End, netem};
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

/// The whole script for the lab's storage guest of this place.
pub(super) fn script(lab: &Lab, index: usize, channels: &[Channel], secrets: &Secrets) -> String {
    let storage = &lab.storage[index];
    let mut lines = Vec::new();
    if let Some(netem) = network(lab, index).and_then(netem) {
        shape(&netem, &mut lines);
    }
    let devices: Vec<String> =
        (0..storage.disks.len()).map(|disk| device(storage, disk, &mut lines)).collect();
    let groups = groups(storage, &devices, &mut lines);
    for (number, export) in storage.exports.iter().enumerate() {
        let (device, path) = (&groups[export.group], export_path(&export.name));
        lines.push(format!(
            "/sbin/mke2fs -q -F -t ext4 -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 {device}"
        ));
        lines.push(format!("mkdir -p {path} && mount -t ext4 {device} {path}"));
        // Clients come through the host, from any port and as any user.
        let options = "rw,sync,insecure,no_root_squash,no_subtree_check";
        lines.push(format!("/usr/sbin/exportfs -o {options},fsid={} '*:{path}'", number + 1));
        let disks = lab.vms.iter().flat_map(|vm| vm.disks.iter().map(move |disk| (vm, disk)));
        for (vm, disk) in disks {
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

/// Rate and delay in each direction. What comes in passes through a device of its own, because only
/// what goes out of one can be queued.
fn shape(netem: &str, lines: &mut Vec<String>) {
    lines.push("ifconfig ifb0 up".into());
    lines.push(format!("/sbin/tc qdisc add dev eth0 root {netem}"));
    lines.push("/sbin/tc qdisc add dev eth0 handle ffff: ingress".into());
    lines.push(
        "/sbin/tc filter add dev eth0 parent ffff: protocol all matchall action mirred egress redirect \
         dev ifb0"
            .into(),
    );
    lines.push(format!("/sbin/tc qdisc add dev ifb0 root {netem}"));
}

/// The device of a disk, behind its latency if it has one.
fn device(storage: &Storage, index: usize, lines: &mut Vec<String>) -> String {
    let letter = char::from(b'a' + index as u8);
    let device = format!("/dev/vd{letter}");
    // A frozen guest has seen another disk here.
    lines.push(format!("blockdev --flushbufs {device}"));
    let disk = &storage.disks[index];
    if disk.latency_ms == 0 {
        return device;
    }
    let name = format!("disk{index}");
    let (sectors, wait) = (disk.size_bytes / 512, disk.latency_ms);
    lines.push(format!(
        "/sbin/dmsetup create {name} --noudevsync --noudevrules --table '0 {sectors} delay {device} 0 {wait}'"
    ));
    format!("/dev/mapper/{name}")
}

/// The device of each group.
fn groups(storage: &Storage, devices: &[String], lines: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (index, group) in storage.groups.iter().enumerate() {
        let of = &devices[group.first..group.first + group.count];
        let joined = match group.raid {
            None => of[0].clone(),
            Some(raid) => {
                let array = format!("/dev/md{index}");
                let there = of.len() - group.missing;
                let missing = std::iter::repeat_n("missing", group.missing);
                let members: Vec<&str> =
                    of[..there].iter().map(String::as_str).chain(missing).collect();
                // New disks are all zeros, of which mirrors and parities are right already.
                lines.push(format!(
                    "/sbin/mdadm --create {array} --run --quiet --metadata=1.2 --bitmap=none \
                     --assume-clean --level={} --raid-devices={} {}",
                    raid.name(),
                    group.count,
                    members.join(" ")
                ));
                array
            }
        };
        found.push(match group.cache {
            None => joined,
            Some(disk) => cached(&joined, &devices[disk], &group.name, lines),
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
