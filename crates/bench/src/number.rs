//! Numbers among the arguments.

use crate::failure::Failure;

/// A whole number.
pub(crate) fn number(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| format!("{text} is not a whole number"))
}
