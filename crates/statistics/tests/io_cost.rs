//! Datastores that cost the same CPU time per I/O have the same result, however fast they are.
//!
//! The tool itself spends CPU time as time passes, and so do other programs on the machine; more of both passes
//! during an I/O of a slow datastore, which causes no more of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::MS;
use stormeter_simulator::Service;
use stormeter_statistics::{
    Analysis, CellTrial, Comparison, Fact, Severity, Surroundings, analyse,
};
use stormeter_study::{ComparisonPlan, EqualLoad, Metric, StudyPlan, Timing};
use stormeter_trial::{CpuUsage, HostCpu, Sample};

const S: u64 = 1_000 * MS;
const BLOCKS: u32 = 6;
/// An I/O in this process, and beyond it in interrupts.
const IO_NS: u64 = 20_000;
const INTERRUPTS_NS: u64 = 5_000;
/// The main thread and the monitor, a second, as measured at the usual interval.
const TOOL_NS: u64 = 2_600_000;
/// A machine that does nothing, a second.
const IDLE_NS: u64 = 12_000_000;

fn plan(metric: Metric) -> ComparisonPlan {
    ComparisonPlan {
        datastores: vec!["sim:slow".into(), "sim:fast".into()],
        timing: Timing { ramp_ns: 100 * MS, duration_ns: 5 * S, interval_ns: 100 * MS },
        metric,
        ..common::plan(BLOCKS)
    }
}

/// What is read of such a trial on two CPUs; an I/O costs a little more or less from trial to trial.
fn cpu(sample: &Sample, seed: u64) -> CpuUsage {
    let seconds = sample.window_ns / S;
    let varies = |ns: u64| ns * sample.operations() * (990 + seed * 7 % 20) / 1_000;
    let tool_ns = TOOL_NS * seconds;
    let process_ns = varies(IO_NS) + tool_ns;
    let background_ns = IDLE_NS * seconds;
    let capacity_ns = 2 * sample.window_ns;
    let host = HostCpu {
        idle_ns: capacity_ns - process_ns - varies(INTERRUPTS_NS) - background_ns,
        cpus: 2,
        capacity_ns,
        background_ns: Some(background_ns),
        ..HostCpu::default()
    };
    CpuUsage { process_ns, tool_ns: Some(tool_ns), host, threads: 1, ..CpuUsage::default() }
}

fn analysis(plan: &ComparisonPlan) -> Analysis {
    let trials: Vec<(u32, usize, Sample, CpuUsage)> = (0..BLOCKS)
        .flat_map(|block| [(block, 0, 40 * MS), (block, 1, 2 * MS / 5)])
        .map(|(block, datastore, median_ns)| {
            let seed = u64::from(block) * 2 + datastore as u64;
            let service = Service::LogNormal { median_ns, sigma: 0.1 };
            let sample = common::sample(plan, seed, service);
            let cpu = cpu(&sample, seed);
            (block, datastore, sample, cpu)
        })
        .collect();
    let view = |(block, datastore, sample, cpu)| CellTrial { block, cell: datastore, sample, cpu };
    let views = trials
        .iter()
        .map(|(block, datastore, sample, cpu)| view((*block, *datastore, sample, cpu)));
    let views: Vec<CellTrial<'_>> = views.collect();
    let rates = [0, 1].map(|of| views.iter().find(|view| view.cell == of).unwrap().sample.iops());
    assert!(
        (90.0..110.0).contains(&rates[0]) && (9_000.0..11_000.0).contains(&rates[1]),
        "{rates:?}"
    );
    analyse(&StudyPlan::from(plan), &views, &Surroundings::default())
}

fn of(analysis: &Analysis, metric: Metric) -> &Comparison {
    let relative = analysis.cells[1].relative.iter().find(|it| it.metric == metric).unwrap();
    relative.comparison.as_ref().unwrap()
}

#[test]
fn equal_cost_per_io_is_reported_alike_at_100_and_10_000_ios_a_second() {
    let analysis = analysis(&plan(Metric::CpuPerIo));
    for metric in [Metric::CpuPerIo, Metric::HostCpuPerIo] {
        let compared = of(&analysis, metric);
        let interval = compared.interval;
        assert!(interval.low <= 1.0 && 1.0 <= interval.high, "{metric:?} {compared:?}");
        assert!((compared.ratio - 1.0).abs() < 0.02, "{metric:?} {compared:?}");
    }
}

#[test]
fn cpu_time_at_unequal_rates_is_compared_with_a_warning() {
    let found = |plan: &ComparisonPlan| {
        let findings = analysis(plan).findings;
        let uneven = findings
            .into_iter()
            .find(|(_, finding)| matches!(finding.fact, Fact::UnevenLoad { .. }));
        uneven.map(|(of, finding)| (of, finding.severity))
    };
    let asked = plan(Metric::CpuPerIo);
    assert_eq!(found(&asked), Some((Some(1), Severity::Warning)));
    assert_eq!(found(&plan(Metric::Iops)), Some((Some(1), Severity::Note)));
    let equal_load = Some(EqualLoad::Rate { rate_per_s: 90.0 });
    assert_eq!(found(&ComparisonPlan { equal_load, ..asked }), None);
}
