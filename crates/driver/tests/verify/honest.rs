//! An honest disk under every kind of load: no false alarm, and the load is the requested one.

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_disk::Kind;
use stormeter_driver::drive_verified;
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
};
use stormeter_trial::{
    Arrivals, Burst, Content, Distribution, Ended, FlushEvery, SizeShare, Workload, WorkloadError,
};

use crate::memory::Plan;
use crate::setting::{MS, Outcome, Store, workload};

const SEEDS: u64 = 12;

/// Trials on one and on two threads over the same disks, from many seeds.
fn assert_honest(load: &Workload, disk_bytes: u64) {
    for seed in 0..SEEDS {
        let mut store = Store::new(load.clone(), 4, disk_bytes);
        for (trial, threads) in [1, 2, 4, 2].into_iter().enumerate() {
            let outcome = store.run(seed + 100 * trial as u64, threads, Plan::default());
            let Outcome { sample, verified, overlaps, .. } = outcome;
            let at = format!("seed {seed}, trial {trial}");
            assert_eq!(sample.ended, Ended::Completed, "{at}");
            assert_eq!(verified.corruptions, [], "{at}");
            assert_eq!((verified.wrong_blocks, verified.unknown_blocks), (0, 0), "{at}");
            assert_eq!(overlaps, 0, "{at}");
            let unit_bytes = u64::from(load.verify_unit_bytes().unwrap());
            assert!(verified.blocks >= sample.reads.bytes / unit_bytes, "{at}");
            assert!(sample.reads.operations > 0, "{at}");
        }
    }
}

#[test]
fn closed_loops_on_large_and_on_small_disks() {
    assert_honest(&workload(1), 64 * 4096);
    assert_honest(&workload(16), 1024 * 4096);
    // As small as possible: one free place, so that most requests are moved.
    assert_honest(&workload(16), 16 * 4096);
}

/// What a flush covered, or was written durably, is known to be stored; a lie about it is then a broken promise.
#[test]
fn covered_writes_are_counted_and_lies_about_them_told_apart() {
    use crate::memory::Lie;
    let every = |writes| Some(FlushEvery::Writes { writes });
    let covered_of = |load: Workload, lie| {
        let plan = Plan { lie: Some((lie, 5)), ..Plan::default() };
        let mut found = Vec::new();
        for seed in 0..SEEDS {
            let outcome = Store::new(load.clone(), 2, 16 * 4096).run(seed, 1, plan);
            let corruptions = outcome.verified.corruptions;
            found.extend(corruptions.iter().map(|corruption| corruption.covered));
        }
        found
    };
    for durable in [false, true] {
        let load = Workload { durable, flush: every(1).filter(|_| !durable), ..workload(1) };
        assert_honest(&load, 64 * 4096);
        let outcome = Store::new(load.clone(), 2, 64 * 4096).run(1, 1, Plan::default());
        let writes = outcome.sample.writes.operations + outcome.sample.durable.operations;
        assert!(outcome.verified.covered_writes >= writes && writes > 0);
        let told = covered_of(load, Lie::LostWrite);
        assert!(!told.is_empty() && told.iter().all(|&covered| covered), "{told:?}");
    }
    let never = Workload { flush: None, ..workload(1) };
    let told = covered_of(never, Lie::LostWrite);
    assert!(!told.is_empty() && !told.iter().any(|&covered| covered), "{told:?}");
    let rarely = Workload { flush: every(8), ..workload(16) };
    assert_honest(&rarely, 1024 * 4096);
}

#[test]
fn hot_places_that_all_requests_want() {
    let zipf = Workload { distribution: Distribution::Zipf { exponent: 5.0 }, ..workload(16) };
    assert_honest(&zipf, 64 * 4096);
}

#[test]
fn sequential_streams() {
    let sequential = Workload { random_percent: 0.0, ..workload(8) };
    assert_honest(&sequential, 64 * 4096);
    assert_honest(&sequential, 9 * 4096);
    assert_honest(&Workload { random_percent: 50.0, read_percent: 50.0, ..sequential }, 40 * 4096);
}

#[test]
fn open_loops_and_bursts() {
    for arrivals in
        [Arrivals::Poisson { rate_per_s: 20_000.0 }, Arrivals::Constant { rate_per_s: 60_000.0 }]
    {
        assert_honest(&Workload { arrivals, ..workload(1) }, 32 * 4096);
    }
    let burst = Some(Burst { length: 20, delay_ns: MS / 10 });
    assert_honest(&Workload { burst, ..workload(8) }, 12 * 4096);
}

