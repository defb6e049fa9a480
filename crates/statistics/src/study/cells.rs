//! The figures of one cell, and of one cell compared with the baseline's.

use stormeter_study::{Metric, StudyPlan, Unit, WorkloadKind};
use stormeter_trial::{CpuUsage, StepTime, Verified};

use super::conclusion::{CellSummary, CellTrial, Relative};
use super::dependence::Dependence;
use super::effect::{block_values, dependence, ratio};
use super::measured::{Measured, interval_values};
use crate::comparison::{Comparison, ComparisonInput, compare_metrics};
use crate::describe::Summary;
use crate::finding::FailedTrials;
use crate::metric_summary::{MetricSummary, summarise_metric};
use crate::metrics::{Merged, direction_of};
use crate::ratio::BlockPair;
use crate::stopping::Looks;
use crate::verdict::Verdict;

/// Describes a cell.
pub(super) fn summarise(
    measured: &Measured<'_>,
    cell: usize,
    failed: Option<&FailedTrials>,
    verified: Option<Verified>,
) -> CellSummary {
    let own = measured.trials(cell);
    let mut merged = Merged::default();
    let mut cpu: Option<CpuUsage> = None;
    let mut operations = 0;
    let mut steps: Vec<StepTime> = Vec::new();
    for trial in own {
        merged.add(trial.sample);
        match &mut cpu {
            Some(cpu) => cpu.add_later(trial.cpu),
            None => cpu = Some(*trial.cpu),
        }
        operations += trial.sample.operations();
        for step in &trial.sample.steps {
            add_step(&mut steps, step);
        }
    }
    let primary = measured.plan.design.metric;
    let observations = match measured.unit(primary) {
        Unit::Interval => measured.intervals(cell, primary).unwrap_or_default(),
        Unit::Trial => measured.values(cell, primary).into_values().collect(),
    };
    CellSummary {
        trials: own.len() as u32,
        failed: failed.cloned(),
        values: values(measured, cell, &merged),
        relative: relative(measured, cell),
        spread: Summary::of(&observations),
        dependence: dependence_of(measured, cell, &observations),
        observations,
        latencies: merged.latencies,
        issue: merged.issue,
        cpu: cpu.unwrap_or_default(),
        operations,
        verified,
        steps,
        touched: measured.touched(cell),
    }
}

