//! The CPU time of the target counts where it is known for every trial, and nowhere else.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::MS;
use stormeter_simulator::Service;
use stormeter_statistics::{Analysis, CellTrial, Surroundings, analyse};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan};
use stormeter_trial::CpuUsage;

const BLOCKS: u32 = 5;
const METRIC: Metric = Metric::TargetCpuPerIo;

/// The analysis of trials whose target spent this much an I/O, by block and datastore.
fn analysis(target_ns: impl Fn(u32, usize) -> Option<u64>) -> Analysis {
    analysis_of(common::plan(BLOCKS), target_ns)
}

fn analysis_of(plan: ComparisonPlan, target_ns: impl Fn(u32, usize) -> Option<u64>) -> Analysis {
    let service = Service::LogNormal { median_ns: MS, sigma: 0.3 };
    let sample = common::sample(&plan, plan.seed, service);
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
    let plan = ComparisonPlan { metric: METRIC, ..common::plan(BLOCKS) };
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
