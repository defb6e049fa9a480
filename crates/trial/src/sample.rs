//! The result of one trial: plain values that can be stored, sent through a pipe and merged.
//!
//! The same I/Os are tallied three times on independent paths (histograms, intervals, disks), so
//! that the check "histogram count = operations = sum of the intervals" can detect a driver that
//! loses or doubles an I/O.

use serde::{Deserialize, Serialize};
use stormeter_disk::{DeviceError, Kind};

use crate::desktops::DesktopTotals;
use crate::disturbance::Disturbance;
use crate::fixed_work::StepTime;
use crate::issue::IssueTimes;
use crate::kind_totals::KindTotals;
use crate::verified::Verified;

/// The measured window of a trial, ramp and drain excluded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Length of the window, in nanoseconds, by the driver's clock.
    pub window_ns: u64,
    /// Length of an interval row; the last row may be shorter.
    pub interval_ns: u64,
    /// Reads that ended in the window.
    pub reads: KindTotals,
    /// Writes that ended in the window, durable ones not included.
    pub writes: KindTotals,
    /// Durable writes that ended in the window ([`Kind::DurableWrite`]).
    #[serde(default)]
    pub durable: KindTotals,
    /// Flushes that ended in the window. They are no I/Os: they move no bytes, and neither intervals, disks, IOPS
    /// nor outstanding I/Os count them.
    #[serde(default)]
    pub flushes: KindTotals,
    /// One row per interval of the window.
    pub intervals: Vec<Interval>,
    /// One row per virtual disk (VM).
    pub disks: Vec<DiskTotals>,
    /// Mean number of outstanding I/Os over the window: the time integral of outstanding I/Os
    /// divided by the window, accumulated I/O by I/O and not from the mean latency. In an open loop
    /// an I/O counts from when it was due, as its latency does.
    pub outstanding_mean: f64,
    /// How long the I/Os outstanding at the end of the window had been outstanding, minus that of
    /// those outstanding at its start. The sum of the latencies plus this is the outstanding time
    /// within the window.
    pub carried_ns: i64,
    /// How long slots of a closed loop waited while others were submitted, summed over the window: they
    /// were not outstanding, and the wait is in no latency. `None` in samples from before it was counted,
    /// whose [`Sample::outstanding_mean`] includes them.
    #[serde(default)]
    pub turn_wait_ns: Option<u64>,
    /// How long slots of a closed loop waited for flushes, summed over the window: they were not outstanding, and the
    /// wait is in no read's or write's latency.
    #[serde(default)]
    pub flush_wait_ns: u64,
    /// How long the I/O threads were awake within the window only to be on time ([`crate::Limits::awake_ns`]): not
    /// a cost of the I/O.
    #[serde(default)]
    pub spun_ns: u64,
    /// Service times and lateness of an open loop, whose latencies count from when an I/O was due. `None` in a
    /// closed loop, where service time is latency, and in samples from before they were counted.
    #[serde(default)]
    pub issue: Option<IssueTimes>,
    /// The number of I/Os that the closed loop should keep outstanding, all disks together; `None`
    /// in an open loop and with pauses between bursts.
    pub outstanding_configured: Option<u64>,
    /// The offered rate of an open loop, all disks together, in I/Os per second.
    pub offered_rate_per_s: Option<f64>,
    /// I/Os that ended before the window opened (the ramp).
    pub ramp_operations: u64,
    /// Requests of an open loop that fell due in the window.
    pub due_operations: u64,
    /// Requests of an open loop that were due but not yet issued when the window closed.
    pub backlog_operations: u64,
    /// The first failed I/Os, in full; all are counted in the totals.
    pub io_failures: Vec<IoFailure>,
    /// The results of verifying reads against what was written; `None` if not requested.
    #[serde(default)]
    pub verified: Option<Verified>,
    /// The steps of a trial of fixed work, which ends when its work is done; empty if the trial was timed.
    #[serde(default)]
    pub steps: Vec<StepTime>,
    /// What was done to the storage meanwhile, in order of time. Left empty by the driver and added by
    /// the code that controls the trial.
    #[serde(default)]
    pub disturbances: Vec<Disturbance>,
    /// Time after the window until what was written was on storage and the disks were closed, in
    /// nanoseconds. Left zero by the driver and added by the code that controls the trial.
    #[serde(default)]
    pub settled_ns: u64,
    /// How many bytes of its disks the trial is expected to have touched, ramp included
    /// ([`crate::touched_share`]); `None` for a trial of fixed work, and in samples from before it was computed.
    #[serde(default)]
    pub touched_bytes: Option<u64>,
    /// Updates of their screens that viewers of desktops saw; `None` for trials without viewers.
    #[serde(default)]
    pub updates: Option<u64>,
    /// What became of users and desktops; `None` for trials without a broker.
    #[serde(default)]
    pub desktops: Option<Box<DesktopTotals>>,
    /// Why the loop ended.
    pub ended: Ended,
}

