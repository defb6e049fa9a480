//! The real loop over simulated disks in virtual time, checked against queueing theory and
//! arithmetic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_disk::{Clock, Completion, DeviceError, Disks, DisksError, Operation, Wait};
use stormeter_driver::{Observer, drive};
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, Stall, VirtualTime,
};
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, Burst, Ended, IoFailureOutcome, Limits, Sample, Trial};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn trial(outstanding: u32) -> Trial {
    Trial {
        workload: workload(Arrivals::Closed { outstanding }),
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

fn constant(ns: u64, servers: u32) -> Model {
    Model { servers, service: Service::Constant { ns }, faults: FaultPlan::default() }
}

fn run(trial: &Trial, model: Model) -> Sample {
    run_watched(trial, model, &mut ())
}

fn run_watched(trial: &Trial, model: Model, observer: &mut impl Observer) -> Sample {
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let mut disks = SimulatedDisks::new(time.clone(), model, noise, trial.seed);
    drive(trial, || Some(0), &mut disks, &mut time.clock(), observer).unwrap()
}

/// The three tallies agree.
fn assert_tallies(sample: &Sample) {
    let histograms = sample.reads.histogram.count() + sample.writes.histogram.count();
    let rows: u64 =
        sample.intervals.iter().map(|row| row.reads.operations + row.writes.operations).sum();
    let disks: u64 = sample.disks.iter().map(|disk| disk.operations).sum();
    assert_eq!(histograms, sample.operations());
    assert_eq!(rows, sample.operations());
    assert_eq!(disks, sample.operations());
    // Little's law, exactly: the outstanding time is the latencies plus what was carried over.
    if sample.window_ns > 0 && sample.failed_operations() == 0 {
        let busy_ns = sample.total().latency_sum_ns as i64 + sample.carried_ns;
        let mean = busy_ns as f64 / sample.window_ns as f64;
        assert!((mean - sample.outstanding_mean).abs() < 1e-3 * mean.max(1.0), "{mean} {sample:?}");
    }
    let length: u64 = sample.intervals.iter().map(|row| row.length_ns).sum();
    assert_eq!(length, sample.window_ns);
}

#[test]
fn a_closed_loop_over_constant_service_is_exact() {
    // 4 outstanding over 2 servers of 100 µs: 20 000 IOPS, each I/O waits once: 200 µs.
    let sample = run(&trial(4), constant(100 * US, 2));
    assert_eq!(sample.ended, Ended::Completed);
    assert_eq!(sample.operations(), 20_000);
    assert_eq!(sample.total().latency_mean_ns(), Some(200e3));
    assert_eq!(sample.outstanding_mean, 4.0);
    assert_eq!(sample.outstanding_configured, Some(4));
    assert_eq!(sample.bytes(), 20_000 * 4096);
    assert_eq!(sample.ramp_operations, 2_000 - 2);
    assert_tallies(&sample);
}

/// Disks that answer within the submission call, which takes time: a page cache.
struct AtOnce {
    time: VirtualTime,
    submit_ns: u64,
    done: Vec<Completion>,
}

impl Disks for AtOnce {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for operation in operations {
            self.time.advance_to(self.time.now_ns() + self.submit_ns);
            self.done.push(Completion::moved(operation.slot, operation.length_bytes));
        }
        Ok(())
    }

    fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        self.time.advance_to(self.time.now_ns() + 100);
        completions.append(&mut self.done);
        Ok(())
    }

    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

/// Slots that wait while others are submitted are not outstanding, and Little's law holds exactly.
#[test]
fn what_waits_for_its_turn_is_not_outstanding() {
    for outstanding in [1, 4, 16, 64] {
        let time = VirtualTime::new();
        let (mut clock, submit_ns) = (time.clock(), 2000);
        let mut disks = AtOnce { time, submit_ns, done: Vec::new() };
        let mut trial = trial(outstanding);
        trial.duration_ns = 10 * MS;
        trial.interval_ns = MS;
        let sample = drive(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap();
        assert_tallies(&sample);
        // In a batch of n the last is submitted n - 1 calls after the first: half are outstanding on
        // average.
        let share = sample.outstanding_mean / f64::from(outstanding);
        assert!(outstanding == 1 || (0.45..0.75).contains(&share), "{outstanding}: {share}");
        let waited = sample.turn_wait_ns.unwrap() as f64 / sample.window_ns as f64;
        let both = sample.outstanding_mean + waited;
        assert!((both / f64::from(outstanding) - 1.0).abs() < 1e-6, "{outstanding}: {both}");
    }
}

/// Disks behind a timer that fires late; polling takes 100 ns.
struct WokenLate {
    time: VirtualTime,
    late_ns: u64,
    done: Vec<Completion>,
}

impl Disks for WokenLate {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        let moved = |one: &Operation| Completion::moved(one.slot, one.length_bytes);
        self.done.extend(operations.iter().map(moved));
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let passed_ns = match wait {
            Wait::AtMost(ns) if self.done.is_empty() => ns + self.late_ns,
            _ => 100,
        };
        self.time.advance_to(self.time.now_ns() + passed_ns);
        completions.append(&mut self.done);
        Ok(())
    }

    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

#[test]
fn an_open_loop_that_stays_awake_is_in_time_though_its_timer_is_not() {
    let sample = |awake_ns| {
        let time = VirtualTime::new();
        let mut clock = time.clock();
        let mut disks = WokenLate { time, late_ns: 60 * US, done: Vec::new() };
        let mut trial = trial(1);
        trial.workload.arrivals = Arrivals::Constant { rate_per_s: 1_000.0 };
        trial.limits.awake_ns = awake_ns;
        let sample = drive(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap();
        assert_tallies(&sample);
        assert_eq!(sample.operations(), 1000);
        (sample.total().latency_mean_ns().unwrap(), sample.spun_ns)
    };
    let (slept, awake) = (sample(0), sample(100 * US));
    assert!(slept.0 > 55_000.0 && slept.1 == 0, "{slept:?}");
    assert!(awake.0 < 500.0, "{awake:?}");
    // Woken 60 µs late, it is awake for the other 40 before each request.
    assert!((awake.1 as f64 / (1000.0 * 40e3) - 1.0).abs() < 0.02, "{awake:?}");
}

#[test]
fn the_ramp_is_left_out_and_rows_cover_the_window() {
    let mut trial = trial(1);
    trial.duration_ns = 250 * MS;
    let sample = run(&trial, constant(MS, 1));
    let lengths: Vec<u64> = sample.intervals.iter().map(|row| row.length_ns / MS).collect();
    assert_eq!(lengths, [100, 100, 50]);
    assert_eq!(sample.operations(), 250);
    assert_tallies(&sample);
}

#[test]
fn an_open_loop_sees_the_response_time_of_an_m_m_1_queue() {
    let mut trial = trial(1);
    trial.workload.arrivals = Arrivals::Poisson { rate_per_s: 5_000.0 };
    trial.duration_ns = 60 * S;
    trial.interval_ns = S;
    let service = Service::Exponential { mean_ns: 100 * US };
    let model = Model { servers: 1, service, faults: FaultPlan::default() };
    let sample = run(&trial, model);
    // Utilisation 0.5: mean response 1/(mu - lambda) = 200 µs, exponential, so the median is
    // ln 2 times that. 300 000 correlated samples: 3 % is about six standard errors.
    let total = sample.total();
    assert!((total.latency_mean_ns().unwrap() / 200e3 - 1.0).abs() < 0.03);
    let median = total.histogram.percentile_ns(0.5).unwrap();
    assert!((median / (200e3 * std::f64::consts::LN_2) - 1.0).abs() < 0.03, "{median}");
    assert!((sample.outstanding_mean - 1.0).abs() < 0.04, "{}", sample.outstanding_mean);
    assert!((sample.iops() / 5_000.0 - 1.0).abs() < 0.01);
    assert_eq!(sample.backlog_operations, 0);
    assert_tallies(&sample);
}

#[test]
fn a_stall_is_charged_to_every_request_that_fell_due_in_it() {
    // 1000 requests per second for 10 s, and 1 s in which nothing is served: every tenth request
    // waits, half a second on average. A loop that waits with the disk would see one slow request.
    let mut trial = trial(1);
    trial.workload.arrivals = Arrivals::Constant { rate_per_s: 1_000.0 };
    trial.duration_ns = 10 * S;
    trial.limits.open_loop_outstanding = 16;
    let mut model = constant(10 * US, 1);
    model.faults.stall = Some(Stall { at_ns: 3 * S, for_ns: S });
    let sample = run(&trial, model);
    let total = sample.total();
    assert_eq!(total.operations, 10_000);
    assert!((total.latency_mean_ns().unwrap() - 0.05e9).abs() < 0.005e9);
    let p95 = total.histogram.percentile_ns(0.95).unwrap();
    assert!((0.48e9..0.54e9).contains(&p95), "{p95}");
    assert_tallies(&sample);
}

#[test]
fn a_rate_beyond_capacity_leaves_a_backlog() {
    let mut trial = trial(1);
    trial.workload.arrivals = Arrivals::Constant { rate_per_s: 2_000.0 };
    trial.ramp_ns = 0;
    trial.limits.open_loop_outstanding = 8;
    let sample = run(&trial, constant(MS, 1));
    assert_eq!(sample.due_operations, 1999);
    assert_eq!(sample.operations(), 999);
    assert!((990..=1000).contains(&sample.backlog_operations), "{}", sample.backlog_operations);
    assert_eq!(sample.offered_rate_per_s, Some(2_000.0));
}

#[test]
fn bursts_pause_when_all_of_a_group_has_ended() {
    let mut trial = trial(2);
    trial.ramp_ns = 0;
    trial.workload.burst = Some(Burst { length: 10, delay_ns: 5 * MS });
    // Ten I/Os, two at a time over two servers of 1 ms: 5 ms, then 5 ms of rest: 1000 a second.
    let sample = run(&trial, constant(MS, 2));
    assert!((990..=1000).contains(&sample.operations()), "{}", sample.operations());
    assert!((sample.outstanding_mean - 1.0).abs() < 0.02, "{}", sample.outstanding_mean);
    assert_eq!(sample.outstanding_configured, None);
    assert_tallies(&sample);
}

#[test]
fn think_time_is_a_burst_of_one() {
    let mut trial = trial(1);
    trial.workload.burst = Some(Burst { length: 1, delay_ns: 9 * MS });
    let sample = run(&trial, constant(MS, 1));
    assert_eq!(sample.operations(), 100);
    assert_eq!(sample.total().latency_max_ns, MS);
}

#[test]
fn a_thousand_disks_keep_their_own_counts_and_get_equal_shares() {
    let mut trial = trial(4);
    trial.disks = 1000;
    trial.first_disk = 500;
    let sample = run(&trial, constant(100 * US, 64));
    assert_eq!(sample.disks.len(), 1000);
    assert_eq!(sample.disks[0].disk, 500);
    let least = sample.disks.iter().map(|disk| disk.operations).min().unwrap();
    let most = sample.disks.iter().map(|disk| disk.operations).max().unwrap();
    assert!(most - least <= 4, "{least} to {most}");
    assert_eq!(sample.outstanding_mean, 4000.0);
    assert_tallies(&sample);
}

#[test]
fn errors_and_short_ios_are_counted_and_shown_never_dropped() {
    let mut model = constant(100 * US, 1);
    model.faults = FaultPlan { errors: 0.01, shorts: 0.02, ..FaultPlan::default() };
    let sample = run(&trial(4), model);
    assert_eq!(sample.ended, Ended::Completed);
    let total = sample.total();
    // 11 000 I/Os with ramp: 110 and 220 expected, five standard deviations 52 and 73.
    assert!((58..=162).contains(&total.errors), "{}", total.errors);
    assert!((147..=293).contains(&total.short_operations), "{}", total.short_operations);
    assert_eq!(sample.failed_operations(), total.errors + total.short_operations);
    assert_eq!(sample.io_failures.len(), 8);
    let outcomes: Vec<IoFailureOutcome> =
        sample.io_failures.iter().map(|failure| failure.outcome).collect();
    assert!(outcomes.contains(&IoFailureOutcome::Short(2048)));
    assert_tallies(&sample);
}

#[test]
fn a_disk_that_is_full_ends_the_trial_with_its_error() {
    let mut model = constant(100 * US, 1);
    model.faults.full_from = Some(5_000);
    let sample = run(&trial(4), model);
    assert_eq!(sample.ended, Ended::TooManyErrors);
    assert_eq!(sample.failed_operations(), 1000);
    assert_eq!(sample.io_failures[0].outcome, IoFailureOutcome::Failed(DeviceError::NO_SPACE));
    assert!(sample.window_ns < S);
    assert_tallies(&sample);
}

#[test]
fn a_disk_that_never_answers_ends_the_trial() {
    let mut model = constant(100 * US, 1);
    model.faults.stall = Some(Stall { at_ns: 500 * MS, for_ns: u64::MAX });
    let sample = run(&trial(4), model);
    assert_eq!(sample.ended, Ended::Stalled { outstanding: 4 });
    assert!(sample.operations() > 3_000);
    assert_tallies(&sample);
}

#[test]
fn idleness_is_no_stall() {
    let mut trial = trial(1);
    trial.workload.arrivals = Arrivals::Constant { rate_per_s: 0.02 };
    trial.duration_ns = 200 * S;
    trial.interval_ns = S;
    let sample = run(&trial, constant(MS, 1));
    assert_eq!(sample.ended, Ended::Completed);
    assert_eq!(sample.operations(), 4);
}

#[test]
fn a_request_to_stop_is_heard_and_what_was_counted_is_kept() {
    struct StopAt(u32);
    impl Observer for StopAt {
        fn cancelled(&mut self) -> bool {
            self.0 = self.0.saturating_sub(1);
            self.0 == 0
        }
    }
    let sample = run_watched(&trial(1), constant(MS, 1), &mut StopAt(10));
    assert_eq!(sample.ended, Ended::Cancelled);
    assert!((300..500).contains(&sample.operations()), "{}", sample.operations());
    assert_tallies(&sample);
}

#[test]
fn the_observer_hears_each_event_once_and_in_order() {
    #[derive(Default)]
    struct Log(Vec<String>);
    impl Observer for Log {
        fn window_opened(&mut self) {
            self.0.push("open".into());
        }
        fn interval(&mut self, row: &stormeter_trial::Interval) {
            self.0.push(format!("row {}", row.start_ns / MS));
        }
        fn window_closed(&mut self) {
            self.0.push("close".into());
        }
    }
    let mut trial = trial(1);
    trial.duration_ns = 300 * MS;
    let mut log = Log::default();
    run_watched(&trial, constant(MS, 1), &mut log);
    assert_eq!(log.0, ["open", "row 0", "row 100", "row 200", "close"]);
}

#[test]
fn same_seed_same_sample() {
    let service = Service::LogNormal { median_ns: 100 * US, sigma: 0.5 };
    let model = Model { servers: 4, service, faults: FaultPlan::default() };
    assert_eq!(run(&trial(8), model), run(&trial(8), model));
    let mut other = trial(8);
    other.seed = 2;
    assert_ne!(run(&trial(8), model), run(&other, model));
}

#[test]
fn a_sample_survives_its_stored_form() {
    let mut model = constant(100 * US, 1);
    model.faults.errors = 0.01;
    let sample = run(&trial(4), model);
    let text = serde_json::to_string(&sample).unwrap();
    assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);
}

#[test]
fn whatever_the_disks_do_the_tallies_agree() {
    for seed in 0..1000 {
        let mut trial = trial(1 + (seed % 7) as u32);
        trial.seed = seed;
        trial.disks = 1 + (seed % 3) as u32;
        trial.duration_ns = 50 * MS;
        trial.interval_ns = 7 * MS;
        trial.ramp_ns = (seed % 5) * MS;
        trial.limits = Limits {
            stall_ns: 10 * MS,
            max_io_failures: 40,
            open_loop_outstanding: 5,
            awake_ns: 0,
        };
        match seed % 4 {
            1 => trial.workload.arrivals = Arrivals::Poisson { rate_per_s: 3_000.0 },
            2 => trial.workload.burst = Some(Burst { length: 3, delay_ns: MS }),
            _ => {}
        }
        let faults = FaultPlan {
            errors: (seed % 11) as f64 / 1000.0,
            shorts: (seed % 13) as f64 / 1000.0,
            flush_errors: 0.0,
            full_from: (seed % 17 == 0).then_some(100),
            stall: (seed % 5 == 0)
                .then_some(Stall { at_ns: (seed % 50) * MS, for_ns: (seed % 20) * MS }),
        };
        let service = Service::LogNormal { median_ns: 200 * US, sigma: 1.0 };
        let sample = run(&trial, Model { servers: 1 + (seed % 4) as u32, service, faults });
        assert_tallies(&sample);
        if let Some(configured) = sample.outstanding_configured
            && sample.ended == Ended::Completed
        {
            assert!((sample.outstanding_mean - configured as f64).abs() < 1e-6, "seed {seed}");
        }
    }
}

/// Answers everything at once, and some requests twice.
struct Twice(Vec<u32>);

impl Disks for Twice {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.0.extend(operations.iter().map(|operation| operation.slot));
        Ok(())
    }
    fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let slots: Vec<u32> = self.0.drain(..).collect();
        completions.extend(slots.iter().chain(&slots).map(|&s| Completion::moved(s, 4096)));
        Ok(())
    }
    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

struct Still;

impl Clock for Still {
    fn now_ns(&mut self) -> u64 {
        42
    }
}

#[test]
fn an_answer_to_nothing_ends_the_trial() {
    let mut now_ns = 0;
    struct Ticking<'a>(&'a mut u64);
    impl Clock for Ticking<'_> {
        fn now_ns(&mut self) -> u64 {
            *self.0 += 100;
            *self.0
        }
    }
    let mut closed = trial(1);
    // With pauses, a slot stays idle after its completion, so the second answer matches nothing.
    closed.workload.burst = Some(Burst { length: 1, delay_ns: MS });
    let sample =
        drive(&closed, || Some(0), &mut Twice(vec![]), &mut Ticking(&mut now_ns), &mut ()).unwrap();
    let Ended::QueueBroken { reason } = sample.ended else { panic!("{:?}", sample.ended) };
    assert!(reason.contains("nothing was outstanding"), "{reason}");
}

#[test]
fn a_clock_that_stands_still_is_noticed() {
    struct AtOnce(Vec<u32>);
    impl Disks for AtOnce {
        fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
            self.0.extend(operations.iter().map(|operation| operation.slot));
            Ok(())
        }
        fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
            completions.extend(self.0.drain(..).map(|slot| Completion::moved(slot, 4096)));
            Ok(())
        }
        fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
            None
        }
    }
    let sample = drive(&trial(1), || Some(0), &mut AtOnce(vec![]), &mut Still, &mut ()).unwrap();
    assert_eq!(sample.ended, Ended::ClockStopped);
    // Also before the trial has started.
    let sample = drive(&trial(1), || Some(S), &mut AtOnce(vec![]), &mut Still, &mut ()).unwrap();
    assert_eq!(sample.ended, Ended::ClockStopped);
}
