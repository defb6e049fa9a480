//! An open loop: which time belongs to the storage and which to the loop, and which time awake is not a cost
//! of the I/O.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use stormeter_disk::{Completion, Disks, DisksError, Operation, Wait};
use stormeter_driver::drive;
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
};
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, Limits, Sample, Trial};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn trial(arrivals: Arrivals) -> Trial {
    Trial {
        workload: workload(arrivals),
        first_disk: 0,
        disks: 1,
        disk_bytes: 1 << 30,
        seed: 1,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: 100 * MS,
        duration_ns: S,
        interval_ns: 100 * MS,
        limits: Limits::default(),
        verify: false,
    }
}

/// Disks that serve each request for `service_ns`, with a timer that fires `late_ns` late. Requests are passed to
/// them by the next poll, which takes `hand_over_ns` for each; a poll that finds nothing takes 100 ns.
struct Timed {
    time: VirtualTime,
    service_ns: u64,
    late_ns: u64,
    hand_over_ns: u64,
    pending: Vec<Completion>,
    served: VecDeque<(u64, Completion)>,
}

impl Timed {
    fn new(time: VirtualTime, service_ns: u64) -> Self {
        let (pending, served) = (Vec::new(), VecDeque::new());
        Self { time, service_ns, late_ns: 0, hand_over_ns: 0, pending, served }
    }

    fn advance(&self, ns: u64) {
        self.time.advance_to(self.time.now_ns() + ns);
    }
}

impl Disks for Timed {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        let moved = |one: &Operation| Completion::moved(one.slot, one.length_bytes);
        self.pending.extend(operations.iter().map(moved));
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        for completion in std::mem::take(&mut self.pending) {
            self.served.push_back((self.time.now_ns() + self.service_ns, completion));
            self.advance(self.hand_over_ns);
        }
        let now_ns = self.time.now_ns();
        let first_ns = self.served.front().map_or(u64::MAX, |(at_ns, _)| *at_ns);
        match wait {
            Wait::No => self.advance(100),
            Wait::AtMost(_) if first_ns <= now_ns => self.advance(100),
            Wait::AtMost(ns) if first_ns <= now_ns + ns => self.time.advance_to(first_ns),
            Wait::AtMost(ns) => self.advance(ns + self.late_ns),
        }
        while self.served.front().is_some_and(|(at_ns, _)| *at_ns <= self.time.now_ns()) {
            completions.extend(self.served.pop_front().map(|(_, completion)| completion));
        }
        Ok(())
    }

    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

fn run(trial: &Trial, disks: impl FnOnce(VirtualTime) -> Timed) -> Sample {
    let time = VirtualTime::new();
    let mut clock = time.clock();
    let sample = drive(trial, || Some(0), &mut disks(time), &mut clock, &mut ()).unwrap();
    if let Some(issue) = &sample.issue {
        // Each I/O has all three, and they add up exactly.
        let total = sample.total();
        assert_eq!(issue.service.histogram.count(), total.operations);
        assert_eq!(issue.lateness.histogram.count(), total.operations);
        assert_eq!(issue.service.sum_ns + issue.lateness.sum_ns, total.latency_sum_ns);
    }
    sample
}

#[test]
fn service_time_is_the_storage_s_and_lateness_the_loop_s() {
    let arrivals = Arrivals::Constant { rate_per_s: 1_000.0 };
    let sample =
        run(&trial(arrivals), |time| Timed { late_ns: 60 * US, ..Timed::new(time, 200 * US) });
    let issue = sample.issue.unwrap();
    assert_eq!(issue.lateness.histogram.count(), 1000);
    let near = |is: Option<f64>, wanted: f64| (is.unwrap() / wanted - 1.0).abs() < 0.02;
    assert!(near(issue.lateness.mean_ns(), 60e3), "{:?}", issue.lateness.mean_ns());
    assert!(near(issue.lateness.histogram.percentile_ns(0.99), 60e3));
    assert!(near(issue.service.mean_ns(), 200e3), "{:?}", issue.service.mean_ns());
    assert!(near(issue.service.histogram.percentile_ns(0.5), 200e3));
    assert!(near(sample.reads.latency_mean_ns(), 260e3), "{:?}", sample.reads.latency_mean_ns());
    assert_eq!((issue.service.max_ns, issue.held_operations), (200 * US, 0));
}

#[test]
fn a_closed_loop_has_no_second_histogram() {
    let sample = run(&trial(Arrivals::Closed { outstanding: 4 }), |time| Timed::new(time, 50 * US));
    assert_eq!(sample.issue, None);
}

