//! The tallies of fixed work, for the code that times its operations: the loops here, and transfers, whose
//! messages go through sockets that the driver does not know.
//!
//! The tallies are those of [`crate::recorder`]. The outstanding time is summed turn by turn and not
//! from the latencies, so that Little's law can compare the two.

use stormeter_disk::Kind;

use crate::direction::Direction;
use crate::observer::Observer;
use crate::recorder::Recorder;
use crate::window::sample_of;
use stormeter_trial::{Ended, IoFailure, Sample, StepTime};

/// The tallies of a trial of fixed work on one thread. Its window opens at the start and closes with the last
/// operation.
#[derive(Debug)]
pub struct FixedWorkLog {
    recorder: Recorder,
    first_disk: u32,
    interval_ns: u64,
    start_ns: u64,
    row_start_ns: u64,
    last_ns: u64,
    outstanding_integral: u128,
    turn_wait_ns: u64,
    /// The part of the waits since the last call of [`FixedWorkLog::advance`].
    waited_now_ns: u64,
    is_open: bool,
}

impl FixedWorkLog {
    /// For `disks` workers, starting with number `first_disk`. Rows last `interval_ns`, which must
    /// not be 0.
    pub fn new(first_disk: u32, disks: u32, interval_ns: u64) -> Self {
        Self {
            recorder: Recorder::new(disks),
            first_disk,
            interval_ns: interval_ns.max(1),
            start_ns: 0,
            row_start_ns: 0,
            last_ns: 0,
            outstanding_integral: 0,
            turn_wait_ns: 0,
            waited_now_ns: 0,
            is_open: false,
        }
    }

    /// Opens the window.
    pub fn open(&mut self, start_ns: u64, observer: &mut impl Observer) {
        (self.start_ns, self.row_start_ns, self.last_ns) = (start_ns, start_ns, start_ns);
        self.is_open = true;
        observer.window_opened();
    }

    /// Sets the time to `now_ns`; `outstanding` operations were outstanding since the last call. Ends
    /// the rows that are over. What ends exactly with a row belongs to it, so that the last row never
    /// has length zero.
    pub fn advance(&mut self, now_ns: u64, outstanding: u64, observer: &mut impl Observer) {
        let passed_ns = now_ns.saturating_sub(self.last_ns);
        self.outstanding_integral += u128::from(outstanding) * u128::from(passed_ns);
        self.turn_wait_ns += std::mem::take(&mut self.waited_now_ns);
        self.last_ns = self.last_ns.max(now_ns);
        while self.row_start_ns.saturating_add(self.interval_ns) < now_ns {
            self.end_row(self.row_start_ns + self.interval_ns, observer);
        }
    }

    /// An operation starts at `started_ns`: since the last call of [`FixedWorkLog::advance`] it was not
    /// outstanding, but waited while others were submitted.
    pub(super) fn begins(&mut self, started_ns: u64) {
        self.waited_now_ns += started_ns.saturating_sub(self.last_ns);
    }

    /// The time at which [`FixedWorkLog::advance`] ends the current row.
    pub fn row_due_ns(&self) -> u64 {
        self.row_start_ns.saturating_add(self.interval_ns).saturating_add(1)
    }

    /// The time of the last call of [`FixedWorkLog::advance`].
    pub fn now_ns(&self) -> u64 {
        self.last_ns
    }

    /// An I/O that moved all its bytes is one operation.
    #[inline]
    pub(super) fn record(&mut self, disk: u32, kind: Kind, bytes: u32, latency_ns: u64) {
        self.recorder.record(disk, Direction::of(kind), bytes, latency_ns);
    }

    /// Bytes that moved, as a part of an operation that has not ended yet.
    pub fn moved(&mut self, kind: Kind, bytes: u64) {
        self.recorder.moved(Direction::of(kind), bytes);
    }

    /// An operation of worker `disk` (counted from 0 on this thread) has ended. Its `bytes` are those
    /// reported by [`FixedWorkLog::moved`], all of the one `kind`.
    pub fn ended(&mut self, disk: u32, kind: Kind, bytes: u64, latency_ns: u64) {
        self.recorder.record_whole(disk, Direction::of(kind), bytes, latency_ns);
    }

    /// Records an I/O that failed.
    pub fn io_failed(&mut self, failure: IoFailure) {
        self.recorder.io_failed(failure);
    }

    /// Number of I/Os that failed.
    pub fn io_failures(&self) -> u64 {
        self.recorder.io_failures()
    }

    /// Closes the window at the last call of [`FixedWorkLog::advance`]. `carried_ns` is the total
    /// time for which the unfinished operations had been outstanding by then.
    pub fn close(
        mut self,
        carried_ns: i64,
        steps: Vec<StepTime>,
        ended: Ended,
        observer: &mut impl Observer,
    ) -> Sample {
        let mut window_ns = 0;
        if self.is_open {
            window_ns = (self.last_ns - self.start_ns).max(1);
            self.end_row(self.start_ns + window_ns, observer);
            observer.window_closed();
        }
        let recorded = self.recorder.finish(self.first_disk);
        let turn_wait_ns = u128::from(self.turn_wait_ns);
        let outstanding_ns = self.outstanding_integral.saturating_sub(turn_wait_ns);
        Sample {
            outstanding_mean: outstanding_ns as f64 / window_ns.max(1) as f64,
            carried_ns,
            turn_wait_ns: Some(self.turn_wait_ns),
            steps,
            ..sample_of(recorded, window_ns, self.interval_ns, ended)
        }
    }

    fn end_row(&mut self, end_ns: u64, observer: &mut impl Observer) {
        let start_ns = self.row_start_ns - self.start_ns;
        let row = self.recorder.close_interval(start_ns, end_ns - self.row_start_ns);
        observer.interval(&row);
        self.row_start_ns = end_ns;
    }
}
