//! The trial in progress: what it is, and the results of its intervals so far.

use std::time::{Duration, Instant};

use stormeter_trial::Interval;
use stormeter_units::{format_count, format_duration_ns};

use super::layout::{bar, flow};

/// Width of its bar in cells.
const CELLS: usize = 10;

/// What a trial counts, and what the latency of one of these is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Counted {
    /// I/Os, as a rate.
    #[default]
    Ios,
    /// Users who got a usable desktop. Few of them come in a second, so their number is shown.
    Users,
}

impl Counted {
    /// `43 211 IOPS`, `12 users served`.
    pub(super) fn done(self, operations: u64, iops: f64) -> String {
        match (self, operations) {
            (Counted::Ios, _) => format!("{} IOPS", format_count(iops)),
            (Counted::Users, 1) => "1 user served".into(),
            (Counted::Users, users) => format!("{} users served", format_count(users as f64)),
        }
    }

    /// `92µs mean latency`, `8.10s mean wait until usable`.
    pub(super) fn latency(self, mean_ns: f64) -> String {
        let what = match self {
            Counted::Ios => "latency",
            Counted::Users => "wait until usable",
        };
        format!("{} mean {what}", format_duration_ns(mean_ns))
    }
}

pub(super) struct Under {
    /// Its description: `block 3: /mnt/nas`.
    pub(super) what: String,
    counted: Counted,
    since: Instant,
    /// Its length; `None` if it ends when its work is done.
    length: Option<Duration>,
    operations: u64,
    latency_sum_ns: u64,
    seconds: f64,
}

impl Under {
    pub(super) fn new(what: String, length_ns: Option<u64>, counted: Counted) -> Self {
        Self {
            what,
            counted,
            since: Instant::now(),
            length: length_ns.map(Duration::from_nanos),
            operations: 0,
            latency_sum_ns: 0,
            seconds: 0.0,
        }
    }

    pub(super) fn add(&mut self, row: &Interval) {
        for kind in [&row.reads, &row.writes] {
            self.operations += kind.operations;
            self.latency_sum_ns += kind.latency_sum_ns;
        }
        self.seconds += row.length_ns as f64 / 1e9;
    }

    /// The fraction that is done; 0 if its length is unknown.
    pub(super) fn share(&self) -> f64 {
        let length = self.length.map_or(f64::INFINITY, |length| length.as_secs_f64().max(1e-9));
        (self.since.elapsed().as_secs_f64() / length).min(1.0)
    }

    /// `[███·······] block 3: /mnt/nas`, and below it the results so far.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        let head = match self.length {
            Some(_) => format!("{} {}", bar(self.share(), CELLS), self.what),
            None => format!("{} {}", seconds(self.since.elapsed()), self.what),
        };
        let mut lines = flow(&[head], width);
        lines.extend(flow(&self.figures(), width));
        lines
    }

    /// `43 211 IOPS`, `92µs mean latency`; empty until an interval has ended.
    fn figures(&self) -> Vec<String> {
        if self.operations == 0 {
            return Vec::new();
        }
        let iops = self.operations as f64 / self.seconds.max(1e-9);
        vec![self.counted.done(self.operations, iops), self.counted.latency(self.mean_ns())]
    }

    fn mean_ns(&self) -> f64 {
        self.latency_sum_ns as f64 / self.operations as f64
    }

    /// `, 92µs mean latency`, if that is known.
    pub(super) fn and_latency(&self) -> String {
        let known = self.operations > 0;
        if known { format!(", {}", self.counted.latency(self.mean_ns())) } else { String::new() }
    }
}

/// A time in whole seconds, at least one.
pub(super) fn seconds(time: Duration) -> String {
    format_duration_ns(time.as_secs().max(1) as f64 * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_counted_and_wait() {
        assert_eq!(Counted::Ios.done(90, 43_211.0), "43 211 IOPS");
        assert_eq!(Counted::Users.done(12, 0.01), "12 users served");
        assert_eq!(Counted::Users.done(1, 0.01), "1 user served");
        assert_eq!(Counted::Users.latency(8.1e9), "8.10s mean wait until usable");
    }
}
