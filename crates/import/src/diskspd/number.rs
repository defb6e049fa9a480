//! What all parts of the file need: the format's name, and its numbers.

use crate::place::quoted;

/// What this format is called.
pub(crate) const NAME: &str = "DiskSpd XML";

/// A number that is a whole one.
pub(super) fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{} is not a whole number", quoted(text)))
}
