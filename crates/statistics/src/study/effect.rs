//! One number about several cells, with its uncertainty: what nearly every question is about.
//!
//! The number is Σ wᵢ ln(yᵢ) over cells i. Weights of 1 and −1 make the log-ratio of two cells;
//! weights that are those of a least-squares slope make a trend.
//!
//! Where the trial is the unit, the sum is formed in every block that has all its cells. Its values
//! are independent, and what a block's cells have in common (the same operations, the same hour)
//! is gone from them; mean, SD and t as for pairs ([`crate::ratio`]), with the standard error that
//! stopping by the width demands ([`crate::stopping::Looks`]).
//!
//! Where the interval is the unit, each cell has a mean and a variance of its intervals as if they
//! were independent. ln of a mean has about the variance (SD/mean)²/n (delta method), and the sum
//! the degrees of freedom of Welch and Satterthwaite ([`crate::two_sample`]).

use std::collections::BTreeMap;

use stormeter_study::{Metric, Unit};

use super::conclusion::Dependence;
use super::measured::Measured;
use crate::describe::Summary;
use crate::equivalence::MeanDifference;
use crate::estimate::Interval;
use crate::moments::Moments;
use crate::series::{effective_sample_size, lag1_autocorrelation};
use crate::stopping::Looks;

/// A cell's place and its weight.
pub(super) type Contrast = Vec<(usize, f64)>;

/// A weighted sum of logarithms, estimated.
#[derive(Debug, Clone)]
pub(super) struct Effect {
    difference: MeanDifference,
    /// By how much it may be off because values were read in steps.
    resolution: f64,
    /// What it rests on.
    pub(super) basis: Basis,
}

/// What an effect rests on.
#[derive(Debug, Clone)]
pub(super) enum Basis {
    /// One value a block.
    Blocks {
        /// The values, in the order of the blocks.
        values: Vec<f64>,
        /// Their SD.
        sd: f64,
        /// How blocks were added.
        looks: Looks,
    },
    /// The intervals of each cell.
    Intervals {
        /// Per cell of the contrast: its weight, its intervals and how they depend on one another.
        cells: Vec<(f64, Moments, Dependence)>,
    },
}

impl Effect {
    /// The effect on the metric that this contrast means.
    ///
    /// # Errors
    /// Why the data do not tell.
    pub(super) fn of(
        measured: &Measured<'_>,
        metric: Metric,
        contrast: &Contrast,
    ) -> Result<Self, String> {
        match measured.unit(metric) {
            Unit::Trial => Self::of_blocks(measured, metric, contrast),
            Unit::Interval => Self::of_intervals(measured, metric, contrast),
        }
    }

    fn of_blocks(
        measured: &Measured<'_>,
        metric: Metric,
        contrast: &Contrast,
    ) -> Result<Self, String> {
        let values = block_values(measured, metric, contrast);
        let resolutions =
            contrast.iter().map(|&(cell, weight)| weight.abs() * measured.resolution(cell, metric));
        let looks = Looks { resolution: resolutions.sum(), ..measured.looks(metric) };
        Self::of_values(values, looks).ok_or_else(|| no_blocks(measured, metric, contrast))
    }

    /// From one value a block; `None` with fewer than two or one that is not finite.
    pub(super) fn of_values(values: Vec<f64>, looks: Looks) -> Option<Self> {
        let summary = Summary::of(&values)?;
        let sd = summary.sd?;
        let (standard_error, _) = looks.standard_error(sd, summary.n, looks.t_quantile(summary.n));
        let df = summary.n as f64 - 1.0;
        let difference = MeanDifference { estimate: summary.mean, standard_error, df };
        let basis = Basis::Blocks { values, sd, looks };
        Some(Self { difference, resolution: looks.resolution, basis })
    }

    fn of_intervals(
        measured: &Measured<'_>,
        metric: Metric,
        contrast: &Contrast,
    ) -> Result<Self, String> {
        let mut cells = Vec::new();
        for &(cell, weight) in contrast {
            let values = measured.intervals(cell, metric).unwrap_or_default();
            let moments = Moments::from(&values);
            if values.len() < 2 || moments.mean <= 0.0 {
                let load = measured.load_name(&measured.cells[cell]);
                return Err(format!("fewer than two intervals with a value at {load}"));
            }
            cells.push((weight, moments, dependence(&values)));
        }
        Ok(Self::of_cells(cells, |_, moments| moments.n as f64))
    }

