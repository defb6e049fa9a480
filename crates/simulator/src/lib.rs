//! Sites, disks and a clock in virtual time, deterministic from a seed.
//!
//! They run the same loop that drives real storage, with any service time, noise, drift, error,
//! stall or short I/O, and faster than real time. [`Machine`] is a whole site: hosts, wires,
//! controllers and disks; [`SimulatedDisks`] is one queue, for tests of the layers above. There is
//! no real time here, no thread and no randomness without a seed.

mod device;
mod disks;
pub mod example;
mod machine;
mod noise;
mod slab;
mod storage;
mod time;
mod transfer;

pub use disks::{FaultPlan, Model, Service, SimulatedDisks, Stall};
pub use machine::{
    Broken, ComponentKind, ComponentUse, FaultError, FaultNameError, Load, Machine, MachineError,
    ResyncUse, SiteFault, SitePart, Window,
};
pub use noise::{HostNoise, NoisePlan};
pub use time::{VirtualClock, VirtualTime};
pub use transfer::{TransferError, TransferTrial, drive_transfer};