/// Each metric of a cell over these trials of its study, as [`CellSummary::values`] has them: for a run that is
/// still in progress. Trials of other cells may be left out.
pub fn cell_values(
    plan: &StudyPlan,
    trials: &[CellTrial<'_>],
    cell: usize,
    is_predicted: bool,
) -> Vec<MetricSummary> {
    let mut measured = Measured::new(plan, trials);
    measured.is_predicted = is_predicted;
    let mut merged = Merged::default();
    measured.trials(cell).iter().for_each(|trial| merged.add(trial.sample));
    values(&measured, cell, &merged)
}

/// `merged` has the histograms of the cell's trials.
fn values(measured: &Measured<'_>, cell: usize, merged: &Merged) -> Vec<MetricSummary> {
    let level = measured.plan.design.level;
    let summary = |metric| {
        let values: Vec<f64> = measured.values(cell, metric).into_values().collect();
        summarise_metric(metric, (&values, measured.resolution(cell, metric)), merged, level)
    };
    measured.metrics().filter_map(summary).collect()
}

fn add_step(steps: &mut Vec<StepTime>, step: &StepTime) {
    match steps.iter_mut().find(|known| known.name == step.name) {
        Some(known) => {
            known.times += step.times;
            known.total_ns += step.total_ns;
            known.max_ns = known.max_ns.max(step.max_ns);
        }
        None => steps.push(step.clone()),
    }
}

/// How far observations of one run depend on one another. Where trials are the unit it is that of
/// the intervals of a trial, as the mean over the trials: for information.
fn dependence_of(measured: &Measured<'_>, cell: usize, observations: &[f64]) -> Option<Dependence> {
    let primary = measured.plan.design.metric;
    if measured.unit(primary) == Unit::Interval {
        return (observations.len() >= 3).then(|| dependence(observations));
    }
    let series: Vec<Dependence> = measured
        .trials(cell)
        .iter()
        .map(|trial| interval_values(trial.sample, primary))
        .filter(|values| values.len() >= 3)
        .map(|values| dependence(&values))
        .collect();
    let count = series.len();
    let mean = |value: fn(&Dependence) -> f64| series.iter().map(value).sum::<f64>() / count as f64;
    (count > 0).then(|| Dependence {
        n: mean(|own| own.n as f64).round() as usize,
        lag1: mean(|own| own.lag1),
        effective_n: mean(|own| own.effective_n),
    })
}

/// Each metric against the baseline's cell of the same load: the study's metric at its own level, the
/// others as a family adjusted by Holm.
fn relative(measured: &Measured<'_>, cell: usize) -> Vec<Relative> {
    let Some(baseline) = measured.plan.baseline_of(cell) else { return Vec::new() };
    let primary = measured.plan.design.metric;
    let repeats = repeats_iops(measured, cell);
    let input = |metric| input(measured, cell, baseline, metric);
    let others: Vec<Metric> = measured
        .metrics()
        .filter(|&metric| metric != primary && !(repeats && metric == Metric::Throughput))
        // The generator's delay is no figure of a datastore.
        .filter(|&metric| metric != Metric::LatenessP99)
        .collect();
    let secondaries: Vec<ComparisonInput> = others.iter().map(|&metric| input(metric)).collect();
    let mut compared: Vec<(Metric, Option<Comparison>)> = Vec::new();
    let seed = measured.plan.seed;
    match compare_metrics(&input(primary), &secondaries, seed) {
        Ok(all) => {
            compared.push((primary, Some(all.primary)));
            compared.extend(others.into_iter().zip(all.secondaries.into_iter().map(Result::ok)));
        }
        // Without the study's metric there is no family; the ratios stand.
        Err(_) => compared.extend([primary].into_iter().chain(others).map(|metric| (metric, None))),
    }
    if repeats
        && primary != Metric::Throughput
        && let Some(at) = compared.iter().position(|(metric, _)| *metric == Metric::Iops)
    {
        let same =
            compared[at].1.clone().map(|own| Comparison { metric: Metric::Throughput, ..own });
        compared.insert(at + 1, (Metric::Throughput, same));
    }
    let is_invalid = [cell, baseline].iter().any(|&cell| measured.invalid[cell].is_some());
    compared
        .into_iter()
        .filter_map(|(metric, comparison)| {
            let logs = block_values(measured, metric, &ratio(cell, baseline));
            let mean_ratio = Summary::of(&logs)?.mean.exp();
            let comparison = comparison.map(|own| if is_invalid { own.invalidated() } else { own });
            let comparison = comparison.map(|own| unless_too_small(measured, own));
            Some(Relative { metric, ratio: mean_ratio, comparison })
        })
        .collect()
}

/// A difference that is surely too small to be measured counts as none, however sure it is.
fn unless_too_small(measured: &Measured<'_>, own: Comparison) -> Comparison {
    let least = measured.least_difference();
    let (low, high) = (own.interval.low.ln(), own.interval.high.ln());
    let differs = matches!(own.verdict, Verdict::Faster | Verdict::Slower);
    match differs && own.within_margin && low > -least && high < least {
        true => Comparison { verdict: Verdict::Equivalent, ..own },
        false => own,
    }
}

fn input(measured: &Measured<'_>, cell: usize, baseline: usize, metric: Metric) -> ComparisonInput {
    let name = |cell: usize| measured.plan.datastores[measured.cells[cell].datastore].name.clone();
    let (theirs, own) = (measured.values(baseline, metric), measured.values(cell, metric));
    let resolution = measured.resolution(baseline, metric) + measured.resolution(cell, metric);
    let pair = |(block, baseline): (&u32, &f64)| {
        Some(BlockPair { baseline: *baseline, candidate: *own.get(block)? })
    };
    ComparisonInput {
        baseline: name(baseline),
        candidate: name(cell),
        metric,
        direction: direction_of(metric),
        blocks: theirs.iter().filter_map(pair).collect(),
        margin: measured.plan.design.margin,
        looks: Looks { resolution, ..measured.looks_at_ratios(metric) },
    }
}

/// With one request size, throughput is IOPS in another unit: the same comparison, without a place of
/// its own in Holm's family.
fn repeats_iops(measured: &Measured<'_>, cell: usize) -> bool {
    let workload = &measured.plan.workloads[measured.cells[cell].workload].kind;
    measured.plan.design.metric != Metric::Throughput
        && matches!(workload, WorkloadKind::Io(io) if io.sizes.len() == 1)
}
