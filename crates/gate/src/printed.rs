//! A gate as it is printed in JSON.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::schema_of;

use crate::decide::{Gate, GateOutcome};
use crate::likeness::Difference;
use crate::words::{change, grounds, headline, verdict};

/// Version of the printed form; a field that changes its meaning changes it.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of a [`PrintedGate`], draft 2020-12, as text.
pub const SCHEMA: &str = include_str!("../../../docs/schema/gate.schema.json");

/// [`SCHEMA`] as it follows from the types, for the test that compares the two.
pub fn derived_schema() -> String {
    schema_of::<PrintedGate>()
}

/// A decision, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "A gate", extend("$id" = format!("urn:stormeter:schema:gate:{SCHEMA_VERSION}")))]
pub struct PrintedGate {
    /// Version of this form.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// What it says.
    pub outcome: GateOutcome,
    /// The same in words.
    pub headline: String,
    /// The slowdown that is allowed, as a share.
    pub max_slowdown: f64,
    /// One-sided error level.
    pub alpha: f64,
    /// By cell and metric.
    pub cells: Vec<PrintedCell>,
    /// Differences between the runs that were allowed.
    pub differences: Vec<Difference>,
    /// Earlier runs that were left out because they are invalid.
    pub left_out: Vec<String>,
}

/// One metric of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PrintedCell {
    /// The datastore.
    pub datastore: String,
    /// The load.
    pub load: String,
    /// The metric.
    pub metric: String,
    /// `regression`, `no regression` or `inconclusive`.
    pub verdict: String,
    /// Geometric mean of the earlier runs that count, in the metric's unit (nanoseconds, bytes per second, I/Os per
    /// second).
    pub earlier: f64,
    /// Geometric mean of the new runs, in the same unit.
    pub new: f64,
    /// By how much more time an operation takes, as a share; negative for less.
    pub slowdown: f64,
    /// Lower bound of the slowdown, one-sided; null without a spread between runs.
    pub low: Option<f64>,
    /// Upper bound of the slowdown, one-sided.
    pub high: Option<f64>,
    /// SD between runs, as a share.
    pub between_runs: Option<f64>,
    /// Earlier runs that count.
    pub history: usize,
    /// New runs.
    pub new_runs: usize,
    /// The smallest slowdown that would have been found in four of five cases.
    pub smallest_found: Option<f64>,
    /// How many more new runs would probably decide.
    pub more_runs: Option<usize>,
    /// The change in words.
    pub change: String,
    /// What the verdict rests on, in words.
    pub grounds: String,
}

impl From<&Gate> for PrintedGate {
    fn from(gate: &Gate) -> Self {
        let cells = gate.cells.iter().map(|cell| {
            let judgement = &cell.judgement;
            PrintedCell {
                datastore: cell.datastore.clone(),
                load: cell.load.clone(),
                metric: cell.metric.name().to_owned(),
                verdict: verdict(judgement.verdict).to_owned(),
                earlier: cell.earlier,
                new: cell.new,
                slowdown: judgement.slowdown,
                low: judgement.bounds.map(|(low, _)| low),
                high: judgement.bounds.map(|(_, high)| high),
                between_runs: judgement.between_runs,
                history: judgement.history,
                new_runs: cell.new_runs,
                smallest_found: judgement.smallest_found,
                more_runs: judgement.more_runs,
                change: change(cell, gate.alpha),
                grounds: grounds(cell),
            }
        });
        Self {
            schema_version: SCHEMA_VERSION,
            outcome: gate.outcome,
            headline: headline(gate),
            max_slowdown: gate.max_slowdown,
            alpha: gate.alpha,
            cells: cells.collect(),
            differences: gate.differences.clone(),
            left_out: gate.left_out.clone(),
        }
    }
}
