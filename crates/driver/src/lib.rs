//! The I/O loop: keeps the promised load on virtual disks, times every I/O, counts everything.
//!
//! A [`stormeter_trial::Trial`] goes in, a [`stormeter_trial::Sample`] comes out. The loop is generic
//! over [`stormeter_disk::Disks`] and [`stormeter_disk::Clock`]: it knows no protocol, no thread,
//! no real time and no simulator, so the code that is trusted on real storage is the code that
//! the tests run against simulated faults in virtual time.

mod arrivals;
mod compact_histogram;
mod content;
mod drive;
mod fixed_work;
mod generator;
mod held_buffers;
mod issue_log;
mod kind_counts;
mod observer;
mod pacing;
mod random;
mod recorder;
mod verify;
mod zipf;

pub use content::ContentSource;
pub use drive::{drive, drive_verified};
pub use fixed_work::{FixedWorkLog, Payload, drive_deployment, drive_file_test};
pub use observer::Observer;
pub use verify::{Expectations, LentExpectations, PriorContent, Seal};
