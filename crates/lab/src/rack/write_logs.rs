//! The logs of what is written to VMs' own disks, and the contents that these disks have after a loss of power.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::plan::{earlier_contents, local_file, write_log};
use crate::error::{LabError, at};
use crate::model::{Datastore, DiskFormat, Vm};
use crate::qemu::survive;

/// Prepares the files with which the writes to a VM's own disks are logged.
pub(super) fn prepare_logs(directory: &Path, vm: &Vm) -> Result<(), LabError> {
    for (file, log) in logged(directory, vm) {
        let earlier = earlier_contents(&file);
        fs::copy(&file, &earlier).map_err(at(&earlier))?;
        File::create(&log).map_err(at(&log))?;
    }
    Ok(())
}

/// Gives the disks of a VM that was cut off the contents that a loss of power leaves.
pub(super) fn lose_caches(
    directory: &Path,
    vm: &Vm,
    random: &mut dyn FnMut() -> u64,
) -> Result<(), LabError> {
    for (file, log) in logged(directory, vm) {
        let earlier = earlier_contents(&file);
        let disk = File::options().read(true).write(true).open(&earlier).map_err(at(&earlier))?;
        let mut written = File::open(&log).map_err(at(&log))?;
        survive(&mut written, &disk, random).map_err(at(&log))?;
        fs::copy(&earlier, &file).map_err(at(&file))?;
        File::create(&log).map_err(at(&log))?;
    }
    Ok(())
}

/// The files of a VM's disks whose writes are logged, and their logs.
fn logged<'a>(directory: &'a Path, vm: &'a Vm) -> impl Iterator<Item = (PathBuf, PathBuf)> + 'a {
    let local = vm
        .disks
        .iter()
        .filter(|disk| disk.datastore == Datastore::Local && disk.format == DiskFormat::Raw);
    local.map(|disk| {
        let file = local_file(directory, vm, disk);
        let log = write_log(&file);
        (file, log)
    })
}
