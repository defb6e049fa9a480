//! The power of guests, cut and restored.
//!
//! A guest whose power is cut loses its memory. This machine's page cache survives, though a guest's disk on it stands
//! for a disk with a volatile cache: in a lab that was started for power cuts, the contents of VMs' own disks are those
//! that a loss of power leaves ([`crate::qemu::write_log`]).

use std::path::{Path, PathBuf};

use super::directory::{Directory, guest, started};
use super::restart::start_again;
use super::state::State;
use super::write_logs::lose_caches;
use crate::error::LabError;

/// A running lab whose guests can lose their power.
#[derive(Debug)]
pub struct Power {
    directory: PathBuf,
    state: State,
}

impl Power {
    /// Opens the lab in `directory`.
    ///
    /// # Errors
    /// There is no lab, or it belongs to another user.
    pub fn open(directory: &Path) -> Result<Self, LabError> {
        let (directory, state) = started(directory)?;
        Ok(Self { directory, state })
    }

    /// Cuts the power of these guests.
    ///
    /// # Errors
    /// One of them does not run.
    pub fn cut(&self, names: &[String]) -> Result<(), LabError> {
        let _lock = Directory::open(&self.directory)?;
        for name in names {
            let guest = guest(&self.directory, name);
            guest.process().ok_or_else(|| guest.failed("does not run"))?.kill()?;
        }
        Ok(())
    }

    /// Starts these guests again, storage guests first. What of a disk's cache survived is drawn from `random`.
    ///
    /// # Errors
    /// A guest does not start.
    pub fn restore(
        &self,
        names: &[String],
        random: &mut dyn FnMut() -> u64,
    ) -> Result<(), LabError> {
        let _lock = Directory::open(&self.directory)?;
        let lab = &self.state.lab;
        let vms = lab.vms.iter().filter(|vm| names.contains(&vm.name));
        for vm in vms.filter(|_| self.state.logs_writes) {
            lose_caches(&self.directory, vm, random)?;
        }
        for name in lab.names().filter(|name| names.iter().any(|other| other == name)) {
            start_again(&self.directory, &self.state, name)?;
        }
        Ok(())
    }
}
