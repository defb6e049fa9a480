//! What is concluded from the trials of a study: plain values that a report lays out.
//!
//! Cells are named by their place in [`stormeter_study::StudyPlan::cells`].

use serde::{Deserialize, Serialize};
use stormeter_study::question::Factor;
use stormeter_study::{Metric, Unit};
use stormeter_trial::{CpuUsage, Histogram, IssueTimes, Sample, StepTime, Verified};

use crate::anova::AnovaTable;
use crate::broken::FailedTrials;
use crate::comparison::Comparison;
use crate::describe::Summary;
use crate::estimate::Interval;
use crate::finding::{LawFinding, Severity};
use crate::metric_summary::MetricSummary;
use crate::touched::Touched;

/// One measured trial of a study, as the analysis needs it.
#[derive(Debug, Clone, Copy)]
pub struct CellTrial<'a> {
    /// Which block, counted from 0.
    pub block: u32,
    /// Which cell.
    pub cell: usize,
    /// What was measured.
    pub sample: &'a Sample,
    /// What it cost.
    pub cpu: &'a CpuUsage,
}

/// Everything concluded from a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Blocks in which every cell has a measured trial.
    pub complete_blocks: u32,
    /// What counted as one observation.
    pub unit: Unit,
    /// Per cell, in the plan's order.
    pub cells: Vec<CellSummary>,
    /// Per question of the plan, in its order.
    pub answers: Vec<Answer>,
    /// Broken and bent laws and other warnings, the gravest first; the cell it is about, or `None` for
    /// the whole study.
    pub findings: Vec<(Option<usize>, LawFinding)>,
    /// What the study could have found.
    pub power: Option<PowerStatement>,
}

impl Analysis {
    /// Whether a law is broken somewhere.
    pub fn is_invalid(&self) -> bool {
        self.findings.iter().any(|(_, finding)| finding.severity == Severity::Invalid)
    }
}

/// A cell's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// Trials measured.
    pub trials: u32,
    /// Trials that failed.
    pub failed: Option<FailedTrials>,
    /// Metrics over the cell's trials; one without a value is left out.
    pub values: Vec<MetricSummary>,
    /// Each metric against the baseline's cell of the same load; empty for the baseline.
    pub relative: Vec<Relative>,
    /// The observations of the primary metric, in the order in which they were made.
    pub observations: Vec<f64>,
    /// Their description; `None` without any.
    pub spread: Option<Summary>,
    /// How far the observations depend on one another; shown wherever they come from one run.
    pub dependence: Option<Dependence>,
    /// Latencies of all trials, reads and writes, merged.
    pub latencies: Histogram,
    /// Service times and lateness of all trials, merged; of an open loop whose trials all have them.
    #[serde(default)]
    pub issue: Option<IssueTimes>,
    /// CPU time of all trials, summed.
    pub cpu: CpuUsage,
    /// I/Os of all trials.
    pub operations: u64,
    /// What its reads returned, where that was verified.
    pub verified: Option<Verified>,
    /// The steps of a trial of fixed work, summed over the trials.
    pub steps: Vec<StepTime>,
    /// What its trials touched of their disks; `None` for a trial of fixed work, and where that is not known.
    #[serde(default)]
    pub touched: Option<Touched>,
}

/// A metric of a cell against the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relative {
    /// Which metric.
    pub metric: Metric,
    /// This cell over the baseline's: geometric mean over the common blocks. 1.2: 20 % more.
    pub ratio: f64,
    /// Interval and verdict, with two or more common blocks.
    pub comparison: Option<Comparison>,
}

/// How far observations of one run depend on one another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// Observations.
    pub n: usize,
    /// Autocorrelation at lag 1.
    pub lag1: f64,
    /// Independent observations that would say as much about the mean.
    pub effective_n: f64,
}

