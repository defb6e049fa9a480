//! The table of an analysis of variance, as a report shows it.

use serde::{Deserialize, Serialize};
use stormeter_study::question::Factor;

use crate::anova::{AnovaTable, Term};

/// The table of an analysis of variance: rows of terms, and what is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerTable {
    /// The factors that it is about.
    pub factors: Vec<Factor>,
    /// One row for each term, in the order of the model, then the residual.
    pub rows: Vec<AnswerRow>,
}

/// One row of an [`AnswerTable`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRow {
    /// The term.
    pub term: RowTerm,
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

/// The term of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowTerm {
    /// A factor, or several together.
    Factors(Vec<Factor>),
    /// The block.
    Block,
    /// What is left.
    Residual,
}

impl AnswerTable {
    /// The table of an analysis of these factors, whose rows are these terms. The block is a factor behind the
    /// others.
    pub(super) fn of(factors: &[Factor], table: &AnovaTable, terms: &[Term]) -> Self {
        let name = |term: &Term| {
            let named = term.factors().iter().map(|&at| factors.get(at).copied()).collect();
            // Only the block is a factor without a name.
            Option::map_or(named, RowTerm::Block, RowTerm::Factors)
        };
        let rows = table.rows.iter().zip(terms).map(|(row, term)| AnswerRow {
            term: name(term),
            sum_of_squares: row.sum_of_squares,
            df: row.df,
            mean_square: row.mean_square,
            f: Some(row.f),
            p: Some(row.p),
            partial_eta_squared: Some(row.partial_eta_squared),
        });
        let residual = AnswerRow {
            term: RowTerm::Residual,
            sum_of_squares: table.residual.sum_of_squares,
            df: table.residual.df,
            mean_square: table.residual.mean_square,
            f: None,
            p: None,
            partial_eta_squared: None,
        };
        Self { factors: factors.to_vec(), rows: rows.chain([residual]).collect() }
    }
}
