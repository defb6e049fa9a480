//! The CPU time of the target counts where it is known for every trial, and nowhere else.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_driver::drive;
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
};
use stormeter_statistics::{Analysis, CellTrial, Surroundings, analyse};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing, profile};
use stormeter_trial::{CpuUsage, Limits, Sample, Trial};

const MS: u64 = 1_000_000;
const BLOCKS: u32 = 5;
const METRIC: Metric = Metric::TargetCpuPerIo;

fn plan() -> ComparisonPlan {
    ComparisonPlan {
        datastores: vec!["sim:a".into(), "sim:b".into()],
        baseline: 0,
        workload: profile("vm-4k").unwrap().workload,
        vms: 1,
        disk_bytes: 1 << 30,
        threads: 1,
        timing: Timing { ramp_ns: 10 * MS, duration_ns: 100 * MS, interval_ns: 20 * MS },
        metric: Metric::Iops,
        precision: 0.02,
        margin: 0.05,
        level: 0.95,
        min_blocks: BLOCKS,
        max_blocks: BLOCKS,
        time_limit_ns: u64::MAX,
        equal_load: None,
        seed: 1,
        verify: false,
    }
}

fn sample(plan: &ComparisonPlan) -> Sample {
    let time = VirtualTime::new();
    let calm = NoisePlan { noise: 0.0, correlation: 0.0, step_ns: MS, drift_per_s: 0.0 };
    let noise = Rc::new(RefCell::new(HostNoise::new(calm, 1)));
    let service = Service::LogNormal { median_ns: MS, sigma: 0.3 };
    let model = Model { servers: 4, service, faults: FaultPlan::default() };
    let mut disks = SimulatedDisks::new(time.clone(), model, noise, 1);
    let trial = Trial {
        workload: plan.workload.clone(),
        first_disk: 0,
        disks: plan.vms,
        disk_bytes: plan.disk_bytes,
        seed: plan.seed,
        start: Default::default(),
        content_seed: 0,
        verify: false,
        ramp_ns: plan.timing.ramp_ns,
        duration_ns: plan.timing.duration_ns,
        interval_ns: plan.timing.interval_ns,
        limits: Limits::default(),
    };
    drive(&trial, || Some(time.now_ns()), &mut disks, &mut time.clock(), &mut ()).unwrap()
}

/// The analysis of trials whose target spent this much an I/O, by block and datastore.
fn analysis(target_ns: impl Fn(u32, usize) -> Option<u64>) -> Analysis {
    analysis_of(plan(), target_ns)
}

fn analysis_of(plan: ComparisonPlan, target_ns: impl Fn(u32, usize) -> Option<u64>) -> Analysis {
    let sample = sample(&plan);
    let operations = sample.operations();
    let cpus: Vec<(u32, usize, CpuUsage)> = (0..BLOCKS)
        .flat_map(|block| [0, 1].map(|datastore| (block, datastore)))
        .map(|(block, datastore)| {
            let target_ns = target_ns(block, datastore).map(|ns| ns * operations);
            (block, datastore, CpuUsage { target_ns, ..CpuUsage::default() })
        })
        .collect();
    let views: Vec<CellTrial<'_>> = cpus
        .iter()
        .map(|(block, datastore, cpu)| CellTrial {
            block: *block,
            cell: *datastore,
            sample: &sample,
            cpu,
        })
        .collect();
    analyse(&StudyPlan::from(&plan), &views, &Surroundings::default())
}

fn value(analysis: &Analysis, datastore: usize) -> Option<f64> {
    let values = &analysis.cells[datastore].values;
    values.iter().find(|summary| summary.metric == METRIC).map(|summary| summary.value)
}

fn ratio(analysis: &Analysis) -> Option<f64> {
    analysis.cells[1].relative.iter().find(|it| it.metric == METRIC).map(|it| it.ratio)
}

#[test]
fn where_it_is_known_it_is_summed_and_compared() {
    let known = analysis(|_, datastore| Some(1000 + 500 * datastore as u64));
    assert_eq!((value(&known, 0), value(&known, 1)), (Some(1000.0), Some(1500.0)));
    assert!((ratio(&known).unwrap() - 1.5).abs() < 1e-9);
    let summary = &known.cells[1];
    assert_eq!(summary.cpu.target_ns, Some(1500 * summary.operations));
}

#[test]
fn a_datastore_without_a_target_leaves_the_other_ones_figure_alone() {
    let local = analysis(|_, datastore| (datastore == 1).then_some(700));
    assert_eq!((value(&local, 0), value(&local, 1)), (None, Some(700.0)));
    assert_eq!(ratio(&local), None);
}

#[test]
fn as_the_metric_of_the_verdict_it_loses_only_the_blocks_without_it() {
    let plan = ComparisonPlan { metric: METRIC, ..plan() };
    let restarted = analysis_of(plan, |block, _| (block != 3).then_some(700));
    let primary = &restarted.cells[1].relative[0];
    let blocks = primary.comparison.as_ref().map(|it| it.blocks);
    assert_eq!((primary.metric, blocks), (METRIC, Some(4)));
    assert_eq!(value(&restarted, 0), Some(700.0));
}

#[test]
fn a_target_unknown_in_one_trial_is_unknown_in_all() {
    let restarted = analysis(|block, datastore| (block != 3 || datastore == 0).then_some(700));
    assert_eq!((value(&restarted, 0), value(&restarted, 1)), (Some(700.0), None));
    assert_eq!(ratio(&restarted), None);
    assert_eq!(restarted.cells[1].cpu.target_ns, None);
}
