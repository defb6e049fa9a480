//! A guest of a lab comes up: as a clone of a frozen one, or cold when there is none.

use serde_json::json;

use super::template::{BOOT, Template, ignore_shared, quoted};
use crate::error::LabError;
use crate::image::Images;
use crate::qemu::{Accelerator, Guest, Hardware, Memory, Port, Ram, spawn};

/// How a guest came up.
#[derive(Debug)]
pub(super) struct Up {
    /// Its control port.
    pub(super) port: Port,
    /// Why it was booted although there was a frozen guest.
    pub(super) cold_because: Option<String>,
}

/// What guests of one lab have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Common<'a> {
    pub(super) images: &'a Images,
    pub(super) accelerator: Accelerator,
}

/// Starts the guest and waits until it answers.
pub(super) fn bring_up(
    common: Common<'_>,
    guest: &Guest,
    hardware: &Hardware,
    template: Option<&Template>,
    forwards: &[String],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Up, LabError> {
    let Common { images, accelerator } = common;
    let mut cold_because = None;
    if let Some(template) = template {
        let memory = Memory { ram: Ram::Copied(template.ram.clone()), waits: true };
        // What is wrong with the disks is wrong with a cold guest, too.
        spawn(guest, hardware, images, accelerator, &memory, forwards)?;
        match thaw(guest, template).and_then(|()| guest.hello(BOOT, go_on)) {
            Ok((port, _)) => return Ok(Up { port, cold_because: None }),
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            Err(error) => cold_because = Some(error.to_string()),
        }
        if let Some(process) = guest.process() {
            process.end()?;
        }
    }
    let memory = Memory { ram: Ram::Own, waits: false };
    spawn(guest, hardware, images, accelerator, &memory, forwards)?;
    let (port, _) = guest.hello(BOOT, go_on)?;
    Ok(Up { port, cold_because })
}

fn thaw(guest: &Guest, template: &Template) -> Result<(), LabError> {
    let mut qmp = guest.connect()?;
    ignore_shared(&mut qmp)?;
    qmp.run("migrate-incoming", json!({"uri": format!("exec:cat {}", quoted(&template.state))}))?;
    qmp.wait_for_migration()?;
    qmp.run("cont", json!({})).map(|_| ())
}
