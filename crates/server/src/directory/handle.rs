//! File handles, which clients keep and which must remain valid after a restart.
//!
//! A handle consists of what the file system itself stores, inode number and birth time, so that a
//! restarted server understands the handles of its predecessor. The birth time distinguishes a file
//! from a later one with the same inode number. File systems without birth times give zero, and the
//! inode number has to suffice.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

/// Identifies a file or directory of the shared file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Handle {
    pub(crate) inode: u64,
    born_ns: u64,
}

/// The length of every handle.
pub(crate) const HANDLE_BYTES: usize = 16;

impl Handle {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born_ns = born.map_or(0, |since| since.as_nanos() as u64);
        Self { inode: metadata.ino(), born_ns }
    }

    pub(crate) fn encode(self) -> [u8; HANDLE_BYTES] {
        let both = (u128::from(self.inode) << 64) | u128::from(self.born_ns);
        both.to_be_bytes()
    }

    /// `None` if the bytes were never a handle of this kind of server.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let both = u128::from_be_bytes(bytes.try_into().ok()?);
        Some(Self { inode: (both >> 64) as u64, born_ns: both as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_survives_its_journey() {
        let file = tempfile::tempfile().unwrap();
        let handle = Handle::of(&file.metadata().unwrap());
        assert_eq!(Handle::decode(&handle.encode()), Some(handle));
        assert_eq!(Handle::decode(&[0; 15]), None);
        assert_eq!(Handle::decode(&[0; 17]), None);
    }
}
