//! Disks behind a network protocol: session machines joined to sockets.
//!
//! One thread drives many disks over a few connections. Requests gather in a connection's outbox
//! until the loop collects completions and then go out in one send; what comes in is parsed where
//! it lies and copied once, to the buffer of its operation. The protocol itself is the session's
//! affair ([`stormeter_wire::Session`]); here are the connections, which path an operation takes,
//! what happens when one is lost, and for how long.

mod memory;
mod paths;
mod peer;
mod transport;

pub(crate) use paths::Policy;
pub(crate) use peer::resolve;
pub use transport::NetworkDisks;
pub(crate) use transport::{OpenFailure, TransportOptions};
