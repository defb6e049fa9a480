//! What one end lets the other take: time, bytes, connections.

use std::time::Duration;

/// Bounds on what a far end may take. The defaults suit a test network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections served at once, those included that have not proved anything yet; the next is
    /// told that the listener is busy.
    pub connections: usize,
    /// How long the whole exchange of greetings and proofs may take.
    pub handshake: Duration,
    /// How long to wait for the next request, or for an answer that takes work (an fsync, a file
    /// that is prepared).
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
