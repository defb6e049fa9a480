//! A comparison's report as the compact layout shows it: each datastore has one cell.
//!
//! This only arranges: every figure is the one that was concluded.

use stormeter_statistics::{CeilingKind, CellSummary};
use stormeter_trial::{CpuUsage, Histogram, LatencyBucket};

use super::model::{
    Bucket, Ceiling, Compact, CpuPerIo, Datastore, LatencyDistribution, MetricComparison,
    MetricValue, PercentilePoint, TrialSeries, WayCeiling, curve_fractions,
};
use crate::label::datastore_labels;
use crate::model::{Finding, Report, SeriesPoint, TrialTrace};

impl Compact {
    /// The report, if it is of a measured comparison: one load, no questions.
    pub fn of(report: &Report) -> Option<Self> {
        report.is_comparison().then(|| Self {
            header: report.header.clone(),
            status: report.status.clone(),
            datastores: datastores(report),
            comparisons: comparisons(report),
            findings: other_findings(report),
            unlike_promises: report.unlike_promises.clone(),
            trials: report.traces.iter().map(series).collect(),
            latencies: of_cells(report, latencies),
            cpu: of_cells(report, |datastore, cell| {
                cpu_per_io(datastore, &cell.cpu, cell.operations)
            }),
            ceiling: ceiling(report),
            way_ceilings: way_ceilings(report),
            repeat_command: report.repeat_command.clone(),
        })
    }
}

fn other_findings(report: &Report) -> Vec<Finding> {
    let is_other = |finding: &&Finding| Some(*finding) != report.unlike_promises.as_ref();
    report.findings.iter().filter(is_other).cloned().collect()
}

fn datastores(report: &Report) -> Vec<Datastore> {
    let described = report.header.datastores.iter().zip(datastore_labels(report.plan()));
    described
        .zip(&report.analysis.cells)
        .map(|((description, label), cell)| Datastore {
            label,
            description: description.clone(),
            values: cell
                .values
                .iter()
                .map(|summary| MetricValue {
                    metric: summary.metric,
                    value: summary.value,
                    interval: summary.interval,
                    n: summary.n,
                })
                .collect(),
            verified: cell.verified.clone(),
            touched: cell.touched,
        })
        .collect()
}

fn comparisons(report: &Report) -> Vec<MetricComparison> {
    let plan = report.plan();
    let ratios = report.analysis.cells.iter().enumerate();
    let mut comparisons: Vec<MetricComparison> = ratios
        .flat_map(|(candidate, cell)| cell.relative.iter().map(move |ratio| (candidate, ratio)))
        .filter_map(|(candidate, ratio)| {
            Some(MetricComparison {
                baseline: plan.baseline,
                candidate,
                metric: ratio.metric,
                primary: ratio.metric == plan.design.metric,
                comparison: ratio.comparison.clone()?,
            })
        })
        .collect();
    comparisons.sort_by_key(|comparison| !comparison.primary);
    comparisons
}

fn series(trace: &TrialTrace) -> TrialSeries {
    let point = |point: &SeriesPoint| SeriesPoint { at_ns: trace.start_ns + point.at_ns, ..*point };
    TrialSeries {
        datastore: trace.cell,
        block: trace.block,
        start_ns: trace.start_ns,
        end_ns: trace.end_ns,
        iops: trace.iops,
        latency_mean_ns: trace.latency_mean_ns,
        points: trace.points.iter().map(point).collect(),
    }
}

/// A value for each datastore that completed I/Os.
fn of_cells<T>(report: &Report, of: impl Fn(usize, &CellSummary) -> T) -> Vec<T> {
    let cells = report.analysis.cells.iter().enumerate();
    cells.filter(|(_, cell)| cell.operations > 0).map(|(number, cell)| of(number, cell)).collect()
}

fn latencies(datastore: usize, cell: &CellSummary) -> LatencyDistribution {
    let curve = |histogram: &Histogram| -> Vec<PercentilePoint> {
        let at = |fraction| {
            let latency_ns = histogram.percentile_ns(fraction)?;
            Some(PercentilePoint { fraction, latency_ns })
        };
        curve_fractions(cell.operations).into_iter().filter_map(at).collect()
    };
    let bucket =
        |it: LatencyBucket| Bucket { low_ns: it.low_ns, high_ns: it.high_ns, count: it.count };
    LatencyDistribution {
        datastore,
        buckets: cell.latencies.buckets().map(bucket).collect(),
        percentiles: curve(&cell.latencies),
        service: cell.issue.as_ref().map_or(vec![], |issue| curve(&issue.service.histogram)),
    }
}

/// CPU time divided by the I/Os on which it was spent.
pub(crate) fn cpu_per_io(datastore: usize, usage: &CpuUsage, operations: u64) -> CpuPerIo {
    let CpuUsage { threads_user_ns, threads_system_ns, target_ns, .. } = *usage;
    let initiator_ns = usage.initiator_ns();
    let per_io = |ns: u64| ns as f64 / operations as f64;
    let threads_ns = threads_user_ns + threads_system_ns;
    CpuPerIo {
        datastore,
        threads_user_ns: per_io(threads_user_ns),
        threads_system_ns: per_io(threads_system_ns),
        process_other_ns: per_io(initiator_ns.saturating_sub(threads_ns)),
        target_ns: target_ns.map(per_io),
        host_other_ns: per_io(
            usage
                .host_ns()
                .saturating_sub(initiator_ns.max(threads_ns))
                .saturating_sub(target_ns.unwrap_or(0)),
        ),
    }
}

/// The generator's ceiling, compared with the datastores without a ceiling of their own path.
fn ceiling(report: &Report) -> Option<Ceiling> {
    let found = report.ceilings.iter().find(|it| it.kind == CeilingKind::Generator)?;
    let has_own = |cell: usize| report.ceilings.iter().any(|it| it.datastore == Some(cell));
    let others = report.traces.iter().filter(|trace| !has_own(trace.cell));
    let most = others.map(|trace| trace.iops).reduce(f64::max).filter(|most| *most > 0.0);
    Some(Ceiling { iops: found.iops, times_measured: most.map(|most| found.iops / most) })
}

fn way_ceilings(report: &Report) -> Vec<WayCeiling> {
    let mut ways: Vec<WayCeiling> = report
        .ceilings
        .iter()
        .filter_map(|it| {
            let datastore = it.datastore?;
            Some(WayCeiling { datastore, iops: it.iops, times_measured: it.times_measured })
        })
        .collect();
    ways.sort_by_key(|way| way.datastore);
    ways
}
