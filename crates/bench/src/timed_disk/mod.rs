//! A disk with programmed service times, so that a load generator's measurements on it can be compared
//! with another generator's, and with theory: a file in memory, served over FUSE by a separate
//! process, behind a loop device with direct I/O, which has a queue like real disks.
//!
//! A request's completion time is determined when it arrives ([`schedule`]); a thread answers each at
//! that time. The overhead of the path (FUSE, the loop device, wake-ups) is accounted for separately.

mod attached;
pub(crate) mod schedule;
#[cfg(feature = "agreement")]
mod server;
#[cfg(not(feature = "agreement"))]
#[path = "no_server.rs"]
mod server;
mod twin;

pub(crate) use attached::TimedDisk;
pub(crate) use server::serve;
pub(crate) use twin::expected;

/// The file's name.
const FILE: &str = "disk";
