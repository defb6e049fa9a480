//! A storage guest's set-up: a script with the lines that differ from lab to lab.
//!
//! Programs are called by their full paths: busybox has simpler ones with the same names, and its shell
//! prefers them.

use super::groups;
use super::link::shape;
use super::on_disks::{Disks, export_path};
use super::ports::{self, End};
use super::routed;
use super::secrets::Secrets;
use super::targets;
use crate::links::Node;
use crate::model::{Datastore, DiskFormat, Lab, Vm, VmDisk};
use crate::wiring::{Channel, network};

/// The file of a VM's disk, on an export or on the host.
pub(super) fn file_name(vm: &Vm, disk: &VmDisk) -> String {
    format!("{}-{}.{}", vm.name, disk.name, disk.format.name())
}

/// The whole script for the lab's storage guest with this index.
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
    let groups = groups::make(storage, disks, &mut lines);
    for (number, export) in storage.exports.iter().enumerate() {
        let (device, path) = (&groups[export.group], export_path(&export.name));
        if disks == Disks::New {
            lines.push(format!(
                "/sbin/mke2fs -q -F -t ext4 -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 {device}"
            ));
        }
        lines.extend(groups::export(storage, number));
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
    lines.extend(routed::lines(lab, Node::Storage(index)));
    lines.extend(targets::lines(lab, index, &groups, channels, secrets));
    lines.join("\n") + "\n"
}
