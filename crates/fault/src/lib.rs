//! What can be done to a rack while it is measured: `link-down nas`, `disk-fail nas.data 2`.
//!
//! Study files have these words as steps of a trial, and `stormeter lab do` has them by hand. They are
//! read here, below both, so that each means the same everywhere. Nothing here does anything.

mod kind;
mod spec;

pub use kind::{FaultKind, forms};
pub use spec::{FaultSpec, FaultSpecError};
