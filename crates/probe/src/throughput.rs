//! What several streams moved within a window of time.

use serde::{Deserialize, Serialize};

use crate::request::Direction;

/// What streams moved: bytes that the receiver acknowledged within the window, by the client's
/// clock. Bytes moved during the warm-up, or acknowledged later, do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    /// The direction.
    pub direction: Direction,
    /// Load before the window, in nanoseconds.
    pub warm_up_ns: u64,
    /// The length of the window, in nanoseconds; the same for all streams.
    pub window_ns: u64,
    /// Bytes that each stream moved in it.
    pub stream_bytes: Vec<u64>,
}

impl Throughput {
    /// Bytes that all streams moved.
    pub fn total_bytes(&self) -> u64 {
        self.stream_bytes.iter().sum()
    }

    /// Payload bits per second, without the headers of TCP, IP and Ethernet.
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
