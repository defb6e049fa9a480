//! Whether guests run on the processor (KVM) or are emulated (TCG).
//!
//! Being able to open `/dev/kvm` proves little: if this machine is itself a guest, nested guests may
//! be extremely slow or crash. So a worker guest is started and has a few seconds to answer; most
//! machines need two. The result is cached until the machine is rebooted.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::accelerator::Accelerator;
use super::hardware::{Hardware, Kind};
use super::spawn::{Guest, Memory, Ram, spawn};
use crate::error::LabError;
use crate::image::{Images, key};

/// An accelerator and the reason for choosing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probed {
    pub(crate) accelerator: Accelerator,
    pub(crate) why: String,
}

/// How long a guest may take under KVM.
const PATIENCE: Duration = Duration::from_secs(8);
const DEVICE: &str = "/dev/kvm";

/// Finds out whether KVM works by starting a guest whose folder is `scratch`. `keep_going` is polled
/// meanwhile.
pub(crate) fn probe(
    images: &Images,
    scratch: &Path,
    say: &mut dyn FnMut(&str),
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Probed, LabError> {
    let tcg = |why: &str| Probed { accelerator: Accelerator::Tcg, why: why.into() };
    if !Path::new(DEVICE).exists() {
        return Ok(tcg("there is no /dev/kvm"));
    }
    if let Err(error) = fs::File::options().read(true).write(true).open(DEVICE) {
        return Ok(tcg(&format!("/dev/kvm cannot be opened: {error}")));
    }
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let kept = images.system.join(format!("kvm-{}", key(&[boot.as_bytes()])));
    match fs::read_to_string(&kept).ok().as_deref() {
        Some("yes") => return Ok(Probed { accelerator: Accelerator::Kvm, why: WORKS.into() }),
        Some("no") => return Ok(tcg(HANGS)),
        _ => {}
    }
    say("trying KVM");
    let guest = Guest { name: "kvm".into(), folder: scratch.into() };
    let hardware = Hardware {
        kind: Kind::Worker,
        suite: None,
        services: false,
        memory_bytes: 128 << 20,
        vcpus: 1,
        disks: Vec::new(),
        uplink: false,
        nics: Vec::new(),
    };
    let memory = Memory { ram: Ram::Own, waits: false };
    let answered = spawn(&guest, &hardware, images, Accelerator::Kvm, &memory, &[])
        .and_then(|()| guest.wait_for(Kind::Worker, PATIENCE, keep_going));
    if let Some(process) = guest.process() {
        process.end()?;
    }
    let _ = fs::remove_dir_all(&guest.folder);
    match answered {
        Err(LabError::Interrupted) => Err(LabError::Interrupted),
        // If it cannot be recorded, it is probed again next time.
        Ok(_) => {
            let _ = fs::write(&kept, "yes");
            Ok(Probed { accelerator: Accelerator::Kvm, why: WORKS.into() })
        }
        Err(_) => {
            let _ = fs::write(&kept, "no");
            Ok(tcg(HANGS))
        }
    }
}

const WORKS: &str = "a guest ran under KVM";
const HANGS: &str = "/dev/kvm is there, and no guest came up under it";
