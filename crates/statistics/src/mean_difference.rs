//! A difference of means, on which tests of equivalence and of non-inferiority rest.

use serde::{Deserialize, Serialize};

/// A difference of means with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanDifference {
    /// First less second, in the unit of the samples; for a ratio, its logarithm.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
}
