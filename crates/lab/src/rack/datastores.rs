//! What a running lab has to store on: the disks of VMs, the mounts of hosts, and what storage guests serve to this
//! machine; and whose loss of power empties the caches in front of it.

use std::path::{Path, PathBuf};

use super::directory::{guest, started};
use super::mounts::place;
use super::on_disks::export_path;
use super::state::target;
use crate::error::LabError;
use crate::model::{Datastore, Lab, Mounted, Protocol, Storage, Vm, VmDisk};

/// A datastore of a lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabDatastore {
    /// `GUEST.NAME`.
    pub name: String,
    /// What it is, in a few words.
    pub what: String,
    /// Its URL, or its path in the guest with the agent.
    pub url: String,
    /// A device or LUN, which the lab has created to be written.
    pub is_blocks: bool,
    /// This machine's end of the port of the agent that can use it; `None`: this machine uses it itself.
    pub agent: Option<PathBuf>,
    /// The guest whose power is cut.
    pub cut: String,
}

/// The datastores of the lab in `directory` that nothing else in the lab stores on.
///
/// # Errors
/// There is no lab, or it belongs to another user.
pub fn datastores(directory: &Path) -> Result<Vec<LabDatastore>, LabError> {
    let (path, state) = started(directory)?;
    let lab = &state.lab;
    let mut found = Vec::new();
    for vm in &lab.vms {
        let agent = guest(&path, &vm.name).agent();
        found.extend(vm.disks.iter().map(|disk| of_vm(lab, vm, disk, &agent)));
    }
    for host in &lab.hosts {
        let agent = guest(&path, &host.name).agent();
        found.extend(host.mounts.iter().map(|mount| LabDatastore {
            name: format!("{}.{}", host.name, mount.name),
            what: format!("mounted by a host, {}", mounted(&lab.storage[mount.storage], &mount.of)),
            url: place(mount),
            is_blocks: !matches!(mount.of, Mounted::Nfs { .. }),
            agent: Some(agent.clone()),
            cut: host.name.clone(),
        }));
    }
    for (index, (storage, address)) in lab.storage.iter().zip(&state.addresses).enumerate() {
        for export in &storage.exports {
            let path = export_path(&export.name);
            found.push(LabDatastore {
                name: format!("{}.{}", storage.name, export.name),
                what: format!("NFS, {}", export.writes.name()),
                url: format!("nfs://{address}:2049{path}?mountport=20048"),
                is_blocks: false,
                agent: None,
                cut: storage.name.clone(),
            });
        }
        for (lun, of) in storage.luns.iter().enumerate() {
            if storage.is_open(lun) && !is_used(lab, index, lun) {
                let number = storage.lun_number(lun);
                found.push(LabDatastore {
                    name: format!("{}.{}", storage.name, of.name),
                    what: lun_words(storage, lun),
                    url: format!("iscsi://{address}/{}/{number}", target(storage)),
                    is_blocks: true,
                    agent: None,
                    cut: storage.name.clone(),
                });
            }
        }
    }
    Ok(found)
}

fn of_vm(lab: &Lab, vm: &Vm, disk: &VmDisk, agent: &Path) -> LabDatastore {
    let on = disk.datastore.name(lab).map_or_else(String::new, |name| format!(" on {name}"));
    LabDatastore {
        name: format!("{}.{}", vm.name, disk.name),
        what: format!("{}{on}, cache={}", disk.controller.name(), disk.cache.name()),
        url: format!("/dev/lab/{}", disk.name),
        is_blocks: true,
        agent: Some(agent.to_owned()),
        cut: vm.name.clone(),
    }
}

fn mounted(storage: &Storage, of: &Mounted) -> String {
    match *of {
        Mounted::Nfs { export, version } => {
            let export = &storage.exports[export];
            format!("NFS {}, {}", version.name(), export.writes.name())
        }
        Mounted::Iscsi { lun, .. } | Mounted::Fc { lun, .. } | Mounted::NvmeTcp { lun } => {
            lun_words(storage, lun)
        }
    }
}

fn lun_words(storage: &Storage, lun: usize) -> String {
    let lun = &storage.luns[lun];
    let protocol = match lun.protocol {
        Protocol::Iscsi => "iSCSI",
        Protocol::Fc => "FC",
        Protocol::NvmeTcp => "NVMe/TCP",
    };
    match lun.write_cache {
        None => format!("{protocol}, its disk's cache"),
        Some(cache) => format!("{protocol}, write cache {}", cache.name()),
    }
}

/// Whether VMs' disks are on the LUN, or a host mounts it.
fn is_used(lab: &Lab, storage: usize, lun: usize) -> bool {
    let by_vm = lab.vm_disks().map(|disk| disk.datastore).any(
        |of| matches!(of, Datastore::Lun { storage: s, lun: l, .. } if (s, l) == (storage, lun)),
    );
    let mounts = lab.hosts.iter().flat_map(|host| &host.mounts);
    let mut mounts = mounts.filter(|mount| mount.storage == storage);
    by_vm
        || mounts.any(|mount| match mount.of {
            Mounted::Nfs { .. } => false,
            Mounted::Iscsi { lun: l, .. } | Mounted::Fc { lun: l, .. } => l == lun,
            Mounted::NvmeTcp { lun: l } => l == lun,
        })
}
