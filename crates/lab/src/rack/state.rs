//! The state stored in a lab's directory: written before the first guest is started, so that later
//! commands know what may be there.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stormeter_agent::GUEST_PORT;

use super::address::forwards;
use crate::error::{LabError, at};
use crate::image::Images;
use crate::model::{Lab, Storage};

/// The file.
pub(super) const FILE: &str = "lab.json";
/// Its successor, while it is being written.
pub(super) const NEW: &str = "lab.json.new";

/// A lab as it was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// Version of this file's format.
    pub(super) version: u32,
    /// The lab as described by its file.
    pub(super) lab: Lab,
    /// `kvm` or `tcg`.
    pub(super) accelerator: String,
    /// Why that accelerator was chosen.
    pub(super) why: String,
    /// The loopback addresses of the storage guests, in order.
    pub(super) addresses: Vec<String>,
    /// The loopback addresses of the VMs, in order; `None` for a VM without a network.
    pub(super) vm_addresses: Vec<Option<String>>,
    /// Writes to VMs' own disks are logged, so that their power can be cut.
    #[serde(default)]
    pub(super) logs_writes: bool,
    /// The images that the guests were started from and are restarted from.
    pub(super) images: Images,
}

/// The format version that is written.
pub(super) const VERSION: u32 = 4;

impl State {
    /// The forwards from this machine to a VM, in QEMU's syntax.
    pub(super) fn vm_forwards(&self, vm: usize) -> Vec<String> {
        let address = self.vm_addresses.get(vm).and_then(Option::as_deref);
        address.map(|address| forwards(address, &[GUEST_PORT])).unwrap_or_default()
    }

    /// Where clients of transfers reach a VM.
    pub(super) fn vm_address(&self, vm: usize) -> Option<SocketAddr> {
        let address = self.vm_addresses.get(vm)?.as_deref()?;
        Some((address.parse::<IpAddr>().ok()?, GUEST_PORT).into())
    }

    /// Replaces the file atomically.
    pub(super) fn write(&self, directory: &Path) -> Result<(), LabError> {
        let path = directory.join(FILE);
        let half = directory.join(NEW);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| at(&path)(std::io::Error::other(error)))?;
        fs::write(&half, text + "\n").map_err(at(&half))?;
        fs::rename(&half, &path).map_err(at(&path))
    }

    /// Reads the directory's state, if it has one of this version.
    pub(super) fn read(directory: &Path) -> Option<Self> {
        let text = fs::read_to_string(directory.join(FILE)).ok()?;
        let state: Self = serde_json::from_str(&text).ok()?;
        (state.version == VERSION).then_some(state)
    }
}

/// The names of a lab's guests, whatever the version of its file; `None` if it is not a lab's file. Names that
/// could lead out of the lab's directory are left out.
pub(super) fn names(directory: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(directory.join(FILE)).ok()?;
    let state: Value = serde_json::from_str(&text).ok()?;
    state.get("version")?.as_u64()?;
    let mut names = Vec::new();
    for kind in ["storage", "hosts", "vms"] {
        for guest in state.get("lab")?.get(kind)?.as_array()? {
            names.push(guest.get("name")?.as_str()?.to_owned());
        }
    }
    names.retain(|name| !name.is_empty() && !name.contains(['/', '.']));
    Some(names)
}

/// The name of a LUN's own target or subsystem.
pub(super) fn target_of(storage: &Storage, lun: usize) -> String {
    format!("{}.{}", target(storage), storage.luns[lun].name)
}

/// The name of a storage guest's iSCSI target (RFC 7143, section 4.2.7.3).
pub(super) fn target(storage: &Storage) -> String {
    format!("iqn.2026-01.stormeter.lab:{}", storage.name)
}
