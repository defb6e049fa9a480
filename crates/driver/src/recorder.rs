//! Counts what the loop sees: per disk, per interval, per latency bucket.
//!
//! The three tallies are separate on purpose (see [`crate::sample`]). Recording one I/O updates the disk's
//! counters, the interval's counters, and a bucket each of the disk's histogram and of the direction's; no
//! division, and no allocation except for the first latency of an octave.

use stormeter_disk::Kind;

use crate::compact_histogram::{CompactHistogram, DiskCounts};
use crate::direction::Direction;
use crate::direction_counts::DirectionCounts;
use stormeter_trial::histogram::bucket_of;
use stormeter_trial::{
    BANDS, DiskTotals, Interval, IntervalTotals, IoFailure, IoFailureOutcome, KindTotals,
    LatencyBands, MAX_IO_FAILURES_KEPT,
};

/// The tallies of a trial on one thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    disks: Vec<[Tally; 2]>,
    /// Latencies of all disks, by direction.
    latencies: DirectionCounts,
    /// The same by band, as of the last time that they were wanted.
    told: Option<Box<[u64; BANDS]>>,
    current: [IntervalTotals; 2],
    rows: Vec<Interval>,
    errors: [u64; 2],
    shorts: [u64; 2],
    failed_flushes: u64,
    io_failures: Vec<IoFailure>,
}

#[derive(Debug)]
struct Tally {
    operations: u64,
    bytes: u64,
    latency_sum_ns: u64,
    latency_min_ns: u64,
    latency_max_ns: u64,
    histogram: CompactHistogram,
}

impl Tally {
    fn new() -> Self {
        Tally {
            operations: 0,
            bytes: 0,
            latency_sum_ns: 0,
            latency_min_ns: u64::MAX,
            latency_max_ns: 0,
            histogram: CompactHistogram::default(),
        }
    }
}

/// The totals of a trial's tallies.
pub(crate) struct Recorded {
    pub(crate) reads: KindTotals,
    /// Durable or not.
    pub(crate) writes: KindTotals,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) disks: Vec<DiskTotals>,
    pub(crate) io_failures: Vec<IoFailure>,
}

impl Recorder {
    pub(crate) fn new(disks: u32) -> Self {
        Self {
            disks: (0..disks).map(|_| [Tally::new(), Tally::new()]).collect(),
            latencies: DirectionCounts::new(),
            told: None,
            current: Default::default(),
            rows: Vec::new(),
            errors: [0; 2],
            shorts: [0; 2],
            failed_flushes: 0,
            io_failures: Vec::new(),
        }
    }

    /// One I/O that moved all its bytes within the window.
    // Always inlined: left to itself the compiler makes it a call, which costs nine instructions per
    // I/O.
    #[inline(always)]
    pub(crate) fn record(&mut self, disk: u32, direction: Direction, bytes: u32, latency_ns: u64) {
        let row = &mut self.current[direction as usize];
        row.operations += 1;
        row.bytes += u64::from(bytes);
        row.latency_sum_ns += latency_ns;
        // Extremes rarely change: a branch that is not taken is cheaper than storing them again.
        if latency_ns > row.latency_max_ns {
            row.latency_max_ns = latency_ns;
        }
        let tally = &mut self.disks[disk as usize][direction as usize];
        tally.operations += 1;
        tally.bytes += u64::from(bytes);
        tally.latency_sum_ns += latency_ns;
        if latency_ns < tally.latency_min_ns {
            tally.latency_min_ns = latency_ns;
        }
        if latency_ns > tally.latency_max_ns {
            tally.latency_max_ns = latency_ns;
        }
        let bucket = bucket_of(latency_ns);
        tally.histogram.record(bucket);
        self.latencies.record(direction, bucket);
    }

    /// Bytes that moved in the current interval, as part of an operation that has not ended yet.
    pub(crate) fn moved(&mut self, direction: Direction, bytes: u64) {
        self.current[direction as usize].bytes += bytes;
    }

