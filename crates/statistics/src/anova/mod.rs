//! Analysis of variance: what share of the differences between trials follows the factors of a
//! design, and what share is noise.
//!
//! Data are first reduced to cells (one for each combination of levels that occurs): their size,
//! mean and spread are all that the analysis needs, so samples and published summaries take the
//! same way, balanced or not, with any number of factors ([`CellTable`]). A [`LinearModel`] of
//! chosen terms gives the sums of squares of each; [`simple_effects`] and [`pairwise_differences`]
//! look into an interaction; [`MixedDesign`] has subjects measured again and again;
//! [`equal_spread`] and [`residual_checks`] show whether the analysis may be trusted.
//!
//! Sources: H. Scheffé, *The Analysis of Variance* (1959), chapters 3 and 4; the types of sums of
//! squares, F. Yates, *JASA* 29 (1934) 51-66, and Langsrud, *Statistics and Computing* 13 (2003)
//! 163-167.

mod cells;
mod dense;
mod linear_model;
mod mixed;
mod residuals;
mod simple;
mod spread;
mod sums_of_squares;
mod table;

pub use cells::{CellTable, Factor, Observation};
pub use linear_model::{LinearModel, Term};
pub use mixed::{MixedAnova, MixedDesign, Subject};
pub use residuals::{CONCERN, ResidualCheck, ResidualStatistic, residual_checks};
pub use simple::{PairwiseDifference, SimpleEffect, pairwise_differences, simple_effects};
pub use spread::{Centre, equal_spread};
pub use sums_of_squares::SumsOfSquares;
pub use table::{AnovaRow, AnovaTable, ErrorRow};

use std::borrow::Cow;

use crate::moments::SampleError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why an analysis of variance cannot be carried out.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
pub enum AnovaError {
    /// A factor that does not vary.
    #[error("factor {factor} has {levels} level(s); an effect needs at least 2")]
    TooFewLevels {
        /// Its name.
        factor: String,
        /// How many levels it has.
        levels: usize,
    },
    /// No observation at a level.
    #[error("factor {factor} has no observation at level {level}: measure it or leave it out")]
    EmptyLevel {
        /// The factor's name.
        factor: String,
        /// The level's name.
        level: String,
    },
    /// An observation or cell that does not fit the factors.
    #[error("{what} does not name one existing level for each of the {factors} factor(s)")]
    BadLevels {
        /// Which observation or cell, counted from 1.
        what: String,
        /// How many factors there are.
        factors: usize,
    },
    /// The same cell twice.
    #[error("the cell {0} is given twice: pool its summaries first")]
    RepeatedCell(String),
    /// A cell without data where a test needs it.
    #[error(
        "the cell {0} has no observation, so the interaction cannot be separated from the main \
         effects: measure it, or ask for an additive model"
    )]
    EmptyCell(String),
    /// Two terms that the data cannot separate.
    #[error(
        "the data cannot separate {0} from the other terms (cells without data, or levels that \
         always come together): leave a term out or measure more cells"
    )]
    NotEstimable(String),
    /// A term that names a factor that is not there, or none.
    #[error("a term names factor number {0}, and there are {1}")]
    NoSuchFactor(usize, usize),
    /// No term, or the same twice.
    #[error("a model needs at least one term and each only once")]
    BadTerms,
    /// As many parameters as observations.
    #[error(
        "{observations} observations and {parameters} parameters leave nothing to estimate the \
         noise from: repeat the trials, or ask for an additive model"
    )]
    NoResidual {
        /// Observations.
        observations: usize,
        /// Parameters of the model, the mean among them.
        parameters: usize,
    },
    /// What was asked for needs another number of factors.
    #[error("{what} needs {needed}, and the data have {found} factor(s)")]
    WrongFactors {
        /// The analysis.
        what: Cow<'static, str>,
        /// What it needs.
        needed: Cow<'static, str>,
        /// What there is.
        found: usize,
    },
    /// A subject whose values do not fit.
    #[error(
        "{subject} has {found} value(s) and the others have {expected}: every subject needs one value at each level"
    )]
    Incomplete {
        /// Which subject, counted from 1.
        subject: String,
        /// How many values it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A sample that cannot be used.
    #[error(transparent)]
    Sample(#[from] SampleError),
}

impl AnovaError {
    /// Another number of factors than an analysis needs.
    fn wrong_factors(what: &'static str, needed: &'static str, found: usize) -> Self {
        Self::WrongFactors { what: what.into(), needed: needed.into(), found }
    }
}
