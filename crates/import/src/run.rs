//! What a file says about runs: every field is optional that some tool leaves out. Long lists are packed
//! ([`Series`]).

use std::borrow::Cow;

use crate::figure::Figure;
use crate::series::Series;

/// All that one file (or folder) says.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The tool that wrote it, such as `fio`.
    pub tool: Cow<'static, str>,
    /// Its version as stated.
    pub version: Option<String>,
    /// The runs, in the order of the file.
    pub runs: Series<Run>,
    /// What was there and is not carried over, one sentence each, such as fields that could not be understood.
    pub left_out: Vec<String>,
}

/// One load on one target: a job of fio, an access specification of Iometer, a test of iozone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The name of the load.
    pub name: String,
    /// Where the file has it, for messages: `jobs[0]`, `line 12`.
    pub place: String,
    /// What was measured, as stated: a path, a device, a URL, a host.
    pub target: Option<String>,
    /// When it began, in seconds since 1970.
    pub began_s: Option<f64>,
    /// What was done.
    pub load: Load,
    /// The measured window, in seconds, ramp excluded.
    pub window_s: Option<Figure>,
    /// Each kind of I/O, and their sum if the tool states a sum of its own.
    pub directions: Vec<Direction>,
    /// How much was outstanding on average, as the tool measured it.
    pub outstanding_mean: Option<Figure>,
    /// Busy share of the host's CPUs (0 to 1), as stated.
    pub cpu_busy: Option<Figure>,
    /// Values over time, in the order of time.
    pub intervals: Series<Interval>,
    /// I/Os that failed.
    pub errors: Option<u64>,
}

/// What a run did, as far as the file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Load {
    /// Size of a request in bytes, if all have one size.
    pub request_bytes: Option<u64>,
    /// Share of reads, 0 to 1.
    pub read_share: Option<f64>,
    /// In which order places are visited.
    pub pattern: Option<Pattern>,
    /// Configured number of requests in flight, of all workers together.
    pub outstanding: Option<u64>,
    /// Workers, jobs, threads or processes.
    pub workers: Option<u64>,
    /// Offered rate of all workers together, in I/Os per second.
    pub rate_per_s: Option<f64>,
    /// Bytes that were used of the target.
    pub working_set_bytes: Option<u64>,
    /// Whether the page cache of the client was bypassed.
    pub direct: Option<bool>,
    /// How writes are made durable, in the words of the tool, such as `fsync=1`; empty: they are not.
    pub durability: Option<String>,
    /// The tool's way of doing I/O, such as `libaio`.
    pub engine: Option<String>,
    /// Seconds before the window.
    pub ramp_s: Option<f64>,
    /// Planned seconds of the window; `None` if the work was fixed, or nothing is stated.
    pub duration_s: Option<f64>,
}

/// In which order a run visits places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pattern {
    /// One after another.
    Sequential,
    /// Anywhere.
    Random,
    /// So much of it anywhere: a share between 0 and 1.
    Mixed(f64),
}

/// A kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes, where the tool states a figure for both.
    Both,
    /// Flushes (`fsync` and its kin), which move no bytes.
    Flush,
    /// Discards.
    Trim,
}

/// The totals of a kind of I/O.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// Which.
    pub way: Way,
    /// I/Os that ended in the window.
    pub operations: Option<Figure>,
    /// Bytes that they moved.
    pub bytes: Option<Figure>,
    /// I/Os per second, as the tool states it.
    pub iops: Option<Figure>,
    /// Bytes per second, as the tool states it.
    pub bytes_per_s: Option<Figure>,
    /// The time that the rates of this kind refer to, in seconds, where it is not the run's.
    pub runtime_s: Option<Figure>,
    /// Latencies, in nanoseconds, from submission (or earlier, as the tool defines it) to completion.
    pub latency: Latency,
}

/// Latencies in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latency {
    /// Mean.
    pub mean: Option<Figure>,
    /// Standard deviation of the single I/Os.
    pub sd: Option<Figure>,
    /// Shortest.
    pub min: Option<Figure>,
    /// Longest.
    pub max: Option<Figure>,
    /// Percentiles, in ascending order.
    pub percentiles: Series<Percentile>,
    /// Counts by latency, in ascending order; empty: none.
    pub histogram: Series<Bucket>,
}

/// A percentile of latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// Its share, 0 to 1: 0.99 for the 99th.
    pub share: f64,
    /// Nanoseconds.
    pub ns: Figure,
}

/// A bucket of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// Lowest latency in it, in nanoseconds.
    pub low_ns: f64,
    /// The lowest of the next one; infinite for the last.
    pub high_ns: f64,
    /// I/Os in it.
    pub count: u64,
}

/// Values of an interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interval {
    /// Its start, in seconds since the run's.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// The kind of I/O; `None`: the file does not tell.
    pub way: Option<Way>,
    /// I/Os per second.
    pub iops: Option<Figure>,
    /// Bytes per second.
    pub bytes_per_s: Option<Figure>,
    /// Mean latency in nanoseconds.
    pub latency_mean: Option<Figure>,
    /// 99th percentile of latency in nanoseconds.
    pub latency_p99: Option<Figure>,
    /// Longest latency in nanoseconds.
    pub latency_max: Option<Figure>,
}

impl Direction {
    /// A kind of which nothing is known yet.
    pub fn new(way: Way) -> Self {
        Self {
            way,
            operations: None,
            bytes: None,
            iops: None,
            bytes_per_s: None,
            runtime_s: None,
            latency: Latency::default(),
        }
    }
}
