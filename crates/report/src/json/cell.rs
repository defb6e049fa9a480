//! A cell: its metrics with intervals, its observations, percentiles and steps.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::Number;
use stormeter_statistics::{CellSummary, Dependence, MetricSummary, Summary, Touched, Verdict};
use stormeter_study::Metric;
use stormeter_trial::StepTime;

use super::interval::Ends;
use super::units::UNITS;
use super::verified::Verified;
use crate::full::grid::Grid;
use crate::quantity::metric_unit;

/// The percentiles that a cell gives.
const PERCENTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// One datastore, workload and load.
#[derive(Serialize, JsonSchema)]
pub(super) struct Cell<'a> {
    /// Index of the cell among the plan's combinations.
    cell: usize,
    /// Name of the datastore.
    datastore: Option<&'a str>,
    /// Name of the workload.
    workload: Option<&'a str>,
    /// Virtual disks driven at the same time.
    vms: Option<u32>,
    /// Outstanding I/Os per VM; null: as the workload says.
    outstanding: Option<u32>,
    /// Whether this is a cell of the baseline.
    baseline: bool,
    /// Measured trials.
    trials: u32,
    /// Failed trials.
    failed_trials: u32,
    /// Why the first of them failed.
    failure: Option<String>,
    /// The metrics that have a value.
    metrics: Vec<CellMetric>,
    /// The observations of the primary metric, in the order of measurement.
    #[schemars(with = "Vec<Number>")]
    observations: &'a [f64],
    /// Description of the observations; null without any.
    spread: Option<Spread>,
    /// How much the observations depend on one another, if they come from one run.
    dependence: Option<Autocorrelation>,
    /// I/Os of all trials.
    operations: u64,
    /// Percentiles of the latencies of all trials.
    percentiles: Vec<Percentile>,
    /// The steps of a trial of fixed work, summed over the trials.
    steps: &'a [StepTime],
    /// What verification found; null if reads were not verified.
    verified: Option<Verified<'a>>,
    /// How much of the disks the trials touched; null if unknown.
    touched: Option<Touched>,
}

/// A metric of a cell.
#[derive(Serialize, JsonSchema)]
struct CellMetric {
    /// The metric.
    metric: Metric,
    /// The unit of the metric: I/Os per second, bytes per second, nanoseconds, or a share from 0 to 1.
    #[schemars(extend("enum" = UNITS))]
    unit: &'static str,
    /// Whether higher values are better.
    higher_is_better: bool,
    /// The mean over the trials; a percentile is that of the merged histogram.
    value: Number,
    /// The confidence interval of the mean over the trials.
    interval: Option<Ends>,
    /// Trials that have a value.
    trials: usize,
    /// The metric relative to the baseline's; null for the baseline.
    relative: Option<Ratio>,
}

/// A metric relative to the baseline's. All but the ratio is null with fewer than two common blocks.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Relative")]
struct Ratio {
    /// The value of this cell divided by that of the baseline's cell at the same load.
    ratio: Number,
    /// The confidence interval of the ratio.
    interval: Option<Ends>,
    /// The larger side of the interval relative to the ratio, 0.02 for ± 2 %.
    half_width: Option<f64>,
    /// The verdict.
    verdict: Option<Verdict>,
    /// Whether the difference is shown to be within the margin.
    within_margin: Option<bool>,
    /// Compared blocks.
    blocks: Option<usize>,
    /// P-value of no difference, two-sided.
    p_value: Option<f64>,
    /// The p-value adjusted for the number of secondary metrics (Holm).
    p_value_adjusted: Option<f64>,
}

/// Description of observations, in the unit of the primary metric.
#[derive(Serialize, JsonSchema)]
struct Spread {
    /// Number of observations.
    n: usize,
    /// Arithmetic mean.
    mean: Number,
    /// Standard deviation, with n − 1 in the denominator.
    sd: Option<f64>,
    /// Standard error of the mean.
    se: Option<f64>,
    /// Variance, with n − 1 in the denominator, in the squared unit.
    variance: Option<f64>,
    /// Median.
    median: Number,
    /// Smallest observation.
    min: Number,
    /// Largest observation.
    max: Number,
    /// Largest minus smallest observation.
    range: Number,
    /// Coefficient of variation: standard deviation divided by mean.
    cv: Option<f64>,
    /// Adjusted Fisher-Pearson skewness, without unit.
    skewness: Option<f64>,
}