    /// The same effect with the number of observations that are worth as much as independent ones;
    /// `None` where it rests on blocks.
    pub(super) fn with_effective_n(&self) -> Option<Self> {
        match &self.basis {
            Basis::Blocks { .. } => None,
            Basis::Intervals { cells } => Some(Self::of_cells(cells.clone(), |dependence, _| {
                // Two values are the least that have a spread.
                dependence.effective_n.max(2.0)
            })),
        }
    }

    /// From cells with their weights, and a number of observations that each counts for.
    pub(super) fn of_cells(
        cells: Vec<(f64, Moments, Dependence)>,
        count: impl Fn(&Dependence, &Moments) -> f64,
    ) -> Self {
        let (mut estimate, mut variance, mut denominator) = (0.0, 0.0, 0.0);
        for (weight, moments, dependence) in &cells {
            let n = count(dependence, moments);
            estimate += weight * moments.mean.ln();
            let own = (weight * moments.sd / moments.mean).powi(2) / n;
            variance += own;
            denominator += own * own / (n - 1.0);
        }
        let df = if denominator > 0.0 { variance * variance / denominator } else { 1.0 };
        let difference = MeanDifference { estimate, standard_error: variance.sqrt(), df };
        // Metrics of intervals are means of so many values that their steps are nothing.
        Self { difference, resolution: 0.0, basis: Basis::Intervals { cells } }
    }

    /// The estimate: a sum of logarithms.
    pub(super) fn estimate(&self) -> f64 {
        self.difference.estimate
    }

    /// Degrees of freedom of its standard error.
    pub(super) fn df(&self) -> f64 {
        self.difference.df
    }

    /// Its interval on the scale of logarithms.
    pub(super) fn interval(&self, level: f64) -> Interval {
        let own = match self.difference.standard_error == 0.0 {
            true => Interval { low: self.estimate(), high: self.estimate(), level },
            false => self.difference.interval(level),
        };
        Interval { low: own.low - self.resolution, high: own.high + self.resolution, level }
    }

    /// P-value against "it is above `bound`", whatever the steps of reading made of it.
    pub(super) fn p_above(&self, bound: f64) -> f64 {
        let bound = bound + self.resolution;
        // Values without any spread leave no doubt.
        if self.difference.standard_error == 0.0 {
            return if self.estimate() > bound { 0.0 } else { 1.0 };
        }
        self.difference.p_above(bound)
    }

    /// P-value against "it is below `bound`".
    pub(super) fn p_below(&self, bound: f64) -> f64 {
        let bound = bound - self.resolution;
        if self.difference.standard_error == 0.0 {
            return if self.estimate() < bound { 0.0 } else { 1.0 };
        }
        self.difference.p_below(bound)
    }

    /// Two-sided p-value against "it is not 0".
    pub(super) fn p_different(&self) -> f64 {
        (2.0 * self.p_above(0.0).min(self.p_below(0.0))).min(1.0)
    }
}

/// Σ wᵢ ln(yᵢ) of every block that has all the cells.
pub(super) fn block_values(
    measured: &Measured<'_>,
    metric: Metric,
    contrast: &Contrast,
) -> Vec<f64> {
    let columns: Vec<(BTreeMap<u32, f64>, f64)> =
        contrast.iter().map(|&(cell, weight)| (measured.values(cell, metric), weight)).collect();
    let Some((first, _)) = columns.first() else { return Vec::new() };
    first
        .keys()
        .filter_map(|block| {
            columns
                .iter()
                .map(|(values, weight)| Some(weight * values.get(block)?.ln()))
                .sum::<Option<f64>>()
        })
        .filter(|value| value.is_finite())
        .collect()
}

/// How far the values of a series depend on one another.
pub(super) fn dependence(values: &[f64]) -> Dependence {
    let n = values.len();
    let lag1 = lag1_autocorrelation(values).unwrap_or(0.0);
    Dependence { n, lag1, effective_n: effective_sample_size(n, lag1) }
}

/// Why there are not two blocks.
fn no_blocks(measured: &Measured<'_>, metric: Metric, contrast: &Contrast) -> String {
    let title = metric.title();
    for &(cell, _) in contrast {
        let own = &measured.cells[cell];
        let datastore = &measured.plan.datastores[own.datastore].name;
        let load = measured.load_name(own);
        let trials = measured.trials(cell).len();
        if trials == 0 {
            return format!("{datastore} has no measured trial at {load}");
        }
        if measured.values(cell, metric).is_empty() {
            return format!("the trials of {datastore} at {load} have no {title}");
        }
    }
    let blocks = block_values(measured, metric, contrast).len();
    format!(
        "{blocks} block{} with all of it {}, and an interval needs at least 2 (better 5)",
        if blocks == 1 { "" } else { "s" },
        if blocks == 1 { "was measured" } else { "were measured" },
    )
}
