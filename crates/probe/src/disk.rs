//! The directory that a listener uses for disk transfers, and the space reserved in it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::statvfs::statvfs;

use crate::ProbeError;
use crate::folder::Folder;
use crate::refusal::RefusalReason;
use crate::space::spare_bytes;

/// The directory, shared by all connections.
pub(crate) struct Disk {
    directory: PathBuf,
    promised_bytes: Mutex<u64>,
}

/// A folder in it, and the space reserved for its file.
pub(crate) struct Promise<'a> {
    pub(crate) folder: Folder,
    length_bytes: u64,
    disk: &'a Disk,
}

impl Disk {
    /// Checks that a folder can be created there.
    pub(crate) fn open(directory: &Path) -> Result<Self, ProbeError> {
        Folder::create(directory)?;
        Ok(Self { directory: directory.into(), promised_bytes: Mutex::new(0) })
    }

    /// A folder for a file of this length, unless that would use up part of the tenth that stays
    /// free.
    // The types of the fields differ between the C libraries.
    #[allow(clippy::unnecessary_cast)]
    pub(crate) fn promise(&self, length_bytes: u64) -> Result<Promise<'_>, ProbeError> {
        let stat = statvfs(&self.directory).map_err(|errno| ProbeError::Disk {
            action: "read the free space of",
            path: self.directory.clone(),
            source: errno.into(),
        })?;
        let unit_bytes = stat.fragment_size() as u64;
        let total_bytes = (stat.blocks() as u64).saturating_mul(unit_bytes);
        let available_bytes = (stat.blocks_available() as u64).saturating_mul(unit_bytes);
        let folder = Folder::create(&self.directory)?;
        let mut promised_bytes = self.promised_bytes();
        let spare_bytes = spare_bytes(total_bytes, available_bytes, *promised_bytes);
        if length_bytes > spare_bytes {
            let reason = RefusalReason::NoSpace { available_bytes: spare_bytes };
            return Err(ProbeError::Refused(reason));
        }
        *promised_bytes = promised_bytes.saturating_add(length_bytes);
        Ok(Promise { folder, length_bytes, disk: self })
    }

    fn promised_bytes(&self) -> MutexGuard<'_, u64> {
        // The number is valid even if another thread panicked.
        self.promised_bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        let mut promised_bytes = self.disk.promised_bytes();
        *promised_bytes = promised_bytes.saturating_sub(self.length_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than half of what may be written, so that it fits once but not twice.
    fn most_bytes(disk: &Disk) -> u64 {
        match disk.promise(u64::MAX).err() {
            Some(ProbeError::Refused(RefusalReason::NoSpace { available_bytes })) => {
                available_bytes / 4 * 3
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_promised_is_not_promised_again_until_it_is_given_back() {
        let directory = tempfile::tempdir().unwrap();
        let disk = Disk::open(directory.path()).unwrap();
        let most_bytes = most_bytes(&disk);
        let promise = disk.promise(most_bytes).unwrap();
        let refused = disk.promise(most_bytes).err().unwrap();
        assert!(matches!(refused, ProbeError::Refused(RefusalReason::NoSpace { .. })));
        drop(promise);
        disk.promise(most_bytes).unwrap();
    }

    #[test]
    fn a_refusal_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let disk = Disk::open(directory.path()).unwrap();
        assert!(disk.promise(u64::MAX).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