/// How much observations of one run depend on one another.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Dependence")]
struct Autocorrelation {
    /// Number of observations.
    n: usize,
    /// Autocorrelation at lag 1.
    lag1: Number,
    /// The number of independent observations that would determine the mean equally well.
    effective_n: Number,
}

/// A percentile of latency.
#[derive(Serialize, JsonSchema)]
struct Percentile {
    /// 0.99 for the 99th percentile.
    fraction: f64,
    /// The latency, in nanoseconds.
    latency_ns: Number,
    /// The time since the request was issued, in nanoseconds, in an open loop; null in a closed loop, where it
    /// equals latency_ns.
    service_ns: Option<f64>,
}

impl<'a> Cell<'a> {
    pub(super) fn of(grid: &Grid<'a>, index: usize, summary: &'a CellSummary) -> Self {
        let plan = grid.report.plan();
        let place = grid.cells.get(index);
        let datastore = place.and_then(|cell| plan.datastores.get(cell.datastore));
        let workload = place.and_then(|cell| plan.workloads.get(cell.workload));
        let failed = summary.failed.as_ref();
        Self {
            cell: index,
            datastore: datastore.map(|datastore| datastore.name.as_str()),
            workload: workload.map(|workload| workload.name.as_str()),
            vms: place.map(|cell| cell.vms),
            outstanding: place.and_then(|cell| cell.outstanding),
            baseline: grid.is_baseline(index),
            trials: summary.trials,
            failed_trials: failed.map_or(0, |failed| failed.count),
            failure: failed.map(|failed| failed.first.to_string()),
            metrics: summary.values.iter().map(|it| CellMetric::of(summary, it)).collect(),
            observations: &summary.observations,
            spread: summary.spread.map(Spread::from),
            dependence: summary.dependence.map(Autocorrelation::from),
            operations: summary.operations,
            percentiles: PERCENTILES.iter().filter_map(|it| Percentile::of(summary, *it)).collect(),
            steps: &summary.steps,
            verified: summary.verified.as_ref().map(Verified::of),
            touched: summary.touched,
        }
    }
}

impl CellMetric {
    fn of(summary: &CellSummary, value: &MetricSummary) -> Self {
        let metric = value.metric;
        Self {
            metric,
            unit: metric_unit(metric),
            higher_is_better: metric.higher_is_better(),
            value: value.value.into(),
            interval: value.interval.map(Ends::from),
            trials: value.n,
            relative: Ratio::of(summary, metric),
        }
    }
}

impl Ratio {
    fn of(summary: &CellSummary, metric: Metric) -> Option<Self> {
        let relative = summary.relative.iter().find(|relative| relative.metric == metric)?;
        let comparison = relative.comparison.as_ref();
        Some(Self {
            ratio: relative.ratio.into(),
            interval: comparison.map(|it| it.interval.into()),
            half_width: comparison.map(|it| it.half_width),
            verdict: comparison.map(|it| it.verdict),
            within_margin: comparison.map(|it| it.within_margin),
            blocks: comparison.map(|it| it.blocks),
            p_value: comparison.map(|it| it.p_value),
            p_value_adjusted: comparison.map(|it| it.p_value_adjusted),
        })
    }
}

impl From<Summary> for Spread {
    fn from(summary: Summary) -> Self {
        Self {
            n: summary.n,
            mean: summary.mean.into(),
            sd: summary.sd,
            se: summary.se,
            variance: summary.variance,
            median: summary.median.into(),
            min: summary.min.into(),
            max: summary.max.into(),
            range: summary.range.into(),
            cv: summary.cv,
            skewness: summary.skewness,
        }
    }
}

impl From<Dependence> for Autocorrelation {
    fn from(dependence: Dependence) -> Self {
        Self {
            n: dependence.n,
            lag1: dependence.lag1.into(),
            effective_n: dependence.effective_n.into(),
        }
    }
}

impl Percentile {
    fn of(summary: &CellSummary, fraction: f64) -> Option<Self> {
        let issue = summary.issue.as_ref();
        Some(Self {
            fraction,
            latency_ns: summary.latencies.percentile_ns(fraction)?.into(),
            service_ns: issue.and_then(|it| it.service.histogram.percentile_ns(fraction)),
        })
    }
}
