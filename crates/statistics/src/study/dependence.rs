//! How far observations of one run depend on one another.

use serde::{Deserialize, Serialize};

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
