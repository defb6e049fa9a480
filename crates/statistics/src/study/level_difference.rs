//! A difference between levels of a factor.

use serde::{Deserialize, Serialize};

use crate::estimate::Interval;

/// A difference between levels of a factor; with two pairs, the difference of the differences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelDifference {
    /// The levels, for each factor of the term.
    pub between: Vec<LevelPair>,
    /// The difference as a ratio.
    pub ratio: f64,
    /// Its interval; `None` for a model that repeats itself.
    pub interval: Option<Interval>,
}

/// Two levels of a factor, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelPair {
    /// The level above the line.
    pub level: String,
    /// The level that it is compared with.
    pub base: String,
}
