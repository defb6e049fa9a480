//! The state in which every trial starts: all disks of a lab have the contents that they had at its
//! snapshot.
//!
//! A lab has one snapshot, of the disks of all storage guests and of the VMs' disks that are files here. Writes
//! since then are in a layer on each disk; a rollback replaces the layer with an empty one. Under a running
//! kernel this is sound only if that kernel caches nothing of the old contents: so exports are unmounted, arrays
//! and caches are taken apart, and afterwards all of them are reassembled from what is on the disks then. Clients
//! keep their connections, devices and file handles, and drop what they have cached. Nothing may use the storage
//! meanwhile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::directory::{Directory, NEW_SNAPSHOT, SNAPSHOT, guest, started};
use super::groups::{let_go, take_up};
use super::plan::{file_bytes, host_hardware, storage_hardware, vm_hardware};
use super::state::State;
use super::up::limit_disks;
use crate::error::{LabDirectory, LabError, at};
use crate::image::need_room;
use crate::model::{Datastore, DiskFormat, Lab};
use crate::qemu::{Guest, Hardware, Layers, Qmp, throttle};

/// Slow disks are released and reassembled with a few requests each.
const PATIENCE: Duration = Duration::from_secs(60);
/// Makes a host drop what it has cached of storage.
const FORGET: &str = "sync\n\
    echo 3 > /proc/sys/vm/drop_caches\n\
    for block in /sys/block/sd* /sys/block/nvme*n* /sys/block/dm-*; do\n\
    [ ! -b /dev/${block##*/} ] || blockdev --flushbufs /dev/${block##*/}\n\
    done\n";

/// The layer that the lab's disks have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    generation: u32,
    /// What is below the layers is a snapshot: merging the layers into it has not started.
    is_whole: bool,
}

/// The snapshot of a running lab.
#[derive(Debug)]
pub struct Snapshots {
    directory: PathBuf,
    state: State,
}

/// The layer of the disks of the lab in `directory`, if they have one.
pub(super) fn layer(directory: &Path) -> Result<Option<u32>, LabError> {
    Ok(Mark::read(directory)?.map(|mark| mark.generation))
}

impl Mark {
    fn read(directory: &Path) -> Result<Option<Self>, LabError> {
        let path = directory.join(SNAPSHOT);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| at(&path)(io::Error::other(error))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at(&path)(error)),
        }
    }

    /// Replaces the file atomically.
    fn write(self, directory: &Path) -> Result<(), LabError> {
        let (path, half) = (directory.join(SNAPSHOT), directory.join(NEW_SNAPSHOT));
        let text =
            serde_json::to_string(&self).map_err(|error| at(&path)(io::Error::other(error)))?;
        fs::write(&half, text + "\n").map_err(at(&half))?;
        fs::rename(&half, &path).map_err(at(&path))
    }
}

impl Snapshots {
    /// Opens the lab in `directory`.
    ///
    /// # Errors
    /// There is no lab, or it belongs to another user.
    pub fn open(directory: &Path) -> Result<Self, LabError> {
        let (directory, state) = started(directory)?;
        Ok(Self { directory, state })
    }

    /// Whether a snapshot could be taken and rolled back. Changes nothing.
    ///
    /// # Errors
    /// There is no space for later writes, a guest does not run, or a disk is of a kind whose contents
    /// cannot be changed while it is in use.
    pub fn check(&self) -> Result<(), LabError> {
        check_disks(&self.state.lab)?;
        for name in self.state.lab.names() {
            running(&guest(&self.directory, name))?;
        }
        let room = file_bytes(&self.state.lab);
        need_room("what is written after a snapshot", &self.directory, room, LabDirectory::Lab)
    }

    /// Takes the snapshot. An earlier one is dropped, and writes since then are kept.
    ///
    /// # Errors
    /// See [`Snapshots::check`]; or a guest failed to do its part.
    pub fn take(&mut self) -> Result<(), LabError> {
        let _lock = Directory::open(&self.directory)?;
        self.check()?;
        let mark = Mark::read(&self.directory)?;
        self.apart(|| {
            if let Some(Mark { generation, .. }) = mark {
                Mark { generation, is_whole: false }.write(&self.directory)?;
                self.each_disk(&mut |disk| disk.merge(generation))?;
            }
            self.renew(mark.map_or(1, |mark| mark.generation + 1))
        })
    }