/// 2 slots of a millisecond each take 2000 requests a second, and 3000 are due.
#[test]
fn requests_that_wait_for_a_slot_are_counted_apart() {
    let mut trial = trial(Arrivals::Constant { rate_per_s: 3_000.0 });
    trial.limits.open_loop_outstanding = 2;
    let sample = run(&trial, |time| Timed::new(time, MS));
    let issue = sample.issue.clone().unwrap();
    assert!(issue.held_operations >= sample.operations() - 2, "{}", issue.held_operations);
    assert!(issue.lateness.mean_ns().unwrap() > 100e6, "{:?}", issue.lateness.mean_ns());
    assert_eq!(issue.service.histogram.percentile_ns(0.99).map(|ns| (ns / 1e6).round()), Some(1.0));
}

#[test]
fn samples_of_threads_are_joined_and_one_without_the_times_leaves_none() {
    let sample = |seed| {
        let arrivals = Arrivals::Poisson { rate_per_s: 2_000.0 };
        run(&Trial { seed, ..trial(arrivals) }, |time| Timed::new(time, 100 * US))
    };
    let (one, other) = (sample(1), sample(2));
    let mut both = one.clone();
    both.merge(other.clone());
    let (mut sum, other_issue) = (one.issue.clone().unwrap(), other.issue.clone().unwrap());
    sum.merge(&other_issue);
    assert_eq!(both.issue, Some(sum.clone()));
    let counts = [&one, &other].map(Sample::operations);
    assert_eq!(sum.service.histogram.count(), counts[0] + counts[1]);
    // As written by an earlier version.
    let mut stored = serde_json::to_value(&other).unwrap();
    stored.as_object_mut().unwrap().remove("issue");
    let earlier: Sample = serde_json::from_value(stored).unwrap();
    assert_eq!(earlier.issue, None);
    both.merge(earlier);
    assert_eq!(both.issue, None, "a histogram of some of the I/Os would be taken for that of all");
}

/// Time awake is subtracted from the cost, but the time for the I/O itself is not: submitting a request
/// costs 5 µs here.
#[test]
fn what_an_io_costs_does_not_depend_on_how_long_the_loop_is_awake_for_it() {
    let cost_ns = |rate_per_s| {
        let mut trial = trial(Arrivals::Constant { rate_per_s });
        // Awake all the time, so that everything other than spinning is work.
        trial.limits.awake_ns = u64::MAX;
        let sample =
            run(&trial, |time| Timed { hand_over_ns: 5 * US, ..Timed::new(time, 20 * US) });
        (sample.window_ns - sample.spun_ns) as f64 / sample.operations() as f64
    };
    for rate_per_s in [100.0, 1_000.0, 10_000.0] {
        let cost_ns = cost_ns(rate_per_s);
        assert!((5_000.0..5_500.0).contains(&cost_ns), "{rate_per_s} a second: {cost_ns} ns each");
    }
}

/// A virtual machine that is paused for a millisecond, or an interrupt that serves a network card, is not
/// spinning.
#[test]
fn a_turn_in_which_the_thread_was_not_run_is_no_spinning() {
    struct Interrupted(Timed, u64);
    impl Disks for Interrupted {
        fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
            self.0.submit(operations)
        }
        fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), DisksError> {
            self.1 += 1;
            if self.1.is_multiple_of(1000) {
                self.0.advance(MS);
            }
            self.0.reap(wait, done)
        }
        fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
            None
        }
    }
    let mut trial = trial(Arrivals::Constant { rate_per_s: 100.0 });
    trial.limits.awake_ns = u64::MAX;
    let time = VirtualTime::new();
    let mut disks = Interrupted(Timed::new(time.clone(), 20 * US), 0);
    let sample = drive(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    // Nine tenths of the time pass in such turns: 1 ms after every 1000 polls of 100 ns.
    let share = sample.spun_ns as f64 / sample.window_ns as f64;
    assert!((0.05..0.15).contains(&share), "{share}");
}

/// In virtual time the loop wakes on time, whatever is simulated below it.
#[test]
fn the_loop_over_a_simulated_queue_is_never_late() {
    let mut trial = trial(Arrivals::Poisson { rate_per_s: 5_000.0 });
    trial.duration_ns = 10 * S;
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let service = Service::Exponential { mean_ns: 100 * US };
    let model = Model { servers: 1, service, faults: FaultPlan::default() };
    let mut disks = SimulatedDisks::new(time.clone(), model, noise, 1);
    let sample = drive(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    let issue = sample.issue.as_ref().unwrap();
    assert_eq!(issue.lateness.max_ns, 0);
    // The storage's own queueing is part of its service time.
    assert_eq!(issue.service.sum_ns, sample.total().latency_sum_ns);
}
