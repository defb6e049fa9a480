//! The limits of a disk, as QEMU's throttle groups have them.

use crate::model::DiskLimit;

/// Each limit that there is, by its name in QEMU.
pub(crate) fn named(limit: DiskLimit) -> impl Iterator<Item = (&'static str, u64)> {
    let iops = limit.iops.map(|iops| ("iops-total", iops.into()));
    iops.into_iter().chain(limit.bytes_per_s.map(|bytes| ("bps-total", bytes)))
}

/// The same limits, not in force: zero is none, and a group that there is can be given them later.
pub(crate) fn lifted(limit: DiskLimit) -> DiskLimit {
    DiskLimit { iops: limit.iops.map(|_| 0), bytes_per_s: limit.bytes_per_s.map(|_| 0) }
}
