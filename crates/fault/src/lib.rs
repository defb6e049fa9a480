//! Faults that are injected into storage while it is measured or predicted: `link-down nas`, `disk-fail nas.data 2`.
//!
//! Study files use this syntax for the steps of a trial, `stormeter lab do` on the command line, and predictions
//! for a site. It is parsed here, below all of these, so that a fault means the same everywhere. Nothing here
//! injects anything.

mod kind;
mod legacy;
mod scheduled;
mod spec;

pub use kind::{FaultKind, forms};
pub use scheduled::{ScheduledFault, ScheduledFaultError};
pub use spec::{FaultSpec, FaultSpecError};
