//! A disk whose service times are computed: one file in a FUSE file system, whose requests are answered when a
//! [`Schedule`] says.
//!
//! A small machine has one fast disk and no slow ones. Where disks must be what is measured, and how busy they are must
//! be known exactly, this is one: the OSDs of a small Ceph cluster store their data on a [`Spindle`] each. And a load
//! generator is compared with another one, and with theory, on a disk whose times are known in advance.
//!
//! A request's end is determined when it arrives, from the end of those before it, so the rate is exact even if each
//! answer is some microseconds late.

mod answers;
mod array;
mod content;
mod schedule;
mod server;
mod spindle;

pub use array::Raid10;
pub use content::Content;
pub use schedule::{Access, Schedule};
pub use server::{ServeOptions, serve};
pub use spindle::{Counters, Speed, SpeedError, Spindle};

/// The file with the disk's content.
pub const DISK: &str = "disk";
/// The file of a [`Spindle`]'s speed: it is read, and written to change it at once.
pub const SPEED: &str = "speed";
/// The file of a [`Spindle`]'s [`Counters`], as JSON.
pub const COUNTERS: &str = "counters";
