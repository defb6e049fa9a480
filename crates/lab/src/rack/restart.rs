//! Restarts a guest, like a machine after a power cut: with its disks, and nothing in memory. It is
//! booted, not cloned: the boot time is part of what is measured.

use std::path::Path;

use super::address::{forwards, storage_ports};
use super::clone::{Common, bring_up};
use super::directory::{self, guest};
use super::mounts;
use super::on_disks::Disks;
use super::plan::{
    FarEnd, export_in_use, far_ends, host_hardware, router_hardware, storage_hardware, vm_hardware,
};
use super::router;
use super::secrets::Secrets;
use super::setup::script;
use super::snapshot::layer;
use super::state::State;
use super::up::{limit_disks, set_up};
use crate::error::LabError;
use crate::links::Node;
use crate::model::Lab;
use crate::qemu::folder::seen_by;
use crate::qemu::{Accelerator, Guest, plug_in, unplug};
use crate::wiring::channels;

/// Ends the guest `name`, if it runs, and starts it; returns when it serves.
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
    if let Some(index) = lab.routers.iter().position(|router| router.name == name) {
        let hardware = router_hardware(directory, lab, index);
        let start = || bring_up(common, &guest, &hardware, None, &[], &mut || true).map(drop);
        with_cables(directory, lab, Node::Router(index), start)?;
        return set_up(&guest, &router::script(lab, index));
    }
    if let Some(index) = lab.hosts.iter().position(|host| host.name == name) {
        let hardware = host_hardware(directory, lab, index);
        let start = || bring_up(common, &guest, &hardware, None, &[], &mut || true).map(drop);
        with_cables(directory, lab, Node::Host(index), start)?;
        let secrets = Secrets::read(lab)?;
        return set_up(&guest, &mounts::script(lab, index, &channels(lab), &secrets));
    }
    let index = lab.vms.iter().position(|vm| vm.name == name);
    let index = index.ok_or_else(|| guest.failed("is not a guest of the lab"))?;
    let hardware =
        vm_hardware(directory, lab, &lab.vms[index], addresses, state.logs_writes).since(layer);
    let forwards = state.vm_forwards(index);
    bring_up(common, &guest, &hardware, None, &forwards, &mut || true).map(drop)
}

/// Starts a guest, and reconnects the cables at whose sockets it listens.
fn with_cables(
    directory: &Path,
    lab: &Lab,
    node: Node,
    start: impl FnOnce() -> Result<(), LabError>,
) -> Result<(), LabError> {
    // A guest that is not running connects when it is started.
    let ends: Vec<(Guest, FarEnd)> = far_ends(directory, lab, node)
        .into_iter()
        .map(|end| (directory::guest(directory, &end.guest), end))
        .filter(|(guest, _)| guest.process().is_some())
        .collect();
    for (guest, end) in &ends {
        unplug(&mut guest.connect()?, end.port)?;
    }
    start()?;
    for (guest, end) in &ends {
        let mut qmp = guest.connect()?;
        let path = match guest.process() {
            Some(process) => seen_by(&process, &end.path),
            None => end.path.clone(),
        };
        plug_in(&mut qmp, end.port, &path)?;
    }
    Ok(())
}
