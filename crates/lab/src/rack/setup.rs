//! What a storage guest is told to do: a script of the lines that are different in each lab.
//!
//! Programs are called by their paths: busybox has lesser ones of the same names, and its shell prefers
//! them.

use crate::model::{Datastore, DiskFormat, Lab, Network, Storage, Vm, VmDisk};
use crate::rack::state::target;

/// Where exports are mounted in the guest, and what clients call them.
pub(super) fn export_path(name: &str) -> String {
    format!("/export/{name}")
}

/// The file of a VM's disk, on an export or on the host.
pub(super) fn file_name(vm: &Vm, disk: &VmDisk) -> String {
    format!("{}-{}.{}", vm.name, disk.name, disk.format.name())
}

/// The whole script for the lab's storage guest of this place.
pub(super) fn script(lab: &Lab, index: usize) -> String {
    let storage = &lab.storage[index];
    let mut lines = Vec::new();
    if let Some(network) = storage.network.and_then(|network| lab.networks.get(network)) {
        shape(network, &mut lines);
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
    luns(storage, &groups, &mut lines);
    lines.join("\n") + "\n"
}

/// Rate and delay in each direction. What comes in passes through a device of its own, because only
/// what goes out of one can be queued.
fn shape(network: &Network, lines: &mut Vec<String>) {
    if network.rate_bits_per_s.is_none() && network.delay_ns == 0 {
        return;
    }
    // In packets: more than a second's worth at a gigabit, so that what waits is never dropped.
    let mut netem = String::from("netem limit 100000");
    if network.delay_ns > 0 {
        netem += &format!(" delay {}us", network.delay_ns / 1000);
    }
    if let Some(rate) = network.rate_bits_per_s {
        netem += &format!(" rate {rate}bit");
    }
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
        let Some(raid) = group.raid else {
            found.push(of[0].clone());
            continue;
        };
        let array = format!("/dev/md{index}");
        let there = of.len() - group.missing;
        let missing = std::iter::repeat_n("missing", group.missing);
        let members: Vec<&str> = of[..there].iter().map(String::as_str).chain(missing).collect();
        // New disks are all zeros, of which mirrors and parities are right already.
        lines.push(format!(
            "/sbin/mdadm --create {array} --run --quiet --metadata=1.2 --bitmap=none --assume-clean \
             --level={} --raid-devices={} {}",
            raid.name(),
            group.count,
            members.join(" ")
        ));
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
