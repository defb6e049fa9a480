//! What several streams moved within a window of time.

use serde::{Deserialize, Serialize};

use crate::request::Direction;

/// What streams moved: bytes that the receiver acknowledged within the window, by the clock of the
/// client. What moved during the warm-up, or is acknowledged later, does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    /// Which way.
    pub direction: Direction,
    /// Load before the window, in nanoseconds.
    pub warm_up_ns: u64,
    /// The window, in nanoseconds; the same for all streams.
    pub window_ns: u64,
    /// What each stream moved in it, in bytes.
    pub stream_bytes: Vec<u64>,
}

impl Throughput {
    /// Of all streams.
    pub fn total_bytes(&self) -> u64 {
        self.stream_bytes.iter().sum()
    }

    /// Payload bits a second, headers of TCP, IP and Ethernet not counted.
    pub fn bits_per_second(&self) -> f64 {
        if self.window_ns == 0 {
            return 0.0;
        }
        self.total_bytes() as f64 * 8e9 / self.window_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gigabit_link_in_full() {
        let moved = Throughput {
            direction: Direction::Send,
            warm_up_ns: 0,
            window_ns: 2_000_000_000,
            stream_bytes: vec![100_000_000, 150_000_000],
        };
        assert_eq!(moved.bits_per_second(), 1e9);
    }
}
