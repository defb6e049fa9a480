//! The answer to a question in a word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The data show it.
    Yes,
    /// The data show the contrary.
    No,
    /// The data show neither.
    Inconclusive,
    /// It could not be asked of these data, or the data are invalid.
    NotAnswered,
}
