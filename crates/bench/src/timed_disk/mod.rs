//! A disk whose service times are programmed, so that what a load generator measures on it can be
//! compared with another generator's, and with theory: a file in memory, served over FUSE by a process
//! of its own, behind a loop device with direct I/O, which has a queue as real disks do.
//!
//! A request's time is set when it comes in ([`schedule`]); a thread answers each when its time has
//! come. What the way there and back adds (FUSE, the loop device, being woken) is the path's own time.

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
