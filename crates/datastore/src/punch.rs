//! Frees blocks: a hole in a file, a discard on a block device.
//!
//! One call of the kernel does both (fallocate(2), `FALLOC_FL_PUNCH_HOLE`; on a block device since Linux
//! 4.9): the range reads as zeros afterwards, and file system and device learn that its blocks are
//! free. It fails on a device that can only forget blocks (BLKDISCARD) without promising zeros.

use std::fs::File;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

use crate::DatastoreError;

/// Frees the blocks of a range. The size of the file stays the same.
pub(crate) fn punch_hole(file: &File, offset_bytes: u64, bytes: u64) -> Result<(), Errno> {
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    loop {
        match fallocate(file, flags, offset_bytes as i64, bytes as i64) {
            Err(Errno::EINTR) => {}
            result => return result,
        }
    }
}

/// The error that fits the kernel's refusal.
pub(crate) fn not_punched(path: &Path, errno: Errno) -> DatastoreError {
    match errno {
        Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::ENODEV => DatastoreError::NoDiscard {
            path: path.into(),
            reason: "neither holes nor discards are supported there".into(),
        },
        errno => DatastoreError::system("discard", path, errno),
    }
}
