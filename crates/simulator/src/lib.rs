//! Disks and a clock in virtual time, deterministic from a seed.
//!
//! They bear the very loop that drives real storage, with any service time, noise, drift, error,
//! stall or short I/O, and faster than real time. There is no real time here, no thread and no
//! randomness without a seed.

mod disks;
mod time;
mod weather;

pub use disks::{FaultPlan, Model, Service, SimulatedDisks, Stall};
pub use time::{VirtualClock, VirtualTime};
pub use weather::{Weather, WeatherPlan};
