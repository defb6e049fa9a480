//! The totals of one operation kind, which samples and the work of desktops share.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Totals of one operation kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KindTotals {
    /// I/Os that moved all their bytes.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// Shortest latency; 0 when there is no I/O.
    pub latency_min_ns: u64,
    /// Longest latency.
    pub latency_max_ns: u64,
    /// I/Os that moved fewer bytes than requested. Not included in `operations`.
    pub short_operations: u64,
    /// I/Os that failed. Not included in `operations`.
    pub errors: u64,
    /// The distribution of their latencies.
    pub histogram: Histogram,
}

impl KindTotals {
    /// Mean latency in nanoseconds; `None` without an I/O.
    pub fn latency_mean_ns(&self) -> Option<f64> {
        (self.operations > 0).then(|| self.latency_sum_ns as f64 / self.operations as f64)
    }

    /// Adds one operation of `bytes`.
    pub fn record(&mut self, bytes: u64, latency_ns: u64) {
        self.latency_min_ns = match self.operations {
            0 => latency_ns,
            _ => self.latency_min_ns.min(latency_ns),
        };
        self.operations += 1;
        self.bytes += bytes;
        self.latency_sum_ns += latency_ns;
        self.latency_max_ns = self.latency_max_ns.max(latency_ns);
        self.histogram.record(latency_ns);
    }

    /// Adds the totals of another thread, disk or kind.
    pub fn merge(&mut self, other: &KindTotals) {
        if other.operations > 0 {
            self.latency_min_ns = if self.operations == 0 {
                other.latency_min_ns
            } else {
                self.latency_min_ns.min(other.latency_min_ns)
            };
        }
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        self.short_operations += other.short_operations;
        self.errors += other.errors;
        self.histogram.merge(&other.histogram);
    }
}
