//! The table of an analysis of variance, with effect sizes.
//!
//! Sources of the effect sizes: η² and partial η², J. Cohen, *Educational and Psychological
//! Measurement* 33 (1973) 107-112; ω², W. L. Hays, *Statistics for Psychologists* (1963).

use super::sums_of_squares::SumsOfSquares;
use crate::quantile::f_upper;
use serde::{Deserialize, Serialize};

/// One term of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnovaRow {
    /// Its name: the factors' names, joined by ` × `.
    pub term: String,
    /// Sum of squares, in the squared unit of the data.
    pub sum_of_squares: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// `sum_of_squares / df`.
    pub mean_square: f64,
    /// The F statistic: this mean square over that of the error.
    pub f: f64,
    /// P-value of "the term has no effect".
    pub p: f64,
    /// η²: its share of the total sum of squares, without unit.
    pub eta_squared: f64,
    /// Partial η²: its share of its own and the error's sum of squares, without unit.
    pub partial_eta_squared: f64,
    /// ω²: an estimate of its share of the variance in the population, without the upward bias
    /// of η²; negative when F < 1, which is to be read as 0.
    pub omega_squared: f64,
}

/// What is left over, and what tests are measured by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRow {
    /// Sum of squares, in the squared unit of the data.
    pub sum_of_squares: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// `sum_of_squares / df`: the variance of the noise.
    pub mean_square: f64,
}

impl ErrorRow {
    /// From sum of squares and degrees of freedom.
    pub(crate) fn new(sum_of_squares: f64, df: f64) -> Self {
        Self { sum_of_squares, df, mean_square: sum_of_squares / df }
    }
}

impl AnovaRow {
    /// A term tested against `error`; `total` is the corrected total sum of squares.
    pub(crate) fn new(
        term: String,
        sum_of_squares: f64,
        df: f64,
        error: &ErrorRow,
        total: f64,
    ) -> Self {
        let mean_square = sum_of_squares / df;
        let f = mean_square / error.mean_square;
        Self {
            term,
            sum_of_squares,
            df,
            mean_square,
            f,
            p: f_upper(f, df, error.df),
            eta_squared: sum_of_squares / total,
            partial_eta_squared: sum_of_squares / (sum_of_squares + error.sum_of_squares),
            omega_squared: (sum_of_squares - df * error.mean_square) / (total + error.mean_square),
        }
    }
}

/// An analysis of variance with one error term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnovaTable {
    /// How the sums of squares were divided up; in a balanced design all types agree.
    pub sums_of_squares: SumsOfSquares,
    /// Whether every cell has the same number of observations.
    pub balanced: bool,
    /// Observations in all.
    pub observations: usize,
    /// The terms, in the order of the model.
    pub rows: Vec<AnovaRow>,
    /// What the model leaves over.
    pub residual: ErrorRow,
    /// Σ (y − ȳ)² with its n − 1 degrees of freedom.
    pub total: ErrorRow,
    /// Share of the total that the model explains, without unit.
    pub r_squared: f64,
}

impl AnovaTable {
    /// The row of the term with this name.
    pub fn row(&self, term: &str) -> Option<&AnovaRow> {
        self.rows.iter().find(|row| row.term == term)
    }

    /// The SD of the noise: the root of the residual mean square, in the unit of the data.
    pub fn residual_sd(&self) -> f64 {
        self.residual.mean_square.sqrt()
    }
}
