//! The report for programs: one object whose form a committed JSON Schema fixes. What happened over time is in the
//! results file and not repeated here.
//!
//! The types in this directory are what is printed, and the schema is derived from them: their comments are the
//! descriptions of its keys. What a type of another crate prints as it is, such as the plan, stands here as it is.

mod answer;
mod cell;
mod comparison;
mod datastore;
mod environment;
mod interval;
mod prediction;
mod steps;
mod units;
mod verified;

use answer::Answer;
use cell::Cell;
use comparison::Comparison;
use datastore::Datastore;
use environment::Environment;
use prediction::Prediction;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use steps::CellSteps;
use stormeter_results::FinishReason;
use stormeter_schema::{Number, schema_of};
use stormeter_statistics::{CeilingKind, PowerStatement};
use stormeter_study::StudyPlan;

use crate::compact::Compact;
use crate::compact::sentence::headline;
use crate::full::grid::Grid;
use crate::full::words;
use crate::model::{
    Finding, Report, Severity, StudyDesktopCell, StudyGuestRow, StudyHostRow, WorkloadCeiling,
};
use crate::title::Titles;

/// Raised when a field is removed or changes its meaning; new fields do not raise it.
pub const SCHEMA_VERSION: u32 = 2;

/// The JSON Schema of [`json`]'s output, draft 2020-12, as text.
pub const SCHEMA: &str = include_str!("../../../../docs/schema/report.schema.json");

/// [`SCHEMA`] as it follows from the types, for the test that compares the two: deriving it in the program would add
/// more than a megabyte to it.
pub fn derived_schema() -> String {
    schema_of::<PrintedReport>()
}

/// The report as a JSON value. Numbers that are not finite are `null`.
pub fn json(report: &Report) -> Value {
    let printed = PrintedReport::of(report, &Grid::of(report));
    serde_json::to_value(printed).expect("all keys are strings")
}

/// Output of --json for a comparison, a study or a prediction. New fields may be added without a new
/// schema_version.
#[derive(Serialize, JsonSchema)]
#[schemars(
    title = "Results of a run",
    extend("$id" = format!("urn:stormeter:schema:report:{SCHEMA_VERSION}"))
)]
struct PrintedReport<'a> {
    /// Version of this format.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    schema_version: u32,
    /// Version of the program that made the run.
    stormeter_version: &'a str,
    /// Identifies the run.
    run_id: &'a str,
    /// Start of the run, in milliseconds since 1970-01-01 UTC.
    created_unix_ms: u64,
    /// The title of the study, one line.
    study: &'a str,
    /// False: a sanity check failed, so nothing may be concluded.
    valid: bool,
    /// Of a comparison, its verdicts as sentences, one per candidate; of a study, the number of questions per
    /// answer.
    headline: Vec<String>,
    /// Only if the datastores promise different things about an acknowledged write and a workload relies on it: who
    /// promises what, and how to compare like with like, as sentences. It is one of the findings, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    unlike_promises: Option<String>,
    /// Progress of the run and the reason why it ended.
    status: Status,
    /// Each metric of each cell compared with the baseline's cell at the same load; those that carry a verdict
    /// come first.
    comparisons: Vec<Comparison<'a>>,
    /// The answers to the questions, in the order of the questions.
    answers: Vec<Answer<'a>>,
    /// Every combination of levels, workload by workload, load by load, the datastores side by side.
    cells: Vec<Cell<'a>>,
    /// Findings of the sanity checks, most severe first.
    findings: &'a [Finding],
    /// The differences that the study could have detected; null without an estimate.
    power: Option<Power>,
    /// The datastores, in the order of the plan.
    datastores: Vec<Datastore<'a>>,
    /// The plan with every default filled in.
    plan: &'a StudyPlan,
    /// The machine that ran the study.
    environment: Environment<'a>,
    /// The seed of orders, offsets and contents.
    seed: u64,
    /// The measured rates of everything in front of the storage.
    ceilings: Vec<Ceiling<'a>>,
    /// The command line of the run.
    command: &'a [String],
    /// The command that repeats the run.
    repeat_command: &'a str,
    /// Only for a prediction: the site, and the bottleneck of each cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Prediction")]
    prediction: Option<Prediction<'a>>,
    /// Only if other hosts ran the trials: their clocks, and the work and the CPU time of each.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hosts: &'a [StudyHostRow],
    /// Only if the study ran on guests of a rack: what each used of the machine that runs them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    guests: &'a [StudyGuestRow],
    /// Only if the study has desktops on demand: users, waits and steps of each cell.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    desktops: &'a [StudyDesktopCell],
    /// Only if the study has steps: the steps of the middle trial of each cell, and the throughput after each.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CellSteps>")]
    steps: Option<Vec<CellSteps<'a>>>,
}

/// Progress of a run.
#[derive(Serialize, JsonSchema)]
struct Status {
    /// False: the run was killed or is still running.
    finished: bool,
    /// Why it ended; null if it has not finished.
    reason: Option<Ending>,
    /// The status as a sentence.
    message: String,
    /// Complete blocks.
    blocks: u32,
    /// Measured trials.
    trials: u32,
    /// Failed trials.
    failed_trials: u32,
    /// Time spent on trials, in seconds.
    #[schemars(range(min = 0))]
    elapsed_s: f64,
}

