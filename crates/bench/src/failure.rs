//! What went wrong in a benchmark.

/// An error message: nothing in a benchmark handles errors by kind.
pub(crate) type Failure = String;
