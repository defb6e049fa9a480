//! The description of fixed work on one thread: a plain value, as [`crate::Trial`] is.

use serde::{Deserialize, Serialize};

use crate::fixed_work::{Deployment, FileTest};
use crate::trial::{BufferNeeds, Limits};

/// A trial of fixed work that is done on virtual disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "work")]
pub enum FixedWork {
    /// One pass over a file: the driver's `drive_file_test`.
    File(FileTest),
    /// VMs deployed from a template: the driver's `drive_deployment`.
    Deploy(Deployment),
}

/// What one thread is to do until it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedWorkTrial {
    /// What.
    pub fixed_work: FixedWork,
    /// Number, over all threads, of this thread's first worker, which is also its disk's.
    pub first_disk: u32,
    /// How many workers this thread has, each with a disk of its own. In operations the disks are
    /// numbered from 0; the template of a deployment comes behind them, with this number.
    pub disks: u32,
    /// Size of each disk, and of the template.
    pub disk_bytes: u64,
    /// Orders and offsets follow from it.
    pub seed: u64,
    /// What is written follows from it.
    pub content_seed: u64,
    /// Length of an interval row.
    pub interval_ns: u64,
    /// When to give up; `open_loop_outstanding` has no meaning here.
    pub limits: Limits,
}

/// A trial of fixed work that cannot be done, and what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FixedWorkError {
    /// Nobody works, or without disks.
    #[error("fixed work needs at least one VM: give one or more")]
    NoWorkers,
    /// Not one I/O is outstanding.
    #[error("nothing would ever be outstanding: give one outstanding I/O or more")]
    NoOutstanding,
    /// No bytes.
    #[error("{what} of 0 bytes: give a size such as 4KiB")]
    Empty {
        /// What has no bytes.
        what: &'static str,
    },
    /// A disk that holds no record.
    #[error(
        "{what} of {bytes} bytes is larger than the disk of {disk_bytes}: give a larger disk, or \
         something smaller"
    )]
    TooLarge {
        /// What.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The disk's.
        disk_bytes: u64,
    },
    /// Rows of no length have no end.
    #[error("an interval of 0 s: give the interval rows a length, such as 1s")]
    Interval,
    /// The function for another kind of work was called.
    #[error("a {given} was given to what does a {done}: call the function of its kind")]
    OtherWork {
        /// What the trial holds.
        given: &'static str,
        /// What the function does.
        done: &'static str,
    },
}

/// Bytes of the small I/Os of a deployment: the block of the file systems of most guests.
pub const SMALL_BYTES: u32 = 4096;
/// Writes take buffers in turn, so many bytes of them that no window of a compressing store holds the
/// same content twice (records and windows of ZFS, btrfs and their like are at most 1 MiB).
const ROTATION_BYTES: u32 = 4 << 20;

impl FixedWorkTrial {
    /// Whether the fixed work can be done.
    ///
    /// # Errors
    /// What would make it endless or senseless; see [`FixedWorkError`].
    pub fn check(&self) -> Result<(), FixedWorkError> {
        if self.disks == 0 {
            return Err(FixedWorkError::NoWorkers);
        }
        if self.interval_ns == 0 {
            return Err(FixedWorkError::Interval);
        }
        if self.outstanding() == 0 {
            return Err(FixedWorkError::NoOutstanding);
        }
        let disk_bytes = self.disk_bytes;
        let fits = |what, bytes: u32| match u64::from(bytes) {
            0 => Err(FixedWorkError::Empty { what }),
            bytes if bytes > disk_bytes => {
                Err(FixedWorkError::TooLarge { what, bytes, disk_bytes })
            }
            _ => Ok(()),
        };
        match self.fixed_work {
            FixedWork::File(test) => fits("a record", test.record_bytes),
            FixedWork::Deploy(deployment) => {
                fits("a copy", deployment.copy_bytes)?;
                fits("a block", SMALL_BYTES)
            }
        }
    }

    /// What the disks have to provide.
    pub fn buffer_needs(&self) -> BufferNeeds {
        let in_flight = self.slots();
        match self.fixed_work {
            FixedWork::File(test) => BufferNeeds {
                count: self.write_buffers() + in_flight,
                bytes: test.record_bytes,
                in_flight,
            },
            FixedWork::Deploy(deployment) => BufferNeeds {
                count: in_flight,
                bytes: deployment.copy_bytes.max(SMALL_BYTES),
                in_flight,
            },
        }
    }

    /// How many disks are to be opened: those of the workers, and the template behind them.
    pub fn disks_opened(&self) -> u32 {
        self.disks + u32::from(matches!(self.fixed_work, FixedWork::Deploy(_)))
    }

    /// Offsets and lengths of all I/Os are multiples of this, for disks whose size is one.
    pub fn granularity_bytes(&self) -> u32 {
        match self.fixed_work {
            FixedWork::File(test) => test.record_bytes,
            FixedWork::Deploy(deployment) => {
                1 << deployment.copy_bytes.trailing_zeros().min(SMALL_BYTES.trailing_zeros())
            }
        }
    }

    /// I/Os outstanding of each worker.
    pub fn outstanding(&self) -> u32 {
        match self.fixed_work {
            FixedWork::File(test) => test.outstanding,
            FixedWork::Deploy(deployment) => deployment.outstanding,
        }
    }

    /// I/Os that may be outstanding at all disks together.
    pub fn slots(&self) -> u32 {
        self.outstanding().saturating_mul(self.disks)
    }

    /// How many buffers the writes of a file test take in turn: more than can be outstanding.
    pub fn write_buffers(&self) -> u32 {
        match self.fixed_work {
            FixedWork::File(test) if !test.operation.reads() => {
                let rotation = ROTATION_BYTES / test.record_bytes.next_multiple_of(4096).max(1);
                rotation.max(self.slots() + 1)
            }
            _ => 0,
        }
    }
}
