//! Sides for programs, in a form that a committed JSON Schema fixes.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use stormeter_schema::{Number, schema_of};
use stormeter_statistics::runs::RunsCompared;
use stormeter_statistics::{Interval, Verdict};

use super::model::{SideRun, SideValue, Sides, SidesLoad};
use super::words;
use crate::model::{Finding, Severity};
use crate::quantity::metric_unit;

/// Raised when a field is removed or changes its meaning; new fields do not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of [`json`]'s output, draft 2020-12, as text.
pub const SCHEMA: &str = include_str!("../../../../docs/schema/sides.schema.json");

/// [`SCHEMA`] as it follows from the types, for the test that compares the two.
pub fn derived_schema() -> String {
    schema_of::<PrintedSides>()
}

/// Sides as a JSON value.
pub fn json(sides: &Sides) -> Value {
    serde_json::to_value(PrintedSides::of(sides)).expect("all keys are strings")
}

/// Output of --json for results files that are compared with each other, and for results of other tools.
#[derive(Serialize, JsonSchema)]
#[schemars(
    title = "Runs side by side",
    extend("$id" = format!("urn:stormeter:schema:sides:{SCHEMA_VERSION}"))
)]
struct PrintedSides<'a> {
    /// Version of this format.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    schema_version: u32,
    /// The verdicts on the deciding metric, as sentences.
    headline: Vec<String>,
    /// Name of the deciding metric.
    metric: &'static str,
    /// Confidence level of the intervals.
    level: f64,
    /// Differences within this share are equivalent.
    margin: f64,
    /// The sides; the first is the baseline.
    sides: Vec<PrintedSide<'a>>,
    /// By load, metric and side.
    values: Vec<PrintedValue<'a>>,
    /// What weakens the comparison, and what cannot be concluded.
    findings: Vec<PrintedFinding>,
}

/// A side.
#[derive(Serialize, JsonSchema)]
struct PrintedSide<'a> {
    /// Its name.
    name: &'a str,
    /// Its runs.
    runs: Vec<PrintedRun<'a>>,
}

/// A run of a side.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PrintedRun<'a> {
    /// The file that it is from.
    file: &'a str,
    /// The program that made it.
    made_by: &'a str,
    /// When it began, in milliseconds since 1970-01-01 UTC; null if that is not known.
    began_unix_ms: Option<u64>,
    /// Why its figures are not used; null if they are.
    invalid: Option<&'a str>,
}

/// A metric of a load on a side.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PrintedValue<'a> {
    /// The load.
    load: &'a str,
    /// The side.
    side: &'a str,
    /// The metric.
    metric: &'static str,
    /// Unit of the value.
    unit: &'static str,
    /// Geometric mean of the runs.
    value: Number,
    /// How many runs have it.
    runs: usize,
    /// Standard deviation between the runs, as a share; null for a single run.
    between_runs: Option<f64>,
    /// Against the baseline; null for the baseline.
    compared: Option<PrintedComparison>,
}

/// A side against the baseline.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PrintedComparison {
    /// The side over the baseline.
    ratio: Number,
    /// Lower end of its interval by the spread between runs; null with one run on each side.
    low: Option<Number>,
    /// Upper end.
    high: Option<Number>,
    /// With one run on each side: lower end of the interval by the spread within the runs, which lacks what differs
    /// from run to run.
    within_low: Option<Number>,
    /// Upper end.
    within_high: Option<Number>,
    /// Of "there is no difference"; null with one run on each side.
    p: Option<Number>,
    /// What is said; `invalid` if the runs are not alike.
    verdict: Verdict,
}

/// A finding.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PrintedFinding {
    /// How severe it is.
    severity: Severity,
    /// What it is about; empty for all.
    subject: String,
    /// What was found.
    what: String,
    /// What to do; may be empty.
    advice: String,
}

impl PrintedComparison {
    pub(crate) fn of(compared: &RunsCompared, verdict: Verdict) -> Self {
        let low = |interval: Option<Interval>| interval.map(|it| it.low.into());
        let high = |interval: Option<Interval>| interval.map(|it| it.high.into());
        Self {
            ratio: compared.ratio.into(),
            low: low(compared.interval),
            high: high(compared.interval),
            within_low: low(compared.within),
            within_high: high(compared.within),
            p: compared.p.map(Number::from),
            verdict,
        }
    }
}

impl<'a> PrintedSides<'a> {
    fn of(sides: &'a Sides) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            headline: words::headline(sides).into_iter().map(|(_, text)| text).collect(),
            metric: sides.primary.name(),
            level: sides.level,
            margin: sides.margin,
            sides: sides
                .sides
                .iter()
                .map(|side| PrintedSide {
                    name: &side.name,
                    runs: side.runs.iter().map(PrintedRun::from).collect(),
                })
                .collect(),
            values: sides.loads.iter().flat_map(|load| values(sides, load)).collect(),
            findings: words::findings(sides).into_iter().map(PrintedFinding::from).collect(),
        }
    }
}

pub(crate) fn values<'a>(sides: &'a Sides, load: &'a SidesLoad) -> Vec<PrintedValue<'a>> {
    let mut found = Vec::new();
    for metric in &load.metrics {
        for (place, value) in metric.values.iter().enumerate() {
            let Some(SideValue { value, runs, between_runs, compared }) = value else { continue };
            found.push(PrintedValue {
                load: &load.name,
                side: &sides.sides[place].name,
                metric: metric.metric.name(),
                unit: metric_unit(metric.metric),
                value: (*value).into(),
                runs: *runs,
                between_runs: *between_runs,
                compared: compared.as_ref().map(|compared| {
                    PrintedComparison::of(compared, sides.verdict(load, place, compared))
                }),
            });
        }
    }
    found
}

impl<'a> From<&'a SideRun> for PrintedRun<'a> {
    fn from(run: &'a SideRun) -> Self {
        Self {
            file: &run.file,
            made_by: &run.made_by,
            began_unix_ms: run.began_unix_ms,
            invalid: run.invalid.as_deref(),
        }
    }
}

impl From<Finding> for PrintedFinding {
    fn from(Finding { severity, subject, what, advice }: Finding) -> Self {
        Self { severity, subject, what, advice }
    }
}
