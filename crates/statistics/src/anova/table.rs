//! The table of an analysis of variance.

use serde::{Deserialize, Serialize};

/// Rows of terms, and what is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnovaTable {
    /// One row a term, in the order of the model; error rows of mixed designs are rows without F.
    pub rows: Vec<AnovaRow>,
}

/// One term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnovaRow {
    /// Its name, such as `datastore × workload` or `residual`.
    pub term: String,
    /// Sum of squares, in the squared unit of the observations.
    pub sum_of_squares: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Sum of squares / degrees of freedom.
    pub mean_square: f64,
    /// Against the error of its stratum; `None` for an error.
    pub f: Option<f64>,
    /// P(F or more), were there no effect.
    pub p: Option<f64>,
    /// SS / (SS + SS of the error): the share of what is left that the term explains.
    pub partial_eta_squared: Option<f64>,
}
