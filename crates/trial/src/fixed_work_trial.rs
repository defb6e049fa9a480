//! The description of fixed work on one thread: a plain value, like [`crate::Trial`].

use serde::{Deserialize, Serialize};

use crate::fixed_work::{Deployment, FileTest, Transfer, TransferSink};
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

/// The work of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedWorkTrial {
    /// The work.
    pub fixed_work: FixedWork,
    /// Number, over all threads, of this thread's first worker, which is also that of its disk.
    pub first_disk: u32,
    /// Number of workers of this thread, each with its own disk. In operations the disks are
    /// numbered from 0; the template of a deployment comes after them, with this number.
    pub disks: u32,
    /// Size of each disk, and of the template.
    pub disk_bytes: u64,
    /// The seed of orders and offsets.
    pub seed: u64,
    /// The seed of written contents.
    pub content_seed: u64,
    /// Length of an interval row.
    pub interval_ns: u64,
    /// When to give up; `open_loop_outstanding` is not used here.
    pub limits: Limits,
}

/// Fixed work that cannot be done, and what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FixedWorkError {
    /// There are no workers, or no disks.
    #[error("fixed work needs at least one VM: give one or more")]
    NoWorkers,
    /// No I/O would be outstanding.
    #[error("nothing would ever be outstanding: give one outstanding I/O or more")]
    NoOutstanding,
    /// A size is zero.
    #[error("{what} of 0 bytes: give a size such as 4KiB")]
    Empty {
        /// The name of the size.
        what: &'static str,
    },
    /// A disk is too small for a record.
    #[error(
        "{what} of {bytes} bytes is larger than the disk of {disk_bytes}: give a larger disk, or \
         something smaller"
    )]
    TooLarge {
        /// The name of the size.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// Size of the disk.
        disk_bytes: u64,
    },
    /// The interval is zero.
    #[error("an interval of 0 s: give the interval rows a length, such as 1s")]
    Interval,
    /// The function for another kind of work was called.
    #[error("a {given} was given to what does a {done}: call the function of its kind")]
    OtherWork {
        /// The kind of work in the trial.
        given: &'static str,
        /// The kind of work that the function does.
        done: &'static str,
    },
}

/// Size of the small I/Os of a deployment in bytes: the file system block of most guests.
pub const SMALL_BYTES: u32 = 4096;
/// Writes take buffers in turn, enough bytes of them that no window of compressing storage contains
/// the same data twice (records and windows of ZFS, btrfs and similar are at most 1 MiB).
const ROTATION_BYTES: u32 = 4 << 20;

impl Transfer {
    /// Offsets and lengths of a server's I/Os are multiples of this, as direct I/O requires.
    pub const BLOCK_BYTES: u32 = 4096;

    /// Checks that this many pairs of client and server, on disks of this size, can do the work.
    ///
    /// # Errors
    /// What would make it endless or meaningless; see [`FixedWorkError`].
    pub fn check(&self, vms: u32, disk_bytes: u64, interval_ns: u64) -> Result<(), FixedWorkError> {
        if vms == 0 {
            return Err(FixedWorkError::NoWorkers);
        }
        if interval_ns == 0 {
            return Err(FixedWorkError::Interval);
        }
        if self.message_bytes == 0 {
            return Err(FixedWorkError::Empty { what: "a message" });
        }
        if self.messages == 0 {
            return Err(FixedWorkError::Empty { what: "a transfer" });
        }
        let bytes = u64::from(Self::BLOCK_BYTES);
        if self.sink == TransferSink::Disk && disk_bytes < bytes {
            return Err(FixedWorkError::TooLarge { what: "a block", bytes, disk_bytes });
        }
        Ok(())
    }
}

impl FixedWorkTrial {
    /// Checks that the fixed work can be done.
    ///
    /// # Errors
    /// What would make it endless or meaningless; see [`FixedWorkError`].
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
                if !deployment.clone {
                    fits("a copy", deployment.copy_bytes)?;
                }
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

    /// Number of disks to open: those of the workers, and the template after them.
    pub fn disks_opened(&self) -> u32 {
        self.disks + u32::from(matches!(self.fixed_work, FixedWork::Deploy(_)))
    }

    /// Offsets and lengths of all I/Os are multiples of this, for disks whose size is one too.
    pub fn granularity_bytes(&self) -> u32 {
        match self.fixed_work {
            FixedWork::File(test) => test.record_bytes,
            FixedWork::Deploy(deployment) => {
                1 << deployment.copy_bytes.trailing_zeros().min(SMALL_BYTES.trailing_zeros())
            }
        }
    }

    /// I/Os outstanding per worker.
    pub fn outstanding(&self) -> u32 {
        match self.fixed_work {
            FixedWork::File(test) => test.outstanding,
            FixedWork::Deploy(deployment) => deployment.outstanding,
        }
    }

    /// I/Os that may be outstanding on all disks together.
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