#[test]
fn sizes_and_alignments_of_all_kinds() {
    let sizes = |sizes: &[u32]| -> Vec<SizeShare> {
        sizes.iter().map(|&bytes| SizeShare { bytes, share: 1.0 }).collect()
    };
    let mixed =
        Workload { sizes: sizes(&[4096, 16_384, 65_536]), random_percent: 70.0, ..workload(4) };
    assert_honest(&mixed, 1 << 20);
    assert_honest(&Workload { alignment_bytes: Some(4096), ..mixed.clone() }, 1 << 20);
    assert_honest(&Workload { sizes: sizes(&[512, 1536]), ..mixed.clone() }, 128 * 1024);
    let content = Content { compressible_percent: 100.0, duplicate_percent: 0.0 };
    assert_honest(&Workload { content, sizes: sizes(&[8192]), ..mixed }, 1 << 20);
}

#[test]
fn writes_that_fail_may_have_been_done_or_not() {
    for seed in 0..4 * SEEDS {
        let mut store = Store::new(workload(8), 2, 40 * 4096);
        let failing = Plan { errors: 0.05, ..Plan::default() };
        let outcome = store.run(seed, 2, failing);
        assert!(outcome.sample.failed_operations() > 0, "seed {seed}");
        assert_eq!(outcome.verified.corruptions, [], "seed {seed}");
        // Nor does the next trial forget them.
        assert_eq!(store.run(seed + 1000, 1, Plan::default()).verified.corruptions, []);
    }
}

#[test]
fn writes_that_were_under_way_when_a_trial_was_given_up_are_undecided() {
    for seed in 0..4 * SEEDS {
        let mut store = Store::new(workload(16), 1, 40 * 4096);
        store.limits.max_io_failures = 5;
        let outcome = store.run(seed, 1, Plan { errors: 0.1, ..Plan::default() });
        assert_eq!(outcome.sample.ended, Ended::TooManyErrors);
        assert_eq!(store.run(seed + 1000, 1, Plan::default()).verified.corruptions, []);
    }
}

#[test]
fn a_resumed_run_reports_no_corruption_in_what_an_earlier_process_wrote() {
    for seed in 0..SEEDS {
        let mut store = Store::new(workload(4), 2, 64 * 4096);
        store.run(seed, 2, Plan::default());
        for resumptions in 1..3 {
            store.resume(resumptions);
            let outcome = store.run(seed + 50 * u64::from(resumptions), 1, Plan::default());
            assert_eq!(outcome.verified.corruptions, [], "seed {seed}");
            assert!(outcome.verified.unknown_blocks > 0);
            assert!(outcome.verified.unknown_blocks < outcome.verified.blocks);
        }
    }
}

/// Moving requests changes neither what is read and written nor the queue depth.
#[test]
fn the_mix_and_the_load_stay_what_was_asked_for() {
    let load = Workload { read_percent: 30.0, ..workload(16) };
    let mut store = Store::new(load, 4, 20 * 4096);
    store.duration_ns = 30 * MS;
    let Outcome { sample, .. } = store.run(5, 1, Plan::default());
    let share = sample.kind(Kind::Read).operations as f64 / sample.operations() as f64;
    assert!(sample.operations() > 10_000, "{}", sample.operations());
    assert!((share - 0.3).abs() < 0.02, "{share}");
    // In virtual time verification takes no time.
    assert!((sample.outstanding_mean - 64.0).abs() < 0.1, "{}", sample.outstanding_mean);
}

#[test]
fn disks_without_content_are_refused() {
    let mut store = Store::new(workload(1), 1, 64 * 4096);
    let trial = store.trial(1);
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let service = Service::Constant { ns: 1000 };
    let model = Model { servers: 1, service, faults: FaultPlan::default() };
    let mut disks = SimulatedDisks::new(time.clone(), model, noise, 1);
    let lent = store.expectations.lend();
    let refused = drive_verified(&trial, || Some(0), &mut disks, &mut time.clock(), &mut (), lent);
    assert_eq!(refused.unwrap_err(), WorkloadError::VerifyNoContent);
}
