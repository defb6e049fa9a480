//! The boundary of the engine: what a load loop asks of virtual disks and what it gets back.
//!
//! Everything that drives load (the driver) and everything that carries it (real datastores, the
//! simulator) meets here and nowhere else. The crate holds plain values and two traits; it makes no
//! system call, opens no socket and knows no protocol, so that the same loop runs in real time over
//! io_uring and in virtual time over simulated disks.

mod clock;
mod disks;
mod operation;

pub use clock::Clock;
pub use disks::{Disks, DisksError, Wait};
pub use operation::{Completion, DeviceError, Kind, Operation};