/// Why a run ended.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Ending {
    /// The intervals are as narrow as requested.
    PrecisionReached,
    /// A failed sanity check made the result invalid.
    Invalid,
    /// Another block would have exceeded the time limit.
    TimeLimit,
    /// The maximum number of blocks is reached.
    MaxBlocks,
    /// The user stopped it.
    Interrupted,
    /// It could not continue.
    Failed,
}

/// The differences that the study could have detected.
#[derive(Serialize, JsonSchema)]
struct Power {
    /// Measured blocks.
    blocks: u32,
    /// Typical standard deviation of the log-ratio of a block, over the cells.
    log_ratio_sd: Number,
    /// The smallest relative difference that is detected with a power of 80 %.
    detectable: Number,
    /// Blocks needed to detect the margin with a power of 80 %.
    blocks_for_margin: Option<u32>,
    /// The same as a sentence.
    sentence: String,
}

/// The measured rate of something in front of the storage.
#[derive(Serialize, JsonSchema)]
struct Ceiling<'a> {
    /// The datastore at the end of the path; null: the load generator alone, on `null:`.
    datastore: Option<&'a str>,
    /// The name of the workload.
    workload: Option<&'a str>,
    /// What was measured.
    kind: CeilingKind,
    /// I/Os per second.
    iops: f64,
    /// The ceiling divided by the highest rate measured below it with this workload; null if nothing was measured.
    times_measured: Option<f64>,
}

impl<'a> PrintedReport<'a> {
    fn of(report: &'a Report, grid: &Grid<'a>) -> Self {
        let (header, analysis) = (&report.header, &report.analysis);
        let plan = &header.plan;
        let cells = analysis.cells.iter().enumerate();
        Self {
            schema_version: SCHEMA_VERSION,
            stormeter_version: &header.stormeter_version,
            run_id: &header.run_id,
            created_unix_ms: header.created_unix_ms,
            study: &plan.study,
            valid: report.findings.iter().all(|finding| finding.severity != Severity::Invalid),
            headline: match Compact::of(report) {
                Some(comparison) => headline(&comparison),
                None => vec![words::tally(report)],
            },
            unlike_promises: report.unlike_promises.as_ref().map(Finding::sentences),
            status: Status::of(report),
            comparisons: comparison::all(grid),
            answers: analysis
                .answers
                .iter()
                .enumerate()
                .map(|(index, it)| Answer::of((report, index), it, Titles::of_answer(plan, it)))
                .collect(),
            cells: cells.map(|(index, summary)| Cell::of(grid, index, summary)).collect(),
            findings: &report.findings,
            power: analysis.power.map(|power| Power::of(plan, &power)),
            datastores: (0..plan.datastores.len()).map(|it| Datastore::of(report, it)).collect(),
            plan,
            environment: Environment::of(&header.environment),
            seed: plan.seed,
            ceilings: report.ceilings.iter().map(|ceiling| Ceiling::of(plan, ceiling)).collect(),
            command: &header.command_line,
            repeat_command: &report.repeat_command,
            prediction: header.prediction.as_deref().map(|it| Prediction::of(grid, it)),
            hosts: &report.hosts,
            guests: &report.guests,
            desktops: &report.desktops,
            steps: (!plan.steps.is_empty()).then(|| steps::all(grid)),
        }
    }
}

impl Status {
    fn of(report: &Report) -> Self {
        let status = &report.status;
        Self {
            finished: status.reason.is_some(),
            reason: status.reason.as_ref().map(Ending::of),
            message: words::status(report),
            blocks: status.blocks,
            trials: status.trials,
            failed_trials: status.failed_trials,
            elapsed_s: status.elapsed_ns as f64 / 1e9,
        }
    }
}

impl Ending {
    fn of(reason: &FinishReason) -> Self {
        match reason {
            FinishReason::PrecisionReached => Self::PrecisionReached,
            FinishReason::Invalid => Self::Invalid,
            FinishReason::TimeLimit => Self::TimeLimit,
            FinishReason::MaxBlocks => Self::MaxBlocks,
            FinishReason::Interrupted => Self::Interrupted,
            FinishReason::Failed { .. } => Self::Failed,
        }
    }
}

impl Power {
    fn of(plan: &StudyPlan, power: &PowerStatement) -> Self {
        Self {
            blocks: power.blocks,
            log_ratio_sd: power.log_ratio_sd.into(),
            detectable: power.detectable.into(),
            blocks_for_margin: power.blocks_for_margin,
            sentence: words::power(plan, power),
        }
    }
}

impl<'a> Ceiling<'a> {
    fn of(plan: &'a StudyPlan, ceiling: &WorkloadCeiling) -> Self {
        let datastore = ceiling.datastore.and_then(|it| plan.datastores.get(it));
        Self {
            datastore: datastore.map(|it| it.name.as_str()),
            workload: plan.workloads.get(ceiling.workload).map(|it| it.name.as_str()),
            kind: ceiling.kind,
            iops: ceiling.iops,
            times_measured: ceiling.times_measured,
        }
    }
}