    /// An operation of many I/Os that has ended, and whose `bytes` were reported to
    /// [`Recorder::moved`].
    pub(crate) fn record_whole(
        &mut self,
        disk: u32,
        direction: Direction,
        bytes: u64,
        latency_ns: u64,
    ) {
        self.record(disk, direction, 0, latency_ns);
        self.disks[disk as usize][direction as usize].bytes += bytes;
    }

    /// Bytes that were reported to [`Recorder::moved`], of an operation that has not ended by the end of the window.
    pub(crate) fn carried(&mut self, disk: u32, direction: Direction, bytes: u64) {
        self.disks[disk as usize][direction as usize].bytes += bytes;
    }

    /// One I/O or flush that failed, at any time of the trial.
    #[cold]
    pub(crate) fn io_failed(&mut self, failure: IoFailure) {
        let direction = Direction::of(failure.kind) as usize;
        match (failure.kind, failure.outcome) {
            (Kind::Flush, _) => self.failed_flushes += 1,
            (_, IoFailureOutcome::Failed(_)) => self.errors[direction] += 1,
            (_, IoFailureOutcome::Short(_)) => self.shorts[direction] += 1,
        }
        if self.io_failures.len() < MAX_IO_FAILURES_KEPT {
            self.io_failures.push(failure);
        }
    }

    pub(crate) fn io_failures(&self) -> u64 {
        self.failed_flushes + self.errors.iter().chain(&self.shorts).sum::<u64>()
    }

    /// Ends the current row of the time plot and returns it.
    pub(crate) fn close_interval(&mut self, start_ns: u64, length_ns: u64) -> Interval {
        let [reads, writes] = std::mem::take(&mut self.current);
        let row = Interval { start_ns, length_ns, reads, writes };
        self.rows.push(row);
        row
    }

    /// The latencies since this was called last, up to the end of the last row.
    pub(crate) fn latencies_since(&mut self) -> LatencyBands {
        let both = |row: &Interval| row.reads.latency_max_ns.max(row.writes.latency_max_ns);
        let longest_ns = self.rows.iter().map(both).max().unwrap_or(0);
        let now = self.latencies.bands(bucket_of(longest_ns));
        let told = self.told.get_or_insert_with(|| Box::new([0; BANDS]));
        let mut since = now;
        since.iter_mut().zip(told.iter()).for_each(|(since, told)| *since -= told);
        **told = now;
        LatencyBands::of_counts(&since)
    }

    pub(crate) fn finish(self, first_disk: u32) -> Recorded {
        let mut kinds = [KindTotals::default(), KindTotals::default()];
        let mut disks = Vec::with_capacity(self.disks.len());
        let mut both = DiskCounts::new();
        for (index, tallies) in self.disks.into_iter().enumerate() {
            both.clear();
            let mut row = DiskTotals { disk: first_disk + index as u32, ..Default::default() };
            for (kind, tally) in kinds.iter_mut().zip(tallies) {
                tally.histogram.add_to(&mut both);
                row.operations += tally.operations;
                row.bytes += tally.bytes;
                row.latency_sum_ns += tally.latency_sum_ns;
                row.latency_max_ns = row.latency_max_ns.max(tally.latency_max_ns);
                if tally.operations > 0 {
                    kind.latency_min_ns = match kind.operations {
                        0 => tally.latency_min_ns,
                        _ => kind.latency_min_ns.min(tally.latency_min_ns),
                    };
                }
                kind.operations += tally.operations;
                kind.bytes += tally.bytes;
                kind.latency_sum_ns += tally.latency_sum_ns;
                kind.latency_max_ns = kind.latency_max_ns.max(tally.latency_max_ns);
            }
            row.latency_p50_ns = both.percentile_ns(0.50);
            row.latency_p99_ns = both.percentile_ns(0.99);
            disks.push(row);
        }
        for (index, (kind, latencies)) in kinds.iter_mut().zip(self.latencies.finish()).enumerate()
        {
            kind.histogram = latencies;
            kind.errors = self.errors[index];
            kind.short_operations = self.shorts[index];
        }
        let [reads, writes] = kinds;
        Recorded { reads, writes, intervals: self.rows, disks, io_failures: self.io_failures }
    }
}