/// One row of the time plot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// Length, in nanoseconds; the last one may be short.
    pub length_ns: u64,
    /// Reads.
    pub reads: IntervalTotals,
    /// Writes, durable or not.
    pub writes: IntervalTotals,
}

/// Counts of one kind in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct IntervalTotals {
    /// I/Os that ended in the interval.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// Longest latency.
    pub latency_max_ns: u64,
}

/// The totals of one virtual disk (VM).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskTotals {
    /// Number of the disk, counted from 0 over all threads.
    pub disk: u32,
    /// I/Os that ended in the window, reads and writes.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// Longest latency.
    pub latency_max_ns: u64,
    /// Median, from the disk's own histogram.
    pub latency_p50_ns: f64,
    /// 99th percentile, from the disk's own histogram.
    pub latency_p99_ns: f64,
}

/// An I/O that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IoFailure {
    /// Number of the disk.
    pub disk: u32,
    /// What it should have done.
    pub kind: Kind,
    /// Offset on the disk, in bytes.
    pub offset_bytes: u64,
    /// Requested length, in bytes.
    pub length_bytes: u32,
    /// The outcome.
    pub outcome: IoFailureOutcome,
}

/// How an I/O failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoFailureOutcome {
    /// The device's error number.
    Failed(DeviceError),
    /// Fewer bytes than requested.
    Short(u32),
}

impl std::fmt::Display for IoFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let IoFailure { disk, kind, offset_bytes, length_bytes, outcome } = self;
        match kind {
            Kind::Flush => write!(f, "flush of disk {disk}: ")?,
            _ => write!(f, "{kind} of {length_bytes} bytes at {offset_bytes} of disk {disk}: ")?,
        }
        match outcome {
            IoFailureOutcome::Failed(error) => write!(f, "{error}"),
            IoFailureOutcome::Short(bytes) => write!(f, "only {bytes} bytes moved"),
        }
    }
}

/// Why the driver loop ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Ended {
    /// The window closed as planned and everything outstanding completed.
    Completed,
    /// It was asked to stop.
    Cancelled,
    /// Too many I/Os failed: continuing would measure the error path.
    TooManyErrors,
    /// Nothing completed for longer than the limit; `outstanding` I/Os never completed.
    Stalled {
        /// Number of I/Os still outstanding.
        outstanding: u64,
    },
    /// The clock stopped: no latency can be trusted.
    ClockStopped,
    /// The I/O queue of the disks failed.
    QueueBroken {
        /// The reason.
        reason: String,
    },
    /// Every I/O ended, but it was not confirmed that the written data is stored.
    Lost {
        /// The reason.
        reason: String,
    },
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Completed => f.write_str("completed"),
            Ended::Cancelled => f.write_str("stopped on request"),
            Ended::TooManyErrors => f.write_str("stopped because too many I/Os failed"),
            Ended::Stalled { outstanding } => {
                write!(f, "stopped because {outstanding} outstanding I/Os did not come back")
            }
            Ended::ClockStopped => f.write_str("stopped because the clock stands still"),
            Ended::QueueBroken { reason } => write!(f, "stopped: {reason}"),
            Ended::Lost { reason } => write!(f, "what was written may be lost: {reason}"),
        }
    }
}

impl IntervalTotals {
    /// Adds the counts of another thread in the same interval.
    pub fn merge(&mut self, other: &IntervalTotals) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}

impl Interval {
    /// I/Os per second, both kinds.
    pub fn iops(&self) -> f64 {
        let operations = self.reads.operations + self.writes.operations;
        if self.length_ns == 0 { 0.0 } else { operations as f64 * 1e9 / self.length_ns as f64 }
    }

    /// Mean latency in nanoseconds, both kinds; `None` without an I/O.
    pub fn latency_mean_ns(&self) -> Option<f64> {
        let operations = self.reads.operations + self.writes.operations;
        let sum = self.reads.latency_sum_ns + self.writes.latency_sum_ns;
        (operations > 0).then(|| sum as f64 / operations as f64)
    }
}

impl Sample {
    /// The same sample over the window of a thread that ended later: nothing more was done, so the mean number
    /// outstanding decreases. To be called before merging samples of trials of fixed work, whose windows end one
    /// by one.
    #[must_use]
    pub fn over(mut self, window_ns: u64) -> Self {
        if window_ns > self.window_ns {
            self.outstanding_mean *= self.window_ns as f64 / window_ns as f64;
            self.window_ns = window_ns;
        }
        self
    }

