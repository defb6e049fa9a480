//! What can be done to storage while it is measured or predicted: `link-down nas`, `disk-fail nas.data 2`.
//!
//! Study files have these words as steps of a trial, `stormeter lab do` has them by hand, and predictions have
//! them of a site. They are read here, below all of these, so that each means the same everywhere. Nothing here
//! does anything.

mod kind;
mod old;
mod scheduled;
mod spec;

pub use kind::{FaultKind, forms};
pub use scheduled::{ScheduledFault, ScheduledFaultError};
pub use spec::{FaultSpec, FaultSpecError};
