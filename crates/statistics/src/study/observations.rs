//! The observations that a result rests on, and how many there are.

use serde::{Deserialize, Serialize};

/// The observations that a result rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observations {
    /// Blocks.
    Blocks(usize),
    /// Intervals of trials.
    Intervals(usize),
}
