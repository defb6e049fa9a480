//! The description of one trial on one thread: a plain value, the same in process and through a
//! pipe to an agent.

use serde::{Deserialize, Serialize};

use crate::start::Start;
use crate::workload::{Arrivals, FlushEvery, Workload, WorkloadError};

/// The load of one thread, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The I/O of each disk.
    pub workload: Workload,
    /// Number, over all threads, of this thread's first disk: determines its operations.
    pub first_disk: u32,
    /// Number of disks that this thread drives. In operations they are numbered from 0.
    pub disks: u32,
    /// Size of each disk.
    pub disk_bytes: u64,
    /// The seed of the operations.
    pub seed: u64,
    /// Where sequential streams start: different from other trials on the same disks.
    #[serde(default)]
    pub start: Start,
    /// The seed of written contents: differs from that of any other trial, on this datastore or another.
    #[serde(default)]
    pub content_seed: u64,
    /// Load before the window opens.
    pub ramp_ns: u64,
    /// Length of the window.
    pub duration_ns: u64,
    /// Length of an interval row.
    pub interval_ns: u64,
    /// When to give up.
    pub limits: Limits,
    /// Whether every read is verified against what was written.
    #[serde(default)]
    pub verify: bool,
}

/// When to give up a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Nothing has completed for this long although I/Os are outstanding.
    pub stall_ns: u64,
    /// This many I/Os failed or were short.
    pub max_io_failures: u64,
    /// The most I/Os of an open loop outstanding on this thread; those that fall due beyond it
    /// wait, and their latency counts from when they were due.
    pub open_loop_outstanding: u32,
    /// In an open loop the last part of each wait, this long, is spent awake: a system wakes a sleeper tens
    /// of microseconds late, which would delay every request that falls due. 0: none, which is required if
    /// the clock only advances while waiting, and recommended if no CPU is free.
    #[serde(default)]
    pub awake_ns: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stall_ns: 30_000_000_000,
            max_io_failures: 1000,
            open_loop_outstanding: 1024,
            awake_ns: 0,
        }
    }
}

/// The buffers that a trial needs from its disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferNeeds {
    /// Number of buffers.
    pub count: u32,
    /// Size of each: the largest request.
    pub bytes: u32,
    /// The most operations outstanding at once, flushes included. Their slot numbers are below this.
    pub in_flight: u32,
}

impl Trial {
    /// Whether the trial can be driven.
    pub fn check(&self) -> Result<(), WorkloadError> {
        self.workload.check(self.disk_bytes)?;
        if self.verify {
            self.workload.check_verify(self.disk_bytes)?;
            if self.workload.arrivals.rate_per_s().is_some() {
                // All outstanding operations may be on one disk.
                self.workload.check_verify_room(self.disk_bytes, self.slots())?;
            }
        }
        Ok(())
    }

    /// What the disks have to provide.
    pub fn buffer_needs(&self) -> BufferNeeds {
        let slots = self.slots();
        // Reads and writes have separate buffers, so that data that was read is never written
        // elsewhere, and one more has the duplicate block.
        let count = self.write_buffers() + slots + 1;
        let in_flight = slots.saturating_add(self.flush_slots());
        BufferNeeds { count, bytes: self.workload.largest_bytes(), in_flight }
    }

    /// How many buffers writes take in turn: more than can be outstanding, and enough bytes that no
    /// window of compressing storage contains the same data twice.
    pub fn write_buffers(&self) -> u32 {
        /// Records and windows of ZFS, btrfs and similar are at most 1 MiB.
        const ROTATION_BYTES: u32 = 4 << 20;
        if self.workload.read_percent >= 100.0 {
            return 0;
        }
        let rotation = ROTATION_BYTES / self.workload.largest_bytes().next_multiple_of(4096).max(1);
        rotation.max(self.slots() + 1)
    }

    /// Whether the slot of a write waits for the flush that the write makes due ([`FlushEvery`]).
    pub fn slot_waits_for_flush(&self) -> bool {
        let Workload { arrivals, burst, flush, .. } = &self.workload;
        matches!(arrivals, Arrivals::Closed { .. })
            && burst.is_none()
            && matches!(flush, Some(FlushEvery::Writes { .. }))
    }

    /// The most flushes that can be outstanding. Their slots follow those of the I/Os.
    pub fn flush_slots(&self) -> u32 {
        match self.workload.flush {
            None => 0,
            Some(_) if self.slot_waits_for_flush() => self.slots(),
            Some(_) => self.disks,
        }
    }

    /// The most I/Os that can be outstanding.
    pub fn slots(&self) -> u32 {
        match self.workload.arrivals {
            Arrivals::Closed { outstanding } => outstanding.saturating_mul(self.disks),
            Arrivals::Constant { .. } | Arrivals::Poisson { .. } => {
                self.limits.open_loop_outstanding.max(1)
            }
        }
    }
}