    /// Restores all disks to the contents they had when the snapshot was taken.
    ///
    /// # Errors
    /// There is no snapshot, or a guest failed to do its part.
    pub fn roll_back(&mut self) -> Result<(), LabError> {
        let _lock = Directory::open(&self.directory)?;
        let Some(Mark { generation, is_whole: true }) = Mark::read(&self.directory)? else {
            return Err(LabError::NoSnapshot);
        };
        for name in self.state.lab.names() {
            running(&guest(&self.directory, name))?;
        }
        self.apart(|| self.renew(generation + 1))
    }

    /// Gives every disk an empty layer.
    fn renew(&self, generation: u32) -> Result<(), LabError> {
        self.each_disk(&mut |disk| disk.make(generation))?;
        // A guest that is started from now on uses it, whether it is under the disk already or not.
        Mark { generation, is_whole: true }.write(&self.directory)?;
        self.each_disk(&mut |disk| {
            disk.put(generation)?;
            disk.keep_only(generation)
        })
    }

    /// Does something to the disks while no kernel caches any of their contents.
    fn apart(&self, work: impl FnOnce() -> Result<(), LabError>) -> Result<(), LabError> {
        let State { lab, .. } = &self.state;
        let storage = |index: usize| guest(&self.directory, &lab.storage[index].name);
        self.hosts_forget()?;
        let mut result = Ok(());
        for index in 0..lab.storage.len() {
            result = result.and_then(|()| {
                limit(&storage(index), lab, index, false)?;
                tell(&storage(index), &let_go(lab, index))
            });
        }
        let mut result = result.and_then(|()| work());
        // Even after an error everything is served again.
        for index in 0..lab.storage.len() {
            let taken = tell(&storage(index), &take_up(lab, index));
            let limited = limit(&storage(index), lab, index, true);
            result = result.and(taken).and(limited);
        }
        result.and_then(|()| self.hosts_forget())
    }

    fn hosts_forget(&self) -> Result<(), LabError> {
        let mut hosts = self.state.lab.hosts.iter();
        hosts.try_for_each(|host| tell(&guest(&self.directory, &host.name), FORGET))
    }

    fn each_disk(
        &self,
        work: &mut dyn FnMut(&mut Layers<'_>) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        for (guest, hardware) in self.machines() {
            let mut qmp: Option<Qmp> = None;
            for (index, disk) in hardware.disks.iter().enumerate() {
                let qmp = match &mut qmp {
                    Some(qmp) => qmp,
                    None => qmp.insert(guest.connect()?),
                };
                if let Some(mut layers) = Layers::of(qmp, disk, index) {
                    work(&mut layers)?;
                }
            }
        }
        Ok(())
    }

    /// All guests with their machines.
    fn machines(&self) -> Vec<(Guest, Hardware)> {
        let State { lab, addresses, logs_writes, .. } = &self.state;
        let path = &self.directory;
        let storage = (0..lab.storage.len())
            .map(|index| (&lab.storage[index].name, storage_hardware(path, lab, index)));
        let hosts = (0..lab.hosts.len())
            .map(|index| (&lab.hosts[index].name, host_hardware(path, lab, index)));
        let vms = lab
            .vms
            .iter()
            .map(|vm| (&vm.name, vm_hardware(path, lab, vm, addresses, *logs_writes)));
        storage
            .chain(hosts)
            .chain(vms)
            .map(|(name, hardware)| (guest(path, name), hardware))
            .collect()
    }
}

/// QEMU itself reads and writes a qcow2 file on an export, and keeps its tables in memory.
fn check_disks(lab: &Lab) -> Result<(), LabError> {
    for vm in &lab.vms {
        for disk in &vm.disks {
            if disk.format == DiskFormat::Qcow2
                && matches!(disk.datastore, Datastore::Export { .. })
            {
                let disk = format!("{}.{}", vm.name, disk.name);
                return Err(LabError::SnapshotBelowQcow2 { disk });
            }
        }
    }
    Ok(())
}

