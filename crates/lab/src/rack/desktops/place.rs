//! A place for a desktop: its guest's folder, its machine, and where its disk lies.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{LabError, at};
use crate::model::{Datastore, Lab, Vm};
use crate::qemu::{Backend, Disk, Guest, Hardware, image_tool};
use crate::rack::directory::guest;
use crate::rack::plan::vm_hardware;
use crate::rack::up::set_up;

/// A place for a desktop, or that of the template.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) guest: Guest,
    pub(super) hardware: Hardware,
    /// Its one disk.
    pub(super) disk: Disk,
    /// The storage guest whose export holds the file of the disk.
    pub(super) server: Option<Guest>,
}

impl Place {
    /// `None` if the machine has no disk, which no lab file says.
    pub(super) fn of(directory: &Path, lab: &Lab, vm: &Vm, addresses: &[String]) -> Option<Self> {
        let hardware = vm_hardware(directory, lab, vm, addresses, false);
        let disk = hardware.disks.first()?.clone();
        let server = match vm.disks.first()?.datastore {
            Datastore::Export { storage, .. } => {
                Some(guest(directory, &lab.storage.get(storage)?.name))
            }
            Datastore::Local | Datastore::Lun { .. } => None,
        };
        Some(Self { guest: guest(directory, &vm.name), hardware, disk, server })
    }

    /// The same with this disk.
    pub(super) fn with(&self, disk: Disk) -> Self {
        let hardware = Hardware { disks: vec![disk.clone()], ..self.hardware.clone() };
        Self { hardware, disk, ..self.clone() }
    }

    /// Creates the disk's file, empty. Part of a LUN exists.
    pub(super) fn create(&self) -> Result<(), LabError> {
        match &self.disk.backend {
            Backend::File { path, .. } => {
                let file = fs::File::create(path).map_err(at(path))?;
                file.set_len(self.disk.size_bytes).map_err(at(path))
            }
            Backend::Nfs { path, .. } => {
                self.on_server(&format!("truncate -s {} {path}", self.disk.size_bytes))
            }
            Backend::Iscsi { .. } | Backend::Blank => Ok(()),
        }
    }

    /// Removes what there may be of the disk, in any format.
    pub(super) fn remove_disk(&self) -> Result<(), LabError> {
        match &self.disk.backend {
            Backend::File { path, .. } => {
                for path in [path.with_extension("raw"), path.with_extension("qcow2")] {
                    gone(&path)?;
                }
                Ok(())
            }
            Backend::Nfs { path, .. } => {
                let stem = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
                self.on_server(&format!("rm -f {stem}.raw {stem}.qcow2"))
            }
            Backend::Iscsi { .. } | Backend::Blank => Ok(()),
        }
    }

    /// Ends its machine, if it runs, and removes everything of it.
    pub(super) fn clear(&self) -> Result<(), LabError> {
        image_tool::end_below(&self.guest.folder);
        if let Some(process) = self.guest.process() {
            process.kill()?;
        }
        self.remove_disk()?;
        match fs::remove_dir_all(&self.guest.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(at(&self.guest.folder)(error))
            }
            _ => Ok(()),
        }
    }

    fn on_server(&self, script: &str) -> Result<(), LabError> {
        match &self.server {
            Some(server) => set_up(server, script),
            None => Ok(()),
        }
    }
}

fn gone(path: &PathBuf) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}
