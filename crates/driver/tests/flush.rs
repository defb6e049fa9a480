//! Flushes and durable writes: when they are issued, who waits for them, what is recorded, how a failed one ends a
//! trial.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::rc::Rc;

use stormeter_disk::{Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};
use stormeter_driver::{Observer, drive};
use stormeter_simulator::VirtualTime;
use stormeter_trial::{
    Arrivals, Burst, Ended, FlushEvery, IoFailureOutcome, Limits, Sample, Trial, Workload,
};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const IO_NS: u64 = 100 * US;
const FLUSH_NS: u64 = 400 * US;

/// Disks in virtual time, each operation of which takes a fixed time, whatever else is outstanding.
struct Timed {
    time: VirtualTime,
    outstanding: Vec<(u64, Operation)>,
    /// Time of submission, and what.
    log: Vec<(u64, Operation)>,
    ended: Vec<(u64, Operation)>,
    /// The number of the flush that fails, counted from 0.
    fails: Option<usize>,
    flushes: usize,
    flush_ns: u64,
}

impl Timed {
    fn new(time: &VirtualTime) -> Self {
        Self {
            time: time.clone(),
            outstanding: vec![],
            log: vec![],
            ended: vec![],
            fails: None,
            flushes: 0,
            flush_ns: FLUSH_NS,
        }
    }
}

