//! Requests and faults as a storage sees them, and what it reports.

use stormeter_disk::Kind;

/// A job's bit in [`Ready`]: its request failed.
pub(crate) const FAILED: u32 = 1 << 31;
/// A job's bit in [`Ready`]: its time was not the disks' but that of what is in front of them: it
/// waited for memory, or flash answered it.
pub(crate) const IN_FRONT: u32 = 1 << 30;
/// A job's bit in [`Ready`]: it spent most of its time waiting for space in a node's write buffer.
pub(crate) const FOR_ROOM: u32 = 1 << 29;

/// A request as a storage sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The job that waits for it.
    pub(crate) job: u32,
    pub(crate) kind: Kind,
    /// Which of the machine's virtual disks.
    pub(crate) disk: u32,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
    /// Whether it is background work: it may be done later, and leaves no trace in a cache.
    pub(crate) background: bool,
}

/// A fault of a disk of a storage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DiskFault {
    /// It is gone; its content is rebuilt if there is redundancy and a spare.
    Lost(u32),
    /// A new one takes its place, or that of the spare which has it.
    Replaced(u32),
    /// It takes this many times as long from now on; 1 restores its speed.
    Slow(u32, f64),
}

/// An array that lost more disks than it tolerates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outage {
    /// The component of its disks.
    pub(crate) component: u32,
    pub(crate) since_ns: u64,
    /// Disks that are lost or not rebuilt, of those that share redundancy.
    pub(crate) disks: u32,
    /// How many of them may be lost.
    pub(crate) bears: u32,
    /// Bytes that were only in its memory.
    pub(crate) dirty_bytes: u64,
}

/// The state of a write memory, cumulative since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fill {
    pub(crate) component: u32,
    pub(crate) capacity_bytes: u64,
    /// What the disks behind it do not have.
    pub(crate) dirty_bytes: u64,
    /// Bytes written to it.
    pub(crate) in_bytes: u64,
    /// Bytes that left it.
    pub(crate) out_bytes: u64,
}

/// A memory whose load brings this share of its size more than leaves it is filling.
const OF_CAPACITY: f64 = 0.02;
/// Unless it is less than this share of what arrived: then writes are as fast as what drains them.
const OF_CAME: f64 = 0.01;
/// Or more arrived than left, by this share,
const OF_DRAINED: f64 = 0.1;
/// and by this many bytes: less than that just happens to be in progress.
const LEAST_BYTES: u64 = 1 << 20;

impl Fill {
    /// The growth since an earlier state, in bytes; 0 unless so much more came than left that it is filling.
    ///
    /// What was dirty earlier does not count: a memory starts as full as an earlier load has left it, and none
    /// of that arrived.
    pub(crate) fn growth(&self, earlier: &Fill) -> u64 {
        let came = self.in_bytes - earlier.in_bytes;
        let went = self.out_bytes - earlier.out_bytes;
        let grown = came.saturating_sub(went);
        let of_capacity = grown as f64 > OF_CAPACITY * self.capacity_bytes as f64
            && grown as f64 > OF_CAME * came as f64;
        let of_drained = grown as f64 > OF_DRAINED * went as f64;
        if of_capacity || (of_drained && grown > LEAST_BYTES) { grown } else { 0 }
    }
}

/// A write memory that was taken to be full, because its load fills it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// The state in which it was found: what came in until then, and what left.
    pub(crate) before: Fill,
    /// The room that was left, which the load would have filled in time.
    pub(crate) room_bytes: u64,
}

/// Jobs that a storage has completed, with the bits [`FAILED`], [`IN_FRONT`] and [`FOR_ROOM`].
pub(crate) type Ready = Vec<u32>;
