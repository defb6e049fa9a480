//! Each metric of each cell compared with the baseline: what scripts read first.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::Number;
use stormeter_statistics::{Interval, Relative, Severity, Verdict};
use stormeter_study::Metric;

use super::units::UNITS;
use crate::compact::sentence::{Names, reason, sentence_of};
use crate::full::grid::{Grid, cell_name};
use crate::phrases;
use crate::quantity::metric_unit;

/// A metric of a cell compared with the baseline's cell at the same load.
#[derive(Serialize, JsonSchema)]
pub(super) struct Comparison<'a> {
    /// URL of the baseline datastore.
    baseline: &'a str,
    /// Index of the baseline in datastores.
    baseline_index: usize,
    /// The baseline's mean over the trials, in the unit of the metric.
    baseline_value: Option<f64>,
    /// URL of the datastore that is compared with the baseline.
    candidate: &'a str,
    /// Index of the candidate in datastores.
    candidate_index: usize,
    /// The candidate's mean over the trials, in the unit of the metric.
    candidate_value: Option<f64>,
    /// Index of the candidate's cell in cells.
    cell: usize,
    /// Name of the workload.
    workload: &'a str,
    /// Virtual disks driven at the same time.
    #[schemars(range(min = 1))]
    vms: u32,
    /// Outstanding I/Os per VM, if the study sets them.
    #[schemars(range(min = 1))]
    outstanding: Option<u32>,
    /// The metric.
    metric: Metric,
    /// The unit of the metric: I/Os per second, bytes per second, nanoseconds, or a share from 0 to 1.
    #[schemars(extend("enum" = UNITS))]
    unit: &'static str,
    /// Whether higher values are better.
    higher_is_better: bool,
    /// Whether this metric carries the verdict; the p-values of the others are adjusted for their number (Holm).
    primary: bool,
    /// Compared blocks.
    blocks: usize,
    /// candidate / baseline: the ratio of the geometric means over the blocks.
    ratio: Number,
    /// Lower end of the confidence interval of the ratio; null: unbounded.
    ci_low: Number,
    /// Upper end of the confidence interval of the ratio; null: unbounded.
    ci_high: Number,
    /// Confidence level of the interval, 0.95 for 95 %.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    level: f64,
    /// A bootstrap interval in addition, if there are few blocks or their distribution is skewed.
    bootstrap: Option<Bootstrap>,
    /// `faster` and `slower` mean better and worse, for latency and CPU time too.
    verdict: Verdict,
    /// Whether the difference is shown to be within the margin, whatever the verdict.
    within_margin: bool,
    /// Differences within this share are equivalent, 0.05 for 5 %.
    margin: f64,
    /// The larger side of the interval relative to the ratio, 0.02 for ± 2 %.
    half_width: Number,
    /// Whether the interval is as narrow as requested.
    precision_reached: bool,
    /// The total number of blocks that would probably settle an inconclusive verdict; null if it is settled, or
    /// no number of blocks would settle it.
    blocks_needed: Option<usize>,
    /// P-value of no difference, two-sided.
    p_value: Number,
    /// The p-value adjusted for the number of secondary metrics (Holm).
    p_value_adjusted: Number,
    /// The verdict as a sentence.
    sentence: String,
}

/// A bootstrap confidence interval of a ratio.
#[derive(Serialize, JsonSchema)]
struct Bootstrap {
    /// Lower end; null: unbounded.
    ci_low: Number,
    /// Upper end; null: unbounded.
    ci_high: Number,
    /// Confidence level, 0.95 for 95 %.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    level: f64,
}

/// All comparisons, those that carry a verdict first.
pub(super) fn all<'a>(grid: &Grid<'a>) -> Vec<Comparison<'a>> {
    let cells = 0..grid.report.analysis.cells.len();
    let mut all: Vec<Comparison> = cells.filter_map(|cell| of_cell(grid, cell)).flatten().collect();
    all.sort_by_key(|comparison| !comparison.primary);
    all
}

/// `None` for a cell of the baseline.
fn of_cell<'a>(grid: &Grid<'a>, cell: usize) -> Option<Vec<Comparison<'a>>> {
    let (report, plan) = (grid.report, grid.report.plan());
    let cells = &report.analysis.cells;
    let baseline = plan.baseline_of(cell)?;
    let (place, base) = (grid.cells.get(cell)?, grid.cells.get(baseline)?);
    let url = |datastore: usize| plan.datastores.get(datastore).map(|it| it.url.as_str());
    let (candidate_url, baseline_url) = (url(place.datastore)?, url(base.datastore)?);
    let workload = plan.workloads.get(place.workload)?;
    let value = |cell: usize, metric: Metric| {
        let mut values = cells.get(cell)?.values.iter();
        values.find(|value| value.metric == metric).map(|value| value.value)
    };
    let names = Names {
        candidate: cell_name(report, &grid.cells, cell),
        baseline: cell_name(report, &grid.cells, baseline),
        margin: plan.design.margin,
        invalid_by: why_invalid(grid, [cell, baseline]),
        titles: grid.titles_of(cell),
    };
    let compared = |relative: &Relative| {
        let (metric, comparison) = (relative.metric, relative.comparison.as_ref()?);
        Some(Comparison {
            baseline: baseline_url,
            baseline_index: base.datastore,
            baseline_value: value(baseline, metric),
            candidate: candidate_url,
            candidate_index: place.datastore,
            candidate_value: value(cell, metric),
            cell,
            workload: &workload.name,
            vms: place.vms,
            outstanding: place.outstanding,
            metric,
            unit: metric_unit(metric),
            higher_is_better: metric.higher_is_better(),
            primary: metric == plan.design.metric,
            blocks: comparison.blocks,
            ratio: comparison.ratio.into(),
            ci_low: comparison.interval.low.into(),
            ci_high: comparison.interval.high.into(),
            level: comparison.interval.level,
            bootstrap: comparison.bootstrap.map(Bootstrap::from),
            verdict: comparison.verdict,
            within_margin: comparison.within_margin,
            margin: plan.design.margin,
            half_width: comparison.half_width.into(),
            precision_reached: comparison.precision_reached,
            blocks_needed: comparison.blocks_needed,
            p_value: comparison.p_value.into(),
            p_value_adjusted: comparison.p_value_adjusted.into(),
            sentence: sentence_of(&names, metric, comparison),
        })
    };
    Some(cells.get(cell)?.relative.iter().filter_map(compared).collect())
}

/// Why nothing can be concluded from these cells. An invalid result ends a comparison, so there it concerns all cells.
fn why_invalid(grid: &Grid<'_>, cells: [usize; 2]) -> String {
    let report = grid.report;
    let own = report.analysis.findings.iter().find_map(|(cell, finding)| {
        let cell = cell.filter(|cell| cells.contains(cell))?;
        let is_invalid = finding.severity == Severity::Invalid;
        is_invalid.then(|| {
            format!("{}: {}", grid.name(cell), phrases::finding(finding, grid.titles_of(cell)))
        })
    });
    own.filter(|_| !report.is_comparison()).unwrap_or_else(|| reason(&report.findings))
}

impl From<Interval> for Bootstrap {
    fn from(interval: Interval) -> Self {
        Self { ci_low: interval.low.into(), ci_high: interval.high.into(), level: interval.level }
    }
}
