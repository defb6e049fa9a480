//! The protocol over pipes in memory, and fleets of commands that misbehave.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clock;
mod fleet;
mod protocol;
mod session;
mod transfer;
