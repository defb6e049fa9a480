//! Two real ends on this machine's loopback, and peers that misbehave.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod disk;
mod far;
mod handshake;
mod measures;
mod peer;
mod requests;
