//! The machines of a lab's guests, and what they need from the host.

use std::fs;
use std::path::{Path, PathBuf};

use stormeter_datastore::{DatastoreUrl, Location, RbdPool};

use super::directory;
use super::on_disks::export_path;
use super::setup::file_name;
use super::state::target;
use crate::error::LabError;
use crate::links::{Node, links};
use crate::model::{CacheMode, Controller, Datastore, DiskFormat, Lab, Vm, VmDisk};
use crate::qemu::{Backend, Disk, Hardware, Kind, Plug, throttle};
use crate::wiring::channels;

/// The user's choice of accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AcceleratorChoice {
    /// KVM if it works, otherwise TCG.
    #[default]
    Auto,
    /// KVM, or fail.
    Kvm,
    /// TCG without trying KVM.
    Tcg,
}

/// The file of a storage guest's disk.
pub(super) fn storage_file(lab: &Path, storage: &str, disk: usize) -> PathBuf {
    directory::guest(lab, storage).folder.join(format!("disk{disk}.raw"))
}

/// The file of a VM's disk on the host.
pub(super) fn local_file(lab: &Path, vm: &Vm, disk: &VmDisk) -> PathBuf {
    directory::guest(lab, &vm.name).folder.join(file_name(vm, disk))
}

/// The log of what is written to a VM's own disk.
pub(super) fn write_log(file: &Path) -> PathBuf {
    file.with_added_extension("writes")
}

/// The contents of such a disk from before its log.
pub(super) fn earlier_contents(file: &Path) -> PathBuf {
    file.with_added_extension("earlier")
}

/// A storage guest's machine. Its disks' limits are set when it is ready: file systems are created
/// at full speed.
pub(super) fn storage_hardware(directory: &Path, lab: &Lab, index: usize) -> Hardware {
    let storage = &lab.storage[index];
    let disks = storage.disks.iter().enumerate().map(|(index, disk)| Disk {
        name: format!("disk{index}"),
        controller: Controller::VirtioBlk,
        size_bytes: disk.size_bytes,
        // Like a storage system's own disks: the host's cache may hold acknowledged writes, but reads
        // must not come from the host's memory.
        cache: CacheMode::None,
        limit: throttle::lifted(disk.limit),
        backend: Backend::File {
            path: storage_file(directory, &storage.name, index),
            format: crate::model::DiskFormat::Raw,
            layer: None,
            log: None,
        },
    });
    Hardware {
        kind: Kind::Storage,
        suite: None,
        services: false,
        memory_bytes: storage.memory_bytes,
        vcpus: storage.vcpus,
        disks: disks.collect(),
        uplink: true,
        nics: [
            storage_plugs(directory, lab, index),
            link_plugs(directory, lab, Node::Storage(index)),
        ]
        .concat(),
    }
}

/// A router's machine.
pub(super) fn router_hardware(directory: &Path, lab: &Lab, index: usize) -> Hardware {
    let router = &lab.routers[index];
    Hardware {
        kind: Kind::Router,
        suite: None,
        services: false,
        memory_bytes: router.memory_bytes,
        vcpus: router.vcpus,
        disks: Vec::new(),
        uplink: false,
        nics: link_plugs(directory, lab, Node::Router(index)),
    }
}

/// A guest's ends of the links of routers, in the order of its ports.
fn link_plugs(directory: &Path, lab: &Lab, node: Node) -> Vec<Plug> {
    let links = links(lab);
    let of = links.iter().filter_map(|link| Some((link, link.side(node)?)));
    of.map(|(link, side)| {
        let path = link_path(directory, link.ends[0].node.name(lab), link.number);
        if side == 0 { Plug::Listens(path) } else { Plug::Connects(path) }
    })
    .collect()
}

/// The socket of a link, in the folder of the guest that is started first.
fn link_path(directory: &Path, guest: &str, number: usize) -> PathBuf {
    directory::guest(directory, guest).folder.join(format!("link{number}"))
}

/// The cables of a storage guest, whose other ends listen: it may be restarted while hosts run.
fn storage_plugs(directory: &Path, lab: &Lab, index: usize) -> Vec<Plug> {
    let channels = channels(lab);
    let of = channels.iter().filter(|channel| channel.storage == index);
    let ends = of.flat_map(|channel| channel.cables.iter().map(|cable| (channel.host, cable.host)));
    ends.map(|(host, port)| Plug::Connects(cable_path(directory, &lab.hosts[host].name, port)))
        .collect()
}

/// The other end of a cable at whose socket a guest listens.
pub(super) struct FarEnd {
    /// The guest at the other end.
    pub(super) guest: String,
    /// Index of the cable among its ports to other guests.
    pub(super) port: usize,
    /// The socket.
    pub(super) path: PathBuf,
}

/// The other ends of a guest's cables that do not connect again by themselves when it is restarted.
pub(super) fn far_ends(directory: &Path, lab: &Lab, node: Node) -> Vec<FarEnd> {
    let name = node.name(lab);
    let mut ends = Vec::new();
    for channel in channels(lab).iter().filter(|channel| Node::Host(channel.host) == node) {
        ends.extend(channel.cables.iter().map(|cable| FarEnd {
            guest: lab.storage[channel.storage].name.clone(),
            port: cable.storage,
            path: cable_path(directory, name, cable.host),
        }));
    }
    for link in links(lab).iter().filter(|link| link.side(node) == Some(0)) {
        ends.push(FarEnd {
            guest: link.ends[1].node.name(lab).to_owned(),
            port: link.ends[1].port,
            path: link_path(directory, name, link.number),
        });
    }
    ends
}

