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

use super::dependence::Dependence;
use super::measured::Measured;
use super::observations::Observations;
use super::unanswered::Unanswered;
use crate::describe::Summary;
use crate::equivalence::MeanDifference;
use crate::estimate::Interval;
use crate::moments::Moments;
use crate::series::{effective_sample_size, lag1_autocorrelation};
use crate::stopping::Looks;

/// Cells with their weights.
pub(super) type Contrast = Vec<Weighted>;

/// A cell with its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighted {
    pub(super) cell: usize,
    pub(super) weight: f64,
}

/// The log-ratio of a cell to another.
pub(super) fn ratio(cell: usize, base: usize) -> Contrast {
    vec![Weighted { cell, weight: 1.0 }, Weighted { cell: base, weight: -1.0 }]
}

/// A weighted sum of logarithms, estimated.
#[derive(Debug, Clone)]
pub(super) struct Effect {
    difference: MeanDifference,
    /// By how much it may be off because values were read in steps.
    resolution: f64,
    /// The values behind it.
    pub(super) basis: Basis,
}

/// The values behind an effect.
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
        /// Per cell of the contrast.
        cells: Vec<CellIntervals>,
    },
}

/// The intervals of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellIntervals {
    /// The cell's weight in the effect.
    pub(super) weight: f64,
    /// Their number, mean and SD.
    pub(super) moments: Moments,
    /// How far they depend on one another.
    pub(super) dependence: Dependence,
}

impl CellIntervals {
    /// Those of a cell.
    ///
    /// # Errors
    /// It has fewer than two with a value.
    pub(super) fn of(
        measured: &Measured<'_>,
        metric: Metric,
        own: &Weighted,
    ) -> Result<Self, Unanswered> {
        let &Weighted { cell, weight } = own;
        let values = measured.intervals(cell, metric).unwrap_or_default();
        let moments = Moments::from(&values);
        if values.len() < 2 || moments.mean <= 0.0 {
            return Err(Unanswered::FewIntervals(measured.loaded(cell)));
        }
        Ok(Self { weight, moments, dependence: dependence(&values) })
    }
}

impl Effect {
    /// The effect on the metric that this contrast means.
    ///
    /// # Errors
    /// Why the data do not determine it.
    pub(super) fn of(
        measured: &Measured<'_>,
        metric: Metric,
        contrast: &Contrast,
    ) -> Result<Self, Unanswered> {
        match measured.unit(metric) {
            Unit::Trial => Self::of_blocks(measured, metric, contrast),
            Unit::Interval => Self::of_intervals(measured, metric, contrast),
        }
    }

    fn of_blocks(
        measured: &Measured<'_>,
        metric: Metric,
        contrast: &Contrast,
    ) -> Result<Self, Unanswered> {
        let values = block_values(measured, metric, contrast);
        let resolution = |own: &Weighted| own.weight.abs() * measured.resolution(own.cell, metric);
        let resolutions = contrast.iter().map(resolution);
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
    ) -> Result<Self, Unanswered> {
        let cells: Result<Vec<CellIntervals>, Unanswered> =
            contrast.iter().map(|own| CellIntervals::of(measured, metric, own)).collect();
        Ok(Self::of_cells(cells?, |own| own.moments.n as f64))
    }

    /// The same effect with the number of observations that are worth as much as independent ones;
    /// `None` where it rests on blocks.
    pub(super) fn with_effective_n(&self) -> Option<Self> {
        match &self.basis {
            Basis::Blocks { .. } => None,
            Basis::Intervals { cells } => Some(Self::of_cells(cells.clone(), |own| {
                // Two values are the least that have a spread.
                own.dependence.effective_n.max(2.0)
            })),
        }
    }

    /// From the intervals of cells, and the number of observations that those of a cell count for.
    pub(super) fn of_cells(
        cells: Vec<CellIntervals>,
        count: impl Fn(&CellIntervals) -> f64,
    ) -> Self {
        let (mut estimate, mut variance, mut denominator) = (0.0, 0.0, 0.0);
        for cell in &cells {
            let CellIntervals { weight, moments, .. } = cell;
            let n = count(cell);
            estimate += weight * moments.mean.ln();
            let own = (weight * moments.sd / moments.mean).powi(2) / n;
            variance += own;
            denominator += own * own / (n - 1.0);
        }
        let df = if denominator > 0.0 { variance * variance / denominator } else { 1.0 };
        let difference = MeanDifference { estimate, standard_error: variance.sqrt(), df };
        // Metrics of intervals are means of many values, so that their steps do not matter.
        Self { difference, resolution: 0.0, basis: Basis::Intervals { cells } }
    }

    /// The estimate: a sum of logarithms.
    pub(super) fn estimate(&self) -> f64 {
        self.difference.estimate
    }

    /// The observations that it rests on.
    pub(super) fn observations(&self) -> Observations {
        match &self.basis {
            Basis::Blocks { values, .. } => Observations::Blocks(values.len()),
            Basis::Intervals { cells } => {
                Observations::Intervals(cells.iter().map(|own| own.moments.n).sum())
            }
        }
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

    /// P-value against "it is above `bound`", allowing for the steps in which values were read.
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
        contrast.iter().map(|own| (measured.values(own.cell, metric), own.weight)).collect();
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
fn no_blocks(measured: &Measured<'_>, metric: Metric, contrast: &Contrast) -> Unanswered {
    for &Weighted { cell, .. } in contrast {
        if measured.trials(cell).is_empty() {
            return Unanswered::NoTrial(measured.loaded(cell));
        }
        if measured.values(cell, metric).is_empty() {
            return Unanswered::NoValue { cell: measured.loaded(cell), metric };
        }
    }
    Unanswered::FewBlocks { blocks: block_values(measured, metric, contrast).len() }
}

/// From logarithms to ratios or values.
pub(super) fn exponential(interval: &Interval) -> Interval {
    Interval { low: interval.low.exp(), high: interval.high.exp(), level: interval.level }
}
