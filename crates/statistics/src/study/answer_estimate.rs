//! The estimate that answers a question.

use serde::{Deserialize, Serialize};

use crate::estimate::Interval;

/// The estimate that answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AnswerEstimate {
    /// The estimate: a ratio, or a value in [`super::answered::Answer::unit`].
    pub value: f64,
    /// Its interval, at the level of `level`; `None` for a model that repeats itself.
    pub interval: Option<Interval>,
    /// The interval's level.
    pub level: f64,
}
