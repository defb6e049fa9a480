//! An answer that rests on an unknown value of the site.

use serde::{Deserialize, Serialize};
use stormeter_results::OtherValue;
use stormeter_statistics::Answer;

/// An answer that would be another one with another plausible value of what is assumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssumedAnswer {
    /// Index of the question.
    pub question: usize,
    /// The value and the other one.
    pub of: OtherValue,
    /// The answer with the other one, without intervals.
    pub answer: Answer,
}
