//! A guest comes up again, as a machine does whose power was cut: with the disks that it had, and nothing
//! in its memory. It is booted, not cloned: how long that takes is part of what is measured.

use std::path::Path;

use super::address::{forwards, storage_ports};
use super::clone::{Common, bring_up};
use super::directory::guest;
use super::plan::{export_in_use, storage_hardware, vm_hardware};
use super::secrets::Secrets;
use super::setup::{Disks, script};
use super::snapshot::layer;
use super::state::State;
use super::up::{limit_disks, set_up};
use crate::error::LabError;
use crate::qemu::Accelerator;
use crate::wiring::channels;

/// Ends the guest `name`, if it runs, and starts it; back when it serves.
pub(super) fn start_again(directory: &Path, state: &State, name: &str) -> Result<(), LabError> {
    let State { lab, addresses, images, .. } = state;
    let guest = guest(directory, name);
    if let Some(process) = guest.process() {
        process.kill()?;
    }
    let layer = layer(directory)?;
    let common = Common { images, accelerator: Accelerator::from_name(&state.accelerator) };
    if let Some(index) = lab.storage.iter().position(|storage| storage.name == name) {
        let storage = &lab.storage[index];
        let hardware = storage_hardware(directory, lab, index).since(layer);
        let ports = storage_ports(export_in_use(lab, index).is_some());
        let forwards = forwards(&addresses[index], &ports);
        bring_up(common, &guest, &hardware, None, &forwards, &mut || true)?;
        let secrets = Secrets::read(lab)?;
        set_up(&guest, &script(lab, index, Disks::Kept, &channels(lab), &secrets))?;
        return limit_disks(&guest, storage);
    }
    let index = lab.vms.iter().position(|vm| vm.name == name);
    let index = index.ok_or_else(|| guest.failed("is no guest of the lab"))?;
    let hardware = vm_hardware(directory, lab, &lab.vms[index], addresses).since(layer);
    let forwards = state.vm_forwards(index);
    bring_up(common, &guest, &hardware, None, &forwards, &mut || true).map(drop)
}
