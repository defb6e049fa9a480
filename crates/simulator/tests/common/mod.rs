//! Small sites for tests.

#![allow(dead_code, unused_imports, unreachable_pub)]

pub mod cluster;
pub mod device;
pub mod single;

pub use stormeter_simulator::example::{fibre_channel, one_device};