/// The socket of a cable, in the host's folder.
fn cable_path(directory: &Path, host: &str, port: usize) -> PathBuf {
    directory::guest(directory, host).folder.join(format!("cable{port}"))
}

/// A host's machine.
pub(super) fn host_hardware(directory: &Path, lab: &Lab, index: usize) -> Hardware {
    let host = &lab.hosts[index];
    let channels = channels(lab);
    let of = channels.iter().filter(|channel| channel.host == index);
    let ports = of.flat_map(|channel| channel.cables.iter().map(|cable| cable.host));
    Hardware {
        kind: Kind::Host,
        suite: host.suite.clone(),
        services: !host.services.is_empty(),
        memory_bytes: host.memory_bytes,
        vcpus: host.vcpus,
        disks: Vec::new(),
        uplink: false,
        nics: ports
            .map(|port| Plug::Listens(cable_path(directory, &host.name, port)))
            .chain(link_plugs(directory, lab, Node::Host(index)))
            .collect(),
    }
}

/// A VM's machine; `addresses` are those of the storage guests. With `logs_writes`, writes to its own disks are logged.
pub(super) fn vm_hardware(
    directory: &Path,
    lab: &Lab,
    vm: &Vm,
    addresses: &[String],
    logs_writes: bool,
) -> Hardware {
    let disks = vm.disks.iter().map(|disk| {
        let backend = match disk.datastore {
            Datastore::Local => {
                let path = local_file(directory, vm, disk);
                let log = (logs_writes && disk.format == DiskFormat::Raw).then(|| write_log(&path));
                Backend::File { path, format: disk.format, layer: None, log }
            }
            Datastore::Export { storage, export } => Backend::Nfs {
                host: addresses[storage].clone(),
                path: format!(
                    "{}/{}",
                    export_path(&lab.storage[storage].exports[export].name),
                    file_name(vm, disk)
                ),
                format: disk.format,
            },
            Datastore::Lun { storage, lun, offset_bytes } => Backend::Iscsi {
                host: addresses[storage].clone(),
                target: target(&lab.storage[storage]),
                lun: lab.storage[storage].lun_number(lun) as u32,
                offset_bytes,
            },
            Datastore::Pool { pool } => {
                pool_url(lab, pool).map_or(Backend::Blank, |pool| Backend::Rbd {
                    image: format!("{}-lab-{}", pool.name, vm.name),
                    pool: Box::new(pool),
                })
            }
        };
        Disk {
            name: disk.name.clone(),
            controller: disk.controller,
            size_bytes: disk.size_bytes,
            cache: disk.cache,
            limit: disk.limit,
            backend,
        }
    });
    Hardware {
        kind: Kind::Worker,
        suite: None,
        services: false,
        memory_bytes: vm.memory_bytes,
        vcpus: vm.vcpus,
        disks: disks.collect(),
        uplink: vm.network.is_some(),
        nics: Vec::new(),
    }
}

/// A pool of a Ceph cluster that the lab's file names.
pub(super) fn pool_url(lab: &Lab, pool: usize) -> Option<RbdPool> {
    match DatastoreUrl::parse(lab.pools.get(pool)?).ok()?.location {
        Location::Rbd(pool) => Some(*pool),
        _ => None,
    }
}

/// An export that a VM's disk is on, as `nas.vm`: QEMU's NFS client needs a portmapper.
pub(super) fn export_in_use(lab: &Lab, storage: usize) -> Option<String> {
    lab.vm_disks().find_map(|disk| match disk.datastore {
        Datastore::Export { storage: of, export } if of == storage => {
            let storage = &lab.storage[storage];
            Some(format!("{}.{}", storage.name, storage.exports[export].name))
        }
        _ => None,
    })
}

/// Size of the files in the lab's directory when they are fully written, in bytes.
pub(super) fn file_bytes(lab: &Lab) -> u64 {
    let storage: u64 =
        lab.storage.iter().flat_map(|storage| &storage.disks).map(|disk| disk.size_bytes).sum();
    let local = lab.vm_disks().filter(|disk| disk.datastore == Datastore::Local);
    storage + local.map(|disk| disk.size_bytes).sum::<u64>()
}

/// Fails if the guests would make the host swap.
pub(super) fn need_memory(need_bytes: u64) -> Result<(), LabError> {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    match available_bytes(&text) {
        Some(free_bytes) if free_bytes < need_bytes => {
            Err(LabError::NoMemory { need_bytes, free_bytes })
        }
        _ => Ok(()),
    }
}

/// The kernel's estimate of what can be allocated without swapping (proc(5), `MemAvailable`).
fn available_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_refused_with_both_sizes() {
        assert_eq!(available_bytes("MemTotal: 9 kB\nMemAvailable:   1024 kB\n"), Some(1 << 20));
        need_memory(1).unwrap();
        let error = need_memory(1 << 60).unwrap_err().to_string();
        assert!(error.contains("need") && error.contains("free"), "{error}");
    }
}