/// What a question was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question as it was written.
    pub question: String,
    /// Whether it says `must`: answered no, the run exits with 3.
    pub must: bool,
    /// The answer.
    pub reply: Reply,
    /// The answer as a sentence, with the estimate.
    pub sentence: String,
    /// What makes the results invalid that the question is about, where it is not answered for that.
    pub invalid_by: Option<LawFinding>,
    /// The test that it rests on, in words, with its degrees of freedom and the number of observations.
    pub test: String,
    /// The estimate with its unit, such as a ratio; `None` where the test has none.
    pub estimate: Option<AnswerEstimate>,
    /// The p-value of the test, if it has one.
    pub p_value: Option<f64>,
    /// The same when all questions of the study are one family (Holm); `None` where only one was tested.
    #[serde(default)]
    pub p_value_adjusted: Option<f64>,
    /// The table of an analysis of variance.
    pub table: Option<AnswerTable>,
    /// The same question for each load by itself, where it was asked of several.
    pub parts: Vec<AnswerPart>,
    /// What a reader should know: assumptions that do not hold, a rank test that disagrees.
    pub remarks: Vec<String>,
}

/// The table of an analysis of variance as it is shown: rows of terms, and what is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerTable {
    /// The factors that it is about.
    pub factors: Vec<Factor>,
    /// One row a term, in the order of the model, then the residual.
    pub rows: Vec<AnswerRow>,
}

/// One row of an [`AnswerTable`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRow {
    /// Its name, such as `datastore × workload` or `residual`.
    pub term: String,
    /// Sum of squares, in the squared unit of the observations.
    pub sum_of_squares: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Sum of squares / degrees of freedom.
    pub mean_square: f64,
    /// Against the residual; `None` for the residual.
    pub f: Option<f64>,
    /// P(F or more), were there no effect.
    pub p: Option<f64>,
    /// SS / (SS + SS of the residual): the share of what is left that the term explains.
    pub partial_eta_squared: Option<f64>,
}

impl AnswerTable {
    /// The table of an analysis of these factors.
    pub(super) fn of(factors: &[Factor], table: &AnovaTable) -> Self {
        let mut rows: Vec<AnswerRow> = table
            .rows
            .iter()
            .map(|row| AnswerRow {
                term: row.term.clone(),
                sum_of_squares: row.sum_of_squares,
                df: row.df,
                mean_square: row.mean_square,
                f: Some(row.f),
                p: Some(row.p),
                partial_eta_squared: Some(row.partial_eta_squared),
            })
            .collect();
        let residual = &table.residual;
        rows.push(AnswerRow {
            term: "residual".into(),
            sum_of_squares: residual.sum_of_squares,
            df: residual.df,
            mean_square: residual.mean_square,
            f: None,
            p: None,
            partial_eta_squared: None,
        });
        Self { factors: factors.to_vec(), rows }
    }
}

/// The answer in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The data show it.
    Yes,
    /// The data show the contrary.
    No,
    /// The data show neither.
    Inconclusive,
    /// It could not be asked of these data, or the data are invalid.
    NotAnswered,
}

/// An estimate that answers a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerEstimate {
    /// What is estimated, such as `nas / local, IOPS`.
    pub of: String,
    /// The estimate.
    pub value: f64,
    /// Its interval, at the level of `level`.
    pub interval: Option<Interval>,
    /// The interval's level.
    pub level: f64,
    /// The metric in whose unit it is; `None` for a ratio.
    pub metric: Option<Metric>,
}

/// A question's answer at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerPart {
    /// Which load: `vm-4k, 16 VMs × 4`.
    pub load: String,
    /// The estimate.
    pub value: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// The answer.
    pub reply: Reply,
}

/// What a finished study could have found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PowerStatement {
    /// Blocks that were measured.
    pub blocks: u32,
    /// The usual SD of the log-ratio of a block, over the cells.
    pub log_ratio_sd: f64,
    /// The smallest relative difference found with a power of 80 %.
    pub detectable: f64,
    /// Blocks needed to find the margin of the plan with a power of 80 %.
    pub blocks_for_margin: Option<u32>,
}
