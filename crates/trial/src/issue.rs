//! When the requests of an open loop were issued, as opposed to when they were due.
//!
//! The latency of an open loop counts from when a request was due (response time), so that a late loop hides
//! nothing. It then includes the storage's time and the loop's. The time from when a request was submitted to the
//! disks (service time) is the storage's alone, and the time between the two is the loop's: its lateness. Other
//! generators start at the submission, so service times are comparable with theirs.
//!
//! A closed loop issues the next request when the previous one has ended; nothing is ever due
//! before that.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Service times and lateness of the I/Os of an open loop that ended in the window, reads and writes together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IssueTimes {
    /// From the submission to the disks until the completion was seen.
    pub service: Durations,
    /// From when the request was due until it was submitted.
    pub lateness: Durations,
    /// Requests submitted in the window that had to wait for another one to end, because the maximum was
    /// outstanding ([`crate::Limits::open_loop_outstanding`]): their lateness is due to the storage.
    pub held_operations: u64,
}

/// Statistics of many durations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// The sum.
    pub sum_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The distribution.
    pub histogram: Histogram,
}

impl Durations {
    /// Records one duration.
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

    /// The mean in nanoseconds; `None` without an I/O.
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
