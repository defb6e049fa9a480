//! The promise of the tool, kept or broken: two equal datastores are called different in no more
//! than 5 % of comparisons, and a true difference of 5 % is found in at least 80 %.
//!
//! Nothing is mocked but the storage: the real loop drives simulated disks in virtual time, in the
//! plan's block order, and the real stopping rule decides when to end. Both datastores stand on one
//! machine whose speed is noisy, drifts and is correlated in time, as real machines' is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

use common::MS;
use stormeter_driver::drive;
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualClock, VirtualTime,
};
use stormeter_statistics::course::ERROR;
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{Analysis, CellTrial, Fact, Surroundings, Verdict, analyse, decide};
use stormeter_study::{
    ComparisonPlan, Metric, StudyPlan, Timing, block_order, trial_seed, trial_start,
};
use stormeter_trial::{CpuUsage, Limits, Sample, Trial};

const SEEDS: u64 = 1000;

fn plan(seed: u64) -> ComparisonPlan {
    ComparisonPlan {
        timing: Timing { ramp_ns: 10 * MS, duration_ns: 200 * MS, interval_ns: 20 * MS },
        min_blocks: 5,
        seed,
        ..common::plan(100)
    }
}

/// A machine on which two datastores stand.
struct Machine {
    time: VirtualTime,
    clock: VirtualClock,
    stores: Vec<SimulatedDisks>,
}

impl Machine {
    /// The second datastore's service times are `slower` times the first one's.
    fn new(seed: u64, slower: f64) -> Self {
        let time = VirtualTime::new();
        // Speed wanders by 3 %, with a memory of about half a second (two trials), and all gets
        // 0.3 % slower each second: over a comparison, more than the precision asked for.
        let plan =
            NoisePlan { noise: 0.03, correlation: 0.9, step_ns: 50 * MS, drift_per_s: 0.003 };
        let noise = Rc::new(RefCell::new(HostNoise::new(plan, seed)));
        let stores = [1.0, slower]
            .into_iter()
            .enumerate()
            .map(|(index, factor)| {
                let median_ns = (900_000.0 * factor) as u64;
                let service = Service::LogNormal { median_ns, sigma: 0.3 };
                let model = Model { servers: 4, service, faults: FaultPlan::default() };
                let seed = seed ^ ((index as u64 + 1) << 50);
                SimulatedDisks::new(time.clone(), model, noise.clone(), seed)
            })
            .collect();
        Self { clock: time.clock(), time, stores }
    }

    fn trial(&mut self, plan: &ComparisonPlan, block: u32, datastore: usize) -> Sample {
        let trial = Trial {
            workload: plan.workload.clone(),
            first_disk: 0,
            disks: plan.vms,
            disk_bytes: plan.disk_bytes,
            seed: trial_seed(plan.seed, block),
            start: trial_start(plan.seed, u64::from(block)),
            content_seed: 0,
            ramp_ns: plan.timing.ramp_ns,
            duration_ns: plan.timing.duration_ns,
            interval_ns: plan.timing.interval_ns,
            limits: Limits::default(),
            verify: false,
        };
        let disks = &mut self.stores[datastore];
        let now_ns = self.time.now_ns();
        drive(&trial, || Some(now_ns), disks, &mut self.clock, &mut ()).unwrap()
    }
}

/// A whole comparison; what was concluded and the number of blocks it took.
fn compare(seed: u64, slower: f64) -> (Analysis, u32) {
    let plan = plan(seed);
    let study = StudyPlan::from(&plan);
    let mut machine = Machine::new(seed, slower);
    let cpu = CpuUsage::default();
    let mut samples: Vec<(u32, usize, Sample)> = Vec::new();
    for block in 0.. {
        let views: Vec<CellTrial<'_>> = samples
            .iter()
            .map(|(block, datastore, sample)| CellTrial {
                block: *block,
                cell: *datastore,
                sample,
                cpu: &cpu,
            })
            .collect();
        if !matches!(decide(&study, &views), Decision::Continue { .. }) {
            let analysis = analyse(&study, &views, &Surroundings::default());
            return (analysis, block);
        }
        for datastore in block_order(plan.seed, block, 2) {
            let sample = machine.trial(&plan, block, datastore);
            samples.push((block, datastore, sample));
        }
    }
    unreachable!("the stopping rule ends at the largest number of blocks")
}

fn verdict(analysis: &Analysis) -> Verdict {
    let primary = &analysis.cells[1].relative[0];
    assert_eq!(primary.metric, Metric::Iops);
    primary.comparison.as_ref().unwrap().verdict
}

/// In how many comparisons each of these is so, and of how many blocks they are on average.
fn count<const N: usize>(
    seeds: u64,
    slower: f64,
    is_so: [fn(&Analysis) -> bool; N],
) -> ([u64; N], f64) {
    let run = |first: u64| {
        let (mut counted, mut blocks) = ([0; N], 0);
        for seed in (first..seeds).step_by(2) {
            let (analysis, took) = compare(seed, slower);
            for (count, is_so) in counted.iter_mut().zip(is_so) {
                *count += u64::from(is_so(&analysis));
            }
            blocks += u64::from(took);
        }
        (counted, blocks)
    };
    let (left, right) = thread::scope(|scope| {
        let other = scope.spawn(move || run(1));
        (run(0), other.join().unwrap())
    });
    let counted = std::array::from_fn(|which| left.0[which] + right.0[which]);
    (counted, (left.1 + right.1) as f64 / seeds as f64)
}

#[test]
fn equal_datastores_are_called_different_in_at_most_5_percent() {
    let is_different = |it: &Analysis| matches!(verdict(it), Verdict::Faster | Verdict::Slower);
    let has_course = |it: &Analysis| {
        let is_course =
            |fact: &Fact| matches!(fact, Fact::UnlikeFirstBlocks { .. } | Fact::Trend { .. });
        it.findings.iter().any(|(_, finding)| is_course(&finding.fact))
    };
    let ([alarms, courses], blocks) = count(SEEDS, 1.0, [is_different, has_course]);
    println!("A/A: {alarms} false alarms in {SEEDS} comparisons of {blocks:.1} blocks on average");
    // Three standard errors of a share of 5 % in that many comparisons.
    let limit = 0.05 + 3.0 * (0.05f64 * 0.95 / SEEDS as f64).sqrt();
    assert!(alarms as f64 <= limit * SEEDS as f64, "{alarms} false alarms in {SEEDS}");
    // Nor are steady blocks said to have a burst or a trend.
    println!("{courses} times unlike first blocks or a trend in {SEEDS}");
    assert!(courses as f64 <= ERROR * SEEDS as f64, "{courses}");
    // And the test is not passed by never saying anything: the noise is real.
    assert!(alarms > 0 && blocks > 5.5, "{alarms}, {blocks}");
}

#[test]
fn a_true_difference_of_5_percent_is_found_in_at_least_80_percent() {
    let ([found], blocks) = count(SEEDS, 1.05, [|it| verdict(it) == Verdict::Slower]);
    println!("5 %: found {found} times in {SEEDS}, after {blocks:.1} blocks on average");
    assert!(found as f64 >= 0.8 * SEEDS as f64, "found {found} times in {SEEDS}");
}