impl Disks for Timed {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        let now_ns = self.time.now_ns();
        for &operation in operations {
            assert!(self.outstanding.iter().all(|(_, other)| other.slot != operation.slot));
            let takes_ns = if operation.kind == Kind::Flush { self.flush_ns } else { IO_NS };
            self.log.push((now_ns, operation));
            self.outstanding.push((now_ns.saturating_add(takes_ns), operation));
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let until_ns = match wait {
            Wait::No => self.time.now_ns(),
            Wait::AtMost(ns) => self.time.now_ns().saturating_add(ns),
        };
        let next_ns = self.outstanding.iter().map(|&(end_ns, _)| end_ns).min();
        let at_ns = next_ns.unwrap_or(u64::MAX).min(until_ns);
        self.time.advance_to(at_ns);
        let (over, left) = self.outstanding.drain(..).partition(|&(end_ns, _)| end_ns <= at_ns);
        self.outstanding = left;
        let over: Vec<(u64, Operation)> = over;
        for (_, operation) in over {
            self.ended.push((at_ns, operation));
            let is_flush = operation.kind == Kind::Flush;
            self.flushes += usize::from(is_flush);
            completions.push(match self.fails {
                Some(number) if is_flush && number + 1 == self.flushes => {
                    Completion::failed(operation.slot, DeviceError::IO)
                }
                _ => Completion::moved(operation.slot, operation.length_bytes),
            });
        }
        Ok(())
    }

    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

fn trial(workload: Workload, disks: u32) -> Trial {
    Trial {
        workload,
        first_disk: 0,
        disks,
        disk_bytes: 1 << 30,
        seed: 1,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: 10 * MS,
        duration_ns: 200 * MS,
        interval_ns: 50 * MS,
        limits: Limits::default(),
        verify: false,
    }
}

fn log(outstanding: u32, writes: u32) -> Workload {
    Workload {
        read_percent: 0.0,
        random_percent: 0.0,
        flush: Some(FlushEvery::Writes { writes }),
        ..stormeter_testkit::workload(Arrivals::Closed { outstanding })
    }
}

fn run(trial: &Trial) -> (Sample, Timed) {
    let time = VirtualTime::new();
    let mut disks = Timed::new(&time);
    let sample = drive(trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    (sample, disks)
}

/// As a write-ahead log: append, flush, strictly in turn; neither's latency is in the other's.
#[test]
fn with_one_outstanding_write_writes_and_flushes_take_turns() {
    let (sample, disks) = run(&trial(log(1, 1), 1));
    for (number, (_, operation)) in disks.log.iter().enumerate() {
        let expected = if number % 2 == 0 { Kind::Write } else { Kind::Flush };
        assert_eq!(operation.kind, expected, "{number}");
        if expected == Kind::Flush {
            assert_eq!((operation.offset_bytes, operation.length_bytes), (0, 0));
        }
    }
    for pair in disks.ended.windows(2) {
        let takes_ns = if pair[1].1.kind == Kind::Flush { FLUSH_NS } else { IO_NS };
        assert_eq!(
            pair[1].0 - pair[0].0,
            takes_ns,
            "nothing is issued before the one before ended"
        );
    }
    // 200 ms of 500 µs a turn.
    assert_eq!((sample.operations(), sample.flushes.operations), (400, 400));
    assert_eq!(sample.flushes.bytes, 0);
    assert_eq!(sample.writes.latency_mean_ns(), Some(IO_NS as f64));
    assert_eq!(sample.flushes.latency_mean_ns(), Some(FLUSH_NS as f64));
    assert_eq!(sample.flushes.histogram.count(), 400);
    assert_eq!(
        (sample.flushes.latency_min_ns, sample.flushes.latency_max_ns),
        (FLUSH_NS, FLUSH_NS)
    );
    assert_eq!(sample.iops(), 2000.0, "flushes are no I/Os");
    let rows: u64 = sample.intervals.iter().map(|row| row.writes.operations).sum();
    assert_eq!((rows, sample.disks[0].operations), (400, 400));
    // Little's law holds for the I/Os alone, and the wait for flushes is what is missing to the one that is configured.
    assert!((sample.outstanding_mean - 0.2).abs() < 1e-9, "{}", sample.outstanding_mean);
    assert_eq!(sample.flush_wait_ns, 160 * MS);
    assert_eq!(sample.ended, Ended::Completed);
}

#[test]
fn a_flush_follows_the_writes_of_its_disk_and_only_one_slot_waits() {
    let workload = Workload { read_percent: 50.0, random_percent: 100.0, ..log(4, 8) };
    let (sample, disks) = run(&trial(workload, 3));
    for disk in 0..3 {
        // In the order in which things happen: completed writes, and submitted flushes.
        let ended = disks.ended.iter().filter(|(_, it)| it.disk == disk && it.kind == Kind::Write);
        let writes: Vec<u64> = ended.map(|&(at_ns, _)| at_ns).collect();
        let started = disks.log.iter().filter(|(_, it)| it.disk == disk && it.kind == Kind::Flush);
        let mut from_ns = 0;
        for &(at_ns, flush) in started.clone() {
            // Several writes may end at once, of which the eighth makes the flush due.
            let before =
                writes.iter().filter(|&&end_ns| end_ns > from_ns && end_ns <= at_ns).count();
            assert!((5..=11).contains(&before), "{before} writes before a flush");
            assert!(flush.slot >= 12 && flush.slot < 24);
            from_ns = at_ns;
        }
        let flushes = started.count();
        assert!(flushes.abs_diff(writes.len() / 8) <= 1, "{flushes} for {} writes", writes.len());
        // The slot that waits has nothing else outstanding, the other three go on.
        let of_slot = |slot: u32| disks.log.iter().filter(move |(_, it)| it.slot == slot);
        for &(at_ns, flush) in disks.log.iter().filter(|(_, it)| it.kind == Kind::Flush) {
            let others = of_slot(flush.slot - 12)
                .filter(|&&(started_ns, _)| started_ns >= at_ns && started_ns < at_ns + FLUSH_NS);
            assert_eq!(others.count(), 0);
        }
    }
    assert!(sample.reads.operations > 0 && sample.flushes.operations > 100);
}

#[test]
fn flushes_at_an_interval_run_beside_the_load_and_only_if_something_was_written() {
    let mut workload = log(1, 1);
    workload.flush = Some(FlushEvery::Interval { ns: 10 * MS });
    let (sample, disks) = run(&trial(workload.clone(), 2));
    let flushes = |disk| {
        let all = disks.log.iter().filter(move |(_, it)| it.kind == Kind::Flush && it.disk == disk);
        all.map(|&(at_ns, _)| at_ns).collect::<Vec<u64>>()
    };
    for disk in 0..2 {
        let at = flushes(disk);
        assert!((20..=21).contains(&at.len()), "{at:?}");
        assert!(at.windows(2).all(|pair| pair[1].abs_diff(pair[0] + 10 * MS) < MS), "{at:?}");
    }
    assert_ne!(
        flushes(0)[0] % (10 * MS),
        flushes(1)[0] % (10 * MS),
        "guests commit at their own times"
    );
    assert_eq!(sample.operations(), 2 * 2000, "nothing waits");
    assert_eq!(sample.flush_wait_ns, 0);
    assert!((38..=42).contains(&sample.flushes.operations), "{}", sample.flushes.operations);

    workload.arrivals = Arrivals::Constant { rate_per_s: 20.0 };
    let (_, rare) = run(&trial(workload, 1));
    let count = |kind| rare.log.iter().filter(|(_, it)| it.kind == kind).count();
    assert!(count(Kind::Flush) <= count(Kind::Write), "a disk that was not written is not flushed");
    assert!(count(Kind::Flush) >= 3);
}

#[test]
fn an_open_loop_and_bursts_do_not_wait_and_have_one_flush_outstanding_a_disk() {
    let mut open = log(1, 1);
    open.arrivals = Arrivals::Constant { rate_per_s: 10_000.0 };
    let mut bursts = log(4, 2);
    bursts.burst = Some(Burst { length: 8, delay_ns: MS });
    for workload in [open, bursts] {
        let (sample, disks) = run(&trial(workload, 2));
        assert!(sample.operations() > 300, "{}", sample.operations());
        assert_eq!((sample.ended.clone(), sample.flush_wait_ns), (Ended::Completed, 0));
        for disk in 0..2 {
            let of = |list: &[(u64, Operation)]| -> Vec<u64> {
                let own = list.iter().filter(|(_, it)| it.disk == disk && it.kind == Kind::Flush);
                own.map(|&(at_ns, _)| at_ns).collect()
            };
            let (started, ended) = (of(&disks.log), of(&disks.ended));
            assert_eq!(started.len(), ended.len(), "the trial waits for the last");
            assert!(started.len() > 40, "{}", started.len());
            assert!(started[1..].iter().zip(&ended).all(|(next, last)| next >= last));
        }
    }
}

#[test]
fn durable_writes_have_totals_of_their_own() {
    let durable = Workload { durable: true, flush: None, read_percent: 50.0, ..log(2, 1) };
    let (sample, disks) = run(&trial(durable, 1));
    assert!(disks.log.iter().all(|(_, it)| matches!(it.kind, Kind::Read | Kind::DurableWrite)));
    assert!(sample.durable.operations > 1000 && sample.reads.operations > 1000);
    assert_eq!((sample.writes.operations, sample.flushes.operations), (0, 0));
    assert_eq!(sample.durable.histogram.count(), sample.durable.operations);
    let rows: u64 =
        sample.intervals.iter().map(|row| row.reads.operations + row.writes.operations).sum();
    assert_eq!(rows, sample.operations());
}

/// Nothing that the flush covered is known to be stored: to go on would measure something else.
#[test]
fn a_flush_that_fails_ends_the_trial() {
    for (workload, disks) in [(log(1, 1), 1), (log(4, 8), 2)] {
        let trial = trial(workload, disks);
        let time = VirtualTime::new();
        let mut timed = Timed { fails: Some(30), ..Timed::new(&time) };
        let sample = drive(&trial, || Some(0), &mut timed, &mut time.clock(), &mut ()).unwrap();
        let Ended::Lost { reason } = &sample.ended else { panic!("{:?}", sample.ended) };
        assert!(reason.contains("flush failed"), "{reason}");
        let failure = &sample.io_failures[0];
        assert_eq!(failure.kind, Kind::Flush);
        assert_eq!(failure.outcome, IoFailureOutcome::Failed(DeviceError::IO));
        assert_eq!((sample.failed_operations(), sample.flushes.errors), (1, 1));
        assert!(sample.window_ns < 200 * MS);
    }
}

#[test]
fn a_flush_that_never_ends_stalls_the_trial() {
    let mut trial = trial(log(1, 1), 1);
    trial.limits.stall_ns = 50 * MS;
    let time = VirtualTime::new();
    let mut disks = Timed { flush_ns: u64::MAX, ..Timed::new(&time) };
    let sample = drive(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    assert_eq!(sample.ended, Ended::Stalled { outstanding: 1 });
}

/// What is outstanding when the window closes is waited for, and counts in no total.
#[test]
fn flushes_of_the_ramp_and_the_drain_are_not_recorded() {
    struct Seen(Rc<Cell<(u64, u64)>>, VirtualTime);
    impl Observer for Seen {
        fn window_opened(&mut self) {
            self.0.set((self.1.now_ns(), 0));
        }
        fn window_closed(&mut self) {
            self.0.set((self.0.get().0, self.1.now_ns()));
        }
    }
    let trial = trial(log(1, 1), 1);
    let time = VirtualTime::new();
    let (mut disks, seen) = (Timed::new(&time), Rc::new(Cell::new((0, 0))));
    let mut observer = Seen(seen.clone(), time.clone());
    let sample = drive(&trial, || Some(0), &mut disks, &mut time.clock(), &mut observer).unwrap();
    let (opened_ns, closed_ns) = seen.get();
    let within = disks.ended.iter().filter(|&&(at_ns, operation)| {
        operation.kind == Kind::Flush && at_ns >= opened_ns && at_ns < closed_ns
    });
    assert_eq!(within.count() as u64, sample.flushes.operations);
    assert!(disks.outstanding.is_empty());
}
