//! Brings up a guest of a lab: as a clone of a frozen one, or by booting if there is none.

use serde_json::json;

use super::template::{BOOT, Template, ignore_shared, quoted};
use crate::error::LabError;
use crate::image::Images;
use crate::qemu::{Accelerator, Guest, Hardware, Memory, Ram, spawn};

/// What the guests of a lab have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Common<'a> {
    pub(super) images: &'a Images,
    pub(super) accelerator: Accelerator,
}

/// Starts the guest and waits until it answers. If it was booted although a frozen one exists, returns the
/// reason.
pub(super) fn bring_up(
    common: Common<'_>,
    guest: &Guest,
    hardware: &Hardware,
    template: Option<&Template>,
    forwards: &[String],
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Option<String>, LabError> {
    let Common { images, accelerator } = common;
    let mut cold_because = None;
    if let Some(template) = template {
        let memory = Memory { ram: Ram::Copied(template.ram.clone()), waits: true };
        // A problem with the disks affects a booted guest as well.
        spawn(guest, hardware, images, accelerator, &memory, forwards)?;
        match thaw(guest, template).and_then(|()| guest.wait_for(hardware.kind, BOOT, keep_going)) {
            Ok(()) => return Ok(None),
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            Err(error) => cold_because = Some(error.to_string()),
        }
        if let Some(process) = guest.process() {
            process.end()?;
        }
    }
    let memory = Memory { ram: Ram::Own, waits: false };
    spawn(guest, hardware, images, accelerator, &memory, forwards)?;
    guest.wait_for(hardware.kind, BOOT, keep_going)?;
    Ok(cold_because)
}

/// Starts the guest without waiting until it answers: as a clone if there is a template, or booting.
pub(super) fn thawed(
    common: Common<'_>,
    guest: &Guest,
    hardware: &Hardware,
    template: Option<&Template>,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<(), LabError> {
    let Common { images, accelerator } = common;
    let memory = match template {
        Some(template) => Memory { ram: Ram::Copied(template.ram.clone()), waits: true },
        None => Memory { ram: Ram::Own, waits: false },
    };
    if !keep_going() {
        return Err(LabError::Interrupted);
    }
    spawn(guest, hardware, images, accelerator, &memory, &[])?;
    template.map_or(Ok(()), |template| thaw(guest, template))
}

fn thaw(guest: &Guest, template: &Template) -> Result<(), LabError> {
    let mut qmp = guest.connect()?;
    ignore_shared(&mut qmp)?;
    qmp.run("migrate-incoming", json!({"uri": format!("exec:cat {}", quoted(&template.state))}))?;
    qmp.wait_for_migration()?;
    qmp.run("cont", json!({})).map(|_| ())
}
