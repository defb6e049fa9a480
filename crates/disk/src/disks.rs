//! The disks that one thread drives.
//!
//! One value serves many virtual disks because one io_uring (and later one socket loop) does: a
//! thread with a thousand disks makes one system call for all of them, not a thousand.

use crate::operation::{Completion, Operation};

/// How long a reap may wait for a first completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Take what is there.
    No,
    /// Return at the first completion, or when this many nanoseconds have passed.
    AtMost(u64),
}

/// Virtual disks behind one submission and completion queue, with the buffers their I/O uses.
///
/// Errors of single operations arrive as completions; an `Err` from these methods means that the
/// queue itself no longer works and the trial must end.
pub trait Disks {
    /// Takes a batch. All of it will complete, once each, in any order. When the implementation
    /// passes it on is its own business, but nothing is held back beyond the next [`Disks::reap`].
    ///
    /// The buffer of a read belongs to the disks until its completion; several writes may share one.
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError>;

    /// Appends finished operations to `completions`, waiting as `wait` says if there are none yet.
    /// May return with none after a wait.
    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError>;

    /// The bytes of a buffer, to fill before a write or check after a read. `None` while an
    /// operation uses it, or where the disks keep no content (simulated ones). The buffer of a write
    /// may be in use for a moment after its completion: a server can answer before the kernel has sent
    /// the rest of what went out with it. Only [`Disks::reap`] lets go of it.
    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]>;

    /// Makes disk `disk` as a clone of disk `template`: the storage lets both share their blocks until they are written,
    /// and no byte passes through here. It completes on `slot` like an operation, with 0. Until then there is no disk
    /// `disk`, and no operation on it may be submitted.
    ///
    /// # Errors
    /// The disks were not opened for this, or cannot do it at all: unless implemented, none can.
    fn clone_disk(&mut self, template: u32, disk: u32, slot: u32) -> Result<(), DisksError> {
        let _ = (template, disk, slot);
        Err(DisksError {
            action: "cloning a disk",
            reason: "this storage has no clones, or its disks were opened without them".into(),
        })
    }
}

/// The I/O queue of the disks failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{action} failed: {reason}")]
pub struct DisksError {
    /// What was being attempted, in words: `submitting to io_uring`.
    pub action: &'static str,
    /// The reason that the system gave.
    pub reason: String,
}

impl<D: Disks + ?Sized> Disks for Box<D> {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        (**self).submit(operations)
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        (**self).reap(wait, completions)
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        (**self).buffer(buffer)
    }

    fn clone_disk(&mut self, template: u32, disk: u32, slot: u32) -> Result<(), DisksError> {
        (**self).clone_disk(template, disk, slot)
    }
}
