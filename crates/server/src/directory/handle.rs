//! File handles: what a client holds on to, and what must still be good after a restart.
//!
//! A handle is made of what the file system itself remembers, inode number and time of birth, so
//! that a server started anew understands the handles that the one before gave out. The time of
//! birth tells a file from a later one that got its inode number. File systems that know no birth
//! give zero, and the inode number has to do.

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

    /// `None` for what was never a handle of this kind of server.
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
