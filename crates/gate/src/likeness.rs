//! In what two runs, or two cells, differ.

use schemars::JsonSchema;
use serde::Serialize;

use crate::run::Aspect;

/// Something in which runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// In what.
    pub aspect: Aspect,
    /// What the earlier run has and the new one has not.
    pub earlier: String,
    /// The reverse.
    pub new: String,
}

/// The aspects that both state, differently.
pub(crate) fn differences(
    earlier: &[(Aspect, Vec<String>)],
    new: &[(Aspect, Vec<String>)],
) -> Vec<Difference> {
    let both = earlier.iter().filter_map(|(aspect, was)| {
        let (_, is) = new.iter().find(|(other, _)| other == aspect)?;
        (was != is).then(|| Difference {
            aspect: *aspect,
            earlier: only_in(was, is),
            new: only_in(is, was),
        })
    });
    both.collect()
}

/// The parts that the other does not have.
fn only_in(parts: &[String], other: &[String]) -> String {
    let only: Vec<&str> =
        parts.iter().filter(|part| !other.contains(part)).map(String::as_str).collect();
    if only.is_empty() { "not stated".to_owned() } else { only.join(", ") }
}
