//! Whether a file system has room for the disks and keeps enough free for everybody else.

use std::path::Path;

use nix::sys::statvfs::{FsFlags, statvfs};
use stormeter_units::format_bytes;

use crate::DatastoreError;

/// Space on the file system of a datastore, in bytes.
///
/// For several datastores on one file system (the same [`Description::device_number`]), take the
/// space of one, add the `held_bytes` of the others, and check the sum of what all need.
///
/// [`Description::device_number`]: crate::Description::device_number
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// What this user may still write.
    pub free_bytes: u64,
    /// What must stay free: a tenth of the file system.
    pub reserve_bytes: u64,
    /// What disks of this run already occupy; they are reused, or removed before others are
    /// created.
    pub held_bytes: u64,
    pub(crate) total_bytes: u64,
    pub(crate) read_only: bool,
}

impl Space {
    /// Asks the file system.
    // The types of the fields differ between C libraries.
    #[allow(clippy::unnecessary_cast)]
    pub(crate) fn of(path: &Path) -> Result<Self, DatastoreError> {
        let stat = statvfs(path)
            .map_err(|errno| DatastoreError::system("read the free space of", path, errno))?;
        let unit = stat.fragment_size() as u64;
        let total_bytes = (stat.blocks() as u64).saturating_mul(unit);
        Ok(Self {
            total_bytes,
            reserve_bytes: total_bytes / 10,
            held_bytes: 0,
            free_bytes: (stat.blocks_available() as u64).saturating_mul(unit),
            read_only: stat.flags().contains(FsFlags::ST_RDONLY),
        })
    }

    /// Refuses disks that would not leave a tenth of the file system free. A file system that reports no
    /// size at all (some FUSE file systems) cannot be judged and is accepted.
    ///
    /// # Errors
    /// [`DatastoreError::Space`], which names `path`.
    pub fn check(&self, needed_bytes: u64, path: &Path) -> Result<(), DatastoreError> {
        let free_bytes = self.free_bytes.saturating_add(self.held_bytes);
        let fits = needed_bytes.saturating_add(self.reserve_bytes) <= free_bytes;
        if needed_bytes == 0 || self.total_bytes == 0 || fits {
            return Ok(());
        }
        Err(DatastoreError::Space {
            path: path.into(),
            needed: format_bytes(needed_bytes),
            free: format_bytes(free_bytes),
            reserve: format_bytes(self.reserve_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_stays_free() {
        let space = Space {
            total_bytes: 1000 << 20,
            free_bytes: 250 << 20,
            reserve_bytes: 100 << 20,
            held_bytes: 50 << 20,
            read_only: false,
        };
        let path = Path::new("/srv");
        assert!(space.check(200 << 20, path).is_ok());
        let text = space.check((200 << 20) + 1, path).unwrap_err().to_string();
        for part in
            ["need 200MiB", "300MiB is free", "100MiB (10 % of it)", "smaller disks or fewer VMs"]
        {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        assert!(space.check(u64::MAX, path).is_err());
        let unknown = Space { total_bytes: 0, free_bytes: 0, held_bytes: 0, ..space };
        assert!(unknown.check(1, path).is_ok());
    }

    #[test]
    fn a_real_file_system_answers() {
        let space = Space::of(&std::env::temp_dir()).unwrap();
        assert!(space.total_bytes >= space.free_bytes && !space.read_only);
    }
}
