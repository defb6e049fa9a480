//! Limits on what one end may use of the other: time, bytes, connections.

use std::time::Duration;

/// Limits on what a far end may use. The defaults suit a test network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections served at once, including those that have not authenticated yet; further ones
    /// are answered with "busy".
    pub connections: usize,
    /// How long the whole exchange of greetings and proofs may take.
    pub handshake: Duration,
    /// How long to wait for the next request, or for an answer that takes work (an fsync, preparing
    /// a file).
    pub answer: Duration,
    /// How long the far end may be silent within a payload.
    pub stall: Duration,
    /// The longest message or file, in bytes.
    pub transfer_bytes: u64,
    /// The most repetitions in one request.
    pub repetitions: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            handshake: Duration::from_secs(5),
            answer: Duration::from_secs(120),
            stall: Duration::from_secs(30),
            transfer_bytes: 1_000_000_000,
            repetitions: 1_000_000,
        }
    }
}