fn running(guest: &Guest) -> Result<(), LabError> {
    match guest.process() {
        Some(_) => Ok(()),
        None => Err(guest.failed("does not run")),
    }
}

fn tell(guest: &Guest, script: &str) -> Result<(), LabError> {
    let failed = |error: io::Error| guest.failed(&format!("did not do it: {error}"));
    guest.control_port()?.set_up(script, PATIENCE).map_err(failed)
}

/// Sets the limits of a storage guest's disks, or removes them.
fn limit(guest: &Guest, lab: &Lab, index: usize, on: bool) -> Result<(), LabError> {
    let mut storage = lab.storage[index].clone();
    if !on {
        for disk in &mut storage.disks {
            disk.limit = throttle::lifted(disk.limit);
        }
    }
    limit_disks(guest, &storage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;
    use crate::rack::state::VERSION;

    fn lab(vm_format: &str) -> Lab {
        parse_lab(&format!(
            "storage: {{nas: {{disks: {{set: {{size: 96MiB, count: 2, raid: 1, latency: 1ms}}, \
             one: {{size: 64MiB, ssd-cache: {{size: 64MiB}}}}}}, \
             exports: {{files: set}}, luns: {{vm: one}}}}}}\n\
             vms: {{vm: {{disk: {{datastore: nas.files, size: 8MiB, format: {vm_format}}}}}}}\n"
        ))
        .unwrap()
    }

    #[test]
    fn what_qemu_has_tables_of_is_refused() {
        check_disks(&lab("raw")).unwrap();
        let error = check_disks(&lab("qcow2")).unwrap_err().to_string();
        assert!(error.contains("vm.disk") && error.contains("format: raw"), "{error}");
    }

    #[test]
    fn all_that_knows_of_a_disk_is_taken_apart_and_put_together_in_order() {
        let lab = lab("raw");
        let places = |text: &str, words: &[&str]| -> Vec<usize> {
            words
                .iter()
                .map(|word| text.find(word).unwrap_or_else(|| panic!("{word}: {text}")))
                .collect()
        };
        let down = let_go(&lab, 0);
        let order = places(
            &down,
            &[
                "exportfs -u '*:/export/files'",
                "umount /export/files",
                "suspend",
                "error",
                "mdadm --stop",
            ],
        );
        assert!(order.is_sorted(), "{down}");
        assert!(down.contains("cached-one"), "{down}");
        let up = take_up(&lab, 0);
        let order = places(
            &up,
            &[
                "flushbufs /dev/vda",
                "mdadm --assemble",
                "load array-set",
                "mount -t ext4",
                "exportfs -o",
            ],
        );
        assert!(order.is_sorted(), "{up}");
    }

    #[test]
    fn there_is_nothing_to_roll_back_to_before_a_snapshot() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("lab");
        let directory = Directory::claim(&path).unwrap();
        let nowhere = || PathBuf::from("/nonexistent");
        let state = State {
            version: VERSION,
            lab: lab("raw"),
            accelerator: "tcg".into(),
            why: "a test".into(),
            addresses: vec!["127.64.0.1".into()],
            vm_addresses: vec![None],
            logs_writes: false,
            images: crate::image::Images {
                system: nowhere(),
                kernel: nowhere(),
                storage: nowhere(),
                router: nowhere(),
                worker: nowhere(),
                host: nowhere(),
                server: nowhere(),
                others: Default::default(),
            },
        };
        state.write(&directory.path).unwrap();
        drop(directory);
        let mut snapshots = Snapshots::open(&path).unwrap();
        assert!(matches!(snapshots.roll_back(), Err(LabError::NoSnapshot)));
        let error = snapshots.take().unwrap_err().to_string();
        assert!(error.contains("nas does not run"), "{error}");
        // Layers that were being written into their files are no longer a snapshot.
        Mark { generation: 3, is_whole: false }.write(&path).unwrap();
        assert!(matches!(snapshots.roll_back(), Err(LabError::NoSnapshot)));
        assert_eq!(layer(&path).unwrap(), Some(3));
    }
}
