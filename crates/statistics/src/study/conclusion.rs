//! What is concluded from the trials of a study: plain values that a report lays out.
//!
//! Cells are named by their place in [`stormeter_study::StudyPlan::cells`].

use serde::{Deserialize, Serialize};
use stormeter_study::{Metric, Unit};
use stormeter_trial::{CpuUsage, Histogram, IssueTimes, Sample, StepTime, Verified};

use super::answered::Answer;
use super::dependence::Dependence;
use crate::comparison::Comparison;
use crate::describe::Summary;
use crate::finding::{FailedTrials, LawFinding, Severity};
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
    /// Broken and bent laws and other warnings, the most severe first; the cell it is about, or `None` for
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