    /// Reads and writes, durable ones included.
    pub fn ios(&self) -> [&KindTotals; 3] {
        [&self.reads, &self.writes, &self.durable]
    }

    /// The totals of all latencies: those of I/Os, and the waits of users of desktops who were not served. These are shorter
    /// than they would have been; without them, a datastore that serves few would seem to serve quickly.
    pub fn latencies(&self) -> impl Iterator<Item = &KindTotals> {
        self.ios().into_iter().chain(self.desktops.iter().map(|desktops| &desktops.unserved))
    }

    /// All I/Os together, flushes not included.
    pub fn total(&self) -> KindTotals {
        let [reads, others @ ..] = self.ios();
        let mut total = reads.clone();
        others.into_iter().for_each(|kind| total.merge(kind));
        total
    }

    /// I/Os that moved all their bytes in the window.
    pub fn operations(&self) -> u64 {
        self.ios().iter().map(|kind| kind.operations).sum()
    }

    /// Bytes that they moved.
    pub fn bytes(&self) -> u64 {
        self.ios().iter().map(|kind| kind.bytes).sum()
    }

    /// I/Os and flushes that failed or were short.
    pub fn failed_operations(&self) -> u64 {
        Kind::ALL.iter().map(|&kind| self.kind(kind)).map(|k| k.errors + k.short_operations).sum()
    }

    /// I/Os per second over the window.
    pub fn iops(&self) -> f64 {
        self.operations() as f64 * 1e9 / self.window_ns.max(1) as f64
    }

    /// Bytes per second over the window.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes() as f64 * 1e9 / self.window_ns.max(1) as f64
    }

    /// The totals of a kind.
    pub fn kind(&self, kind: Kind) -> &KindTotals {
        match kind {
            Kind::Read => &self.reads,
            Kind::Write => &self.writes,
            Kind::DurableWrite => &self.durable,
            Kind::Flush => &self.flushes,
        }
    }

    /// Merges the sample of another thread that ran at the same time: counts add up, interval rows
    /// are combined by position, the window is the longer one.
    pub fn merge(&mut self, other: Sample) {
        self.window_ns = self.window_ns.max(other.window_ns);
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.durable.merge(&other.durable);
        self.flushes.merge(&other.flushes);
        for (index, row) in other.intervals.into_iter().enumerate() {
            match self.intervals.get_mut(index) {
                Some(mine) => {
                    mine.length_ns = mine.length_ns.max(row.length_ns);
                    mine.reads.merge(&row.reads);
                    mine.writes.merge(&row.writes);
                }
                None => self.intervals.push(row),
            }
        }
        self.disks.extend(other.disks);
        self.outstanding_mean += other.outstanding_mean;
        self.carried_ns += other.carried_ns;
        self.spun_ns += other.spun_ns;
        self.flush_wait_ns += other.flush_wait_ns;
        self.issue = self.issue.take().zip(other.issue).map(|(mut mine, theirs)| {
            mine.merge(&theirs);
            mine
        });
        self.turn_wait_ns = self.turn_wait_ns.zip(other.turn_wait_ns).map(|(a, b)| a + b);
        self.outstanding_configured =
            self.outstanding_configured.zip(other.outstanding_configured).map(|(a, b)| a + b);
        self.offered_rate_per_s =
            self.offered_rate_per_s.zip(other.offered_rate_per_s).map(|(a, b)| a + b);
        self.ramp_operations += other.ramp_operations;
        self.due_operations += other.due_operations;
        self.backlog_operations += other.backlog_operations;
        self.io_failures.extend(other.io_failures);
        self.io_failures.truncate(MAX_IO_FAILURES_KEPT);
        match (&mut self.verified, other.verified) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
        for step in other.steps {
            match self.steps.iter_mut().find(|mine| mine.name == step.name) {
                Some(mine) => {
                    mine.times += step.times;
                    mine.total_ns += step.total_ns;
                    mine.max_ns = mine.max_ns.max(step.max_ns);
                }
                None => self.steps.push(step),
            }
        }
        self.disturbances.extend(other.disturbances);
        self.settled_ns = self.settled_ns.max(other.settled_ns);
        self.touched_bytes = self.touched_bytes.zip(other.touched_bytes).map(|(a, b)| a + b);
        self.updates = match (self.updates, other.updates) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            (mine, theirs) => mine.or(theirs),
        };
        if self.ended == Ended::Completed {
            self.ended = other.ended;
        }
    }
}

/// Number of failed I/Os kept in full; the rest are only counted.
pub const MAX_IO_FAILURES_KEPT: usize = 8;
