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
    fn record(&mut self, ns: u64) {
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

/// Takes the times while the loop runs.
#[derive(Debug)]
pub(crate) struct IssueLog {
    /// When the request of each slot was handed over.
    issued_ns: Vec<u64>,
    times: IssueTimes,
    /// The last turn left a request that was due, for want of a free slot.
    is_full: bool,
    /// What was due up to here had to wait for a slot.
    held_until_ns: u64,
}

impl IssueLog {
    pub(crate) fn new(slots: u32) -> Box<Self> {
        let issued_ns = vec![0; slots as usize];
        Box::new(Self { issued_ns, times: IssueTimes::default(), is_full: false, held_until_ns: 0 })
    }

    /// A turn begins at which requests can be issued again.
    #[inline]
    pub(crate) fn turn(&mut self, now_ns: u64) {
        if std::mem::take(&mut self.is_full) {
            self.held_until_ns = now_ns;
        }
    }

    /// A request is due and there is no slot for it.
    pub(crate) fn full(&mut self) {
        self.is_full = true;
    }

    /// A request leaves the queue of those that are due, within the window.
    #[inline]
    pub(crate) fn leaves(&mut self, due_ns: u64) {
        self.times.held_operations += u64::from(due_ns < self.held_until_ns);
    }

    /// The slot's request is handed over.
    #[inline]
    pub(crate) fn issued(&mut self, slot: u32, now_ns: u64) {
        if let Some(issued_ns) = self.issued_ns.get_mut(slot as usize) {
            *issued_ns = now_ns;
        }
    }

    /// The slot's I/O, due at `due_ns`, ended in the window with all its bytes.
    #[inline]
    pub(crate) fn ended(&mut self, slot: u32, due_ns: u64, now_ns: u64) {
        let issued_ns = self.issued_ns.get(slot as usize).copied().unwrap_or(due_ns);
        self.times.lateness.record(issued_ns.saturating_sub(due_ns));
        self.times.service.record(now_ns.saturating_sub(issued_ns));
    }

    pub(crate) fn finish(self) -> IssueTimes {
        self.times
    }
}
