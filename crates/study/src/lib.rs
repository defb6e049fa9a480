//! What is to be compared: workload profiles, and the plan of trials in their order.
//!
//! Everything here follows from its input and a seed: no clock, no file, no statistics. The same
//! plan and seed give the same trials in the same order on every machine.

mod plan;
mod profile;
pub mod question;
mod study_plan;

pub use plan::{ComparisonPlan, EqualLoad, Metric, PlanError, Timing, block_order, trial_seed};
pub use profile::{Profile, UnknownProfile, profile, profiles};
pub use study_plan::{
    Blocks, Cell, Design, NamedDatastore, Order, Prepare, Reset, StudyPlan, StudyWorkload, Unit,
    WorkloadKind,
};
