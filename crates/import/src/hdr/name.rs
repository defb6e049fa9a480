//! The name of the format, which all of its files state in errors.

/// What this format is called.
pub(crate) const NAME: &str = "HdrHistogram";
