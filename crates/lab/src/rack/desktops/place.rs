//! A place for a desktop: its guest's folder, its machine, and where its disk lies.

use std::fs;
use std::path::{Path, PathBuf};

use super::pool::Pool;
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
    /// The pool that the disk is an image in.
    pool: Option<Pool>,
}

impl Place {
    /// `None` if the machine has no disk, which no lab file says. `pool` is the one of its disk, if that is an image.
    pub(super) fn of(
        directory: &Path,
        lab: &Lab,
        vm: &Vm,
        addresses: &[String],
        pool: Option<Pool>,
    ) -> Option<Self> {
        let hardware = vm_hardware(directory, lab, vm, addresses, false);
        let disk = hardware.disks.first()?.clone();
        let server = match vm.disks.first()?.datastore {
            Datastore::Export { storage, .. } => {
                Some(guest(directory, &lab.storage.get(storage)?.name))
            }
            Datastore::Local | Datastore::Lun { .. } | Datastore::Pool { .. } => None,
        };
        Some(Self { guest: guest(directory, &vm.name), hardware, disk, server, pool })
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
            Backend::Rbd { image, .. } => self.in_pool(|it| it.create(image, self.disk.size_bytes)),
            Backend::Iscsi { .. } | Backend::Blank => Ok(()),
        }
    }

    /// Makes the disk as a clone of the template's, by the storage.
    pub(super) fn clone_of(&self, template: &Self) -> Result<(), LabError> {
        match (&template.disk.backend, &self.disk.backend) {
            (Backend::Rbd { image: of, .. }, Backend::Rbd { image, .. }) => {
                self.in_pool(|it| it.make_clone(of, image))
            }
            _ => Err(LabError::NoClones),
        }
    }

    /// Lets the storage clone the disk, if it can.
    pub(super) fn freeze(&self) -> Result<(), LabError> {
        match &self.disk.backend {
            Backend::Rbd { image, .. } => self.in_pool(|it| it.freeze(image)),
            _ => Ok(()),
        }
    }

    fn in_pool(&self, act: impl FnOnce(&Pool) -> Result<(), LabError>) -> Result<(), LabError> {
        self.pool.as_ref().map_or(Ok(()), act)
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
            Backend::Rbd { image, .. } => self.in_pool(|it| it.remove(image)),
            Backend::Iscsi { .. } | Backend::Blank => Ok(()),
        }
    }

    /// Ends its machine, if it runs. A client of Ceph is asked to end, because the cluster takes an image for open for half
    /// a minute when one is killed; any other is killed, which is quicker.
    pub(super) fn end(&self) -> Result<(), LabError> {
        match (self.guest.process(), &self.pool) {
            (Some(process), Some(_)) => process.end(),
            (Some(process), None) => process.kill(),
            (None, _) => Ok(()),
        }
    }

    /// Ends its machine, if it runs, and removes everything of it.
    pub(super) fn clear(&self) -> Result<(), LabError> {
        image_tool::end_below(&self.guest.folder);
        self.end()?;
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
