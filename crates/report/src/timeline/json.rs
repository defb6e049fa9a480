//! A time line for programs, in a form that a committed JSON Schema fixes.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use stormeter_schema::{Number, schema_of};
use stormeter_statistics::Verdict;
use stormeter_statistics::runs::RunsCompared;

use super::model::{Timeline, TimelineCell, TimelineMetric};
use super::words;
use crate::quantity::metric_unit;
use crate::sides::json::{PrintedComparison, PrintedFinding, PrintedRun, PrintedValue, values};

/// Raised when a field is removed or changes its meaning; new fields do not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of [`json`]'s output, draft 2020-12, as text.
pub const SCHEMA: &str = include_str!("../../../../docs/schema/timeline.schema.json");

/// [`SCHEMA`] as it follows from the types, for the test that compares the two.
pub fn derived_schema() -> String {
    schema_of::<PrintedTimeline>()
}

/// A time line as a JSON value.
pub fn json(timeline: &Timeline) -> Value {
    serde_json::to_value(PrintedTimeline::of(timeline)).expect("all keys are strings")
}

/// Output of --json for several results files in the order in which they were run.
#[derive(Serialize, JsonSchema)]
#[schemars(
    title = "A time line of runs",
    extend("$id" = format!("urn:stormeter:schema:timeline:{SCHEMA_VERSION}"))
)]
struct PrintedTimeline<'a> {
    /// Version of this format.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    schema_version: u32,
    /// The verdicts at the marks on the deciding metric, as sentences; without marks, what there is.
    headline: Vec<String>,
    /// Name of the deciding metric.
    metric: &'static str,
    /// Confidence level of the intervals.
    level: f64,
    /// Whether the runs are in the order of their times; otherwise one has none, and they are in the order in which
    /// they were named.
    dated: bool,
    /// The runs in order.
    runs: Vec<PrintedNamedRun<'a>>,
    /// By cell and metric, what each run says.
    series: Vec<PrintedSeries<'a>>,
    /// In what runs differ from those before them.
    changes: Vec<PrintedChange<'a>>,
    /// What happened between runs, in order.
    marks: Vec<PrintedMark<'a>>,
    /// What weakens the comparisons, and what cannot be concluded.
    findings: Vec<PrintedFinding>,
}

/// A run with its name.
#[derive(Serialize, JsonSchema)]
struct PrintedNamedRun<'a> {
    /// Its name.
    name: &'a str,
    /// Where it is from.
    #[serde(flatten)]
    run: PrintedRun<'a>,
}

/// A metric of a cell, run by run.
#[derive(Serialize, JsonSchema)]
struct PrintedSeries<'a> {
    /// The cell.
    cell: &'a str,
    /// The metric.
    metric: &'static str,
    /// Unit of the values.
    unit: &'static str,
    /// A value for each run that has one.
    values: Vec<PrintedPoint<'a>>,
}

/// What a run says of a metric.
#[derive(Serialize, JsonSchema)]
struct PrintedPoint<'a> {
    /// The run.
    run: &'a str,
    /// The value.
    value: Number,
    /// Lower end of its interval by what happened within the run; null where that is not known.
    low: Option<Number>,
    /// Upper end.
    high: Option<Number>,
    /// Against the last run before it that has a value; null for the first. There is no verdict from two runs.
    previous: Option<PrintedComparison>,
    /// Against the first run that has a value; null for that run.
    first: Option<PrintedComparison>,
}

/// In what a run differs from the one before it that has the cell.
#[derive(Serialize, JsonSchema)]
struct PrintedChange<'a> {
    /// The run.
    run: &'a str,
    /// The cell.
    cell: &'a str,
    /// In what: generator, version, machine, load or durability.
    aspect: &'static str,
    /// What the earlier run has.
    earlier: &'a str,
    /// What this one has.
    later: &'a str,
    /// Whether it was allowed.
    allowed: bool,
}

/// Something that happened between runs.
#[derive(Serialize, JsonSchema)]
struct PrintedMark<'a> {
    /// What.
    label: &'a str,
    /// When, in milliseconds since 1970-01-01 UTC; the start of the day if only that is known.
    at_unix_ms: u64,
    /// Whether the time of the day is known.
    has_time: bool,
    /// How many runs are before it.
    runs_before: usize,
    /// By load, metric and side: the runs before it, back to the mark before, and those after it, up to the next mark.
    compared: Vec<PrintedValue<'a>>,
}

impl<'a> PrintedTimeline<'a> {
    fn of(timeline: &'a Timeline) -> Self {
        let named = |run: usize| timeline.runs[run].name.as_str();
        let changes = timeline.cells.iter().flat_map(|cell| {
            cell.changes.iter().map(move |change| PrintedChange {
                run: named(change.run),
                cell: &cell.name,
                aspect: change.aspect,
                earlier: &change.earlier,
                later: &change.later,
                allowed: change.is_allowed,
            })
        });
        let marks = timeline.marks.iter().zip(&timeline.compared).enumerate();
        let marks = marks.map(|(place, (mark, sides))| PrintedMark {
            label: &mark.label,
            at_unix_ms: mark.at_unix_ms,
            has_time: mark.has_time,
            runs_before: timeline.before(place),
            compared: sides.loads.iter().flat_map(|load| values(sides, load)).collect(),
        });
        let runs = timeline.runs.iter();
        Self {
            schema_version: SCHEMA_VERSION,
            headline: words::headline(timeline).into_iter().map(|(_, text)| text).collect(),
            metric: timeline.primary.name(),
            level: timeline.level,
            dated: timeline.is_dated,
            runs: runs
                .map(|it| PrintedNamedRun { name: &it.name, run: PrintedRun::from(&it.run) })
                .collect(),
            series: timeline
                .cells
                .iter()
                .flat_map(|cell| cell.metrics.iter().map(|metric| series(timeline, cell, metric)))
                .collect(),
            changes: changes.collect(),
            marks: marks.collect(),
            findings: words::findings(timeline).into_iter().map(PrintedFinding::from).collect(),
        }
    }
}

fn series<'a>(
    timeline: &'a Timeline,
    cell: &'a TimelineCell,
    metric: &TimelineMetric,
) -> PrintedSeries<'a> {
    let points = metric.values.iter().zip(&timeline.runs).filter_map(|(value, run)| {
        let value = value.as_ref()?;
        Some(PrintedPoint {
            run: &run.name,
            value: value.value.into(),
            low: value.within.map(|it| it.low.into()),
            high: value.within.map(|it| it.high.into()),
            previous: value.previous.as_ref().map(printed),
            first: value.first.as_ref().map(printed),
        })
    });
    PrintedSeries {
        cell: &cell.name,
        metric: metric.metric.name(),
        unit: metric_unit(metric.metric),
        values: points.collect(),
    }
}

fn printed((compared, is_alike): &(RunsCompared, bool)) -> PrintedComparison {
    let verdict = if *is_alike { compared.verdict } else { Verdict::Invalid };
    PrintedComparison::of(compared, verdict)
}
