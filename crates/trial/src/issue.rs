//! When the requests of an open loop were issued, apart from when they were due.
//!
//! The latency of an open loop counts from when a request was due (response time), so that a loop that is late
//! hides nothing. It is then the storage's and the loop's together. The time from when a request was handed to the
//! disks (service time) is the storage's alone, and what lies between the two is the loop's: its lateness. Other
//! generators begin at the hand-over, so service times are what compares with theirs.
//!
//! A closed loop issues the next request when the last one has ended; nothing is ever due before.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Service times and lateness of the I/Os of an open loop that ended in the window, reads and writes together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IssueTimes {
    /// From the hand-over to the disks until the I/O was seen to have ended.
    pub service: Durations,
    /// From when the request was due until it was handed over.
    pub lateness: Durations,
    /// Requests handed over in the window that had to wait for another one to end, because as many were
    /// outstanding as may be ([`crate::Limits::open_loop_outstanding`]): their lateness is the storage's.
    pub held_operations: u64,
}

/// Times of many I/Os.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// Their sum.
    pub sum_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// All of them.
    pub histogram: Histogram,
}

impl Durations {
    /// Counts one.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.sum_ns += ns;
        self.max_ns = self.max_ns.max(ns);
        self.histogram.record(ns);
    }

    /// Adds those of another thread, host or trial.
    pub fn merge(&mut self, other: &Durations) {
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.histogram.merge(&other.histogram);
    }

    /// Their mean in nanoseconds; `None` without an I/O.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.histogram.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }
}

impl IssueTimes {
    /// Adds those of another thread, host or trial.
    pub fn merge(&mut self, other: &IssueTimes) {
        self.service.merge(&other.service);
        self.lateness.merge(&other.lateness);
        self.held_operations += other.held_operations;
    }
}
