//! From runs to a decision: what is alike, which cells are common, and what each says.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_statistics::Direction;
use stormeter_statistics::gate::{GateInput, GateVerdict, Judgement, judge};
use stormeter_statistics::holm::adjusted_p_values;
use stormeter_study::Metric;
use thiserror::Error;

use crate::likeness::{self, Difference};
use crate::run::{Aspect, GateRun};

/// What is judged, and how strictly.
#[derive(Debug, Clone, PartialEq)]
pub struct GateOptions {
    /// Which metrics; those that both sides have count.
    pub metrics: Vec<Metric>,
    /// The slowdown that is allowed, as a share.
    pub max_slowdown: f64,
    /// One-sided error level.
    pub alpha: f64,
    /// In what runs may differ.
    pub may_differ: BTreeSet<Aspect>,
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GateError {
    /// A new run cannot be used.
    #[error("{source_name}: {why}")]
    Invalid {
        /// Which.
        source_name: String,
        /// Why.
        why: String,
    },
    /// No earlier run can be used.
    #[error("there is no earlier run that can be used{}", if *.left_out > 0 { " (all are invalid)" } else { "" })]
    NoHistory {
        /// How many were left out because they are invalid.
        left_out: usize,
    },
    /// Runs that were not made alike.
    #[error("the runs are not alike")]
    Unlike {
        /// In what.
        differences: Vec<Difference>,
    },
    /// No cell is in both.
    #[error("no datastore and load are in both with a value of {}", metrics.join(", "))]
    NothingInCommon {
        /// The metrics that were asked for.
        metrics: Vec<&'static str>,
    },
}

/// A judgement of one metric of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellJudgement {
    /// The datastore.
    pub datastore: String,
    /// The load.
    pub load: String,
    /// The metric.
    pub metric: Metric,
    /// Mean of the earlier runs that count (geometric).
    pub earlier: f64,
    /// Mean of the new runs (geometric).
    pub new: f64,
    /// How many new runs there are.
    pub new_runs: usize,
    /// What was found; its verdict allows for the number of judgements (Holm).
    pub judgement: Judgement,
}

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// Nothing is slower than allowed.
    Fine,
    /// Something is.
    Regression,
    /// Something may be.
    Inconclusive,
}

/// A decision, and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// What it says.
    pub outcome: GateOutcome,
    /// By cell and metric.
    pub cells: Vec<CellJudgement>,
    /// Differences that were allowed.
    pub differences: Vec<Difference>,
    /// Earlier runs that were left out because they are invalid.
    pub left_out: Vec<String>,
    /// The slowdown that is allowed.
    pub max_slowdown: f64,
    /// One-sided error level.
    pub alpha: f64,
}

/// Judges new runs by earlier ones.
///
/// # Errors
/// A new run is invalid, no earlier one is left, the runs are not alike, or have nothing in common.
pub fn gate(
    history: &[GateRun],
    new: &[GateRun],
    options: &GateOptions,
) -> Result<Gate, GateError> {
    for run in new {
        if let Some(why) = &run.invalid {
            return Err(GateError::Invalid { source_name: run.source.clone(), why: why.clone() });
        }
    }
    let (left_out, used): (Vec<&GateRun>, Vec<&GateRun>) =
        history.iter().partition(|run| run.invalid.is_some());
    let mut history = used;
    if history.is_empty() {
        return Err(GateError::NoHistory { left_out: left_out.len() });
    }
    // Without a date, files count in the order in which they were named.
    history.sort_by(|a, b| a.began_s.partial_cmp(&b.began_s).unwrap_or(std::cmp::Ordering::Equal));
    let differences = differences(&history, new);
    let (allowed, unlike): (Vec<Difference>, Vec<Difference>) = differences
        .into_iter()
        .partition(|difference| options.may_differ.contains(&difference.aspect));
    if !unlike.is_empty() {
        return Err(GateError::Unlike { differences: unlike });
    }
    let mut cells = judgements(&history, new, options);
    if cells.is_empty() {
        let metrics = options.metrics.iter().map(|metric| metric.name()).collect();
        return Err(GateError::NothingInCommon { metrics });
    }
    for_several(&mut cells, options.alpha);
    let has = |verdict| cells.iter().any(|cell| cell.judgement.verdict == verdict);
    let outcome = if has(GateVerdict::Regression) {
        GateOutcome::Regression
    } else if has(GateVerdict::Inconclusive) {
        GateOutcome::Inconclusive
    } else {
        GateOutcome::Fine
    };
    Ok(Gate {
        outcome,
        cells,
        differences: allowed,
        left_out: left_out.into_iter().map(|run| run.source.clone()).collect(),
        max_slowdown: options.max_slowdown,
        alpha: options.alpha,
    })
}

/// In what the new runs differ from earlier ones: of runs, and of cells that both have.
fn differences(history: &[&GateRun], new: &[GateRun]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    let mut compare = |earlier: &[(Aspect, Vec<String>)], new: &[(Aspect, Vec<String>)]| {
        for difference in likeness::differences(earlier, new) {
            if !found.iter().any(|known| known.aspect == difference.aspect) {
                found.push(difference);
            }
        }
    };
    for earlier in history {
        for new in new {
            compare(&earlier.made_with, &new.made_with);
            for cell in &earlier.cells {
                if let Some(same) = new.cells.iter().find(|other| other.is_same(cell)) {
                    compare(&cell.made_with, &same.made_with);
                }
            }
        }
    }
    found
}

fn judgements(history: &[&GateRun], new: &[GateRun], options: &GateOptions) -> Vec<CellJudgement> {
    let mut found = Vec::new();
    for cell in new.iter().flat_map(|run| &run.cells) {
        let is_known = |known: &CellJudgement| {
            (&known.datastore, &known.load) == (&cell.datastore, &cell.load)
        };
        if found.iter().any(is_known) {
            continue;
        }
        for &metric in &options.metrics {
            let values =
                |run: &GateRun| run.cells.iter().find(|other| other.is_same(cell))?.value(metric);
            let earlier: Vec<f64> = history.iter().filter_map(|run| values(run)).collect();
            let now: Vec<f64> = new.iter().filter_map(values).collect();
            let direction = match metric.higher_is_better() {
                true => Direction::HigherIsBetter,
                false => Direction::LowerIsBetter,
            };
            let judgement = judge(&GateInput {
                history: &earlier,
                new: &now,
                direction,
                max_slowdown: options.max_slowdown,
                alpha: options.alpha,
            });
            let Some(judgement) = judgement else { continue };
            let used = &earlier[earlier.len() - judgement.history..];
            found.push(CellJudgement {
                datastore: cell.datastore.clone(),
                load: cell.load.clone(),
                metric,
                earlier: geometric_mean(used),
                new: geometric_mean(&now),
                new_runs: now.len(),
                judgement,
            });
        }
    }
    found
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Of several regressions each needs a p-value that holds for all of them; one that does not is inconclusive.
fn for_several(cells: &mut [CellJudgement], alpha: f64) {
    let p_values: Vec<f64> = cells.iter().map(|cell| cell.judgement.p.unwrap_or(1.0)).collect();
    for (cell, p) in cells.iter_mut().zip(adjusted_p_values(&p_values)) {
        if cell.judgement.verdict == GateVerdict::Regression && p >= alpha {
            cell.judgement.verdict = GateVerdict::Inconclusive;
        }
    }
}
