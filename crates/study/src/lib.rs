//! What to compare: workload profiles, and the plan of trials in order.
//!
//! Everything here follows from its input and a seed: no clock, no file, no statistics. The same
//! plan and seed give the same trials in the same order on every machine.

mod as_study;
mod file;
mod listing;
mod plan;
mod profile;
pub mod question;
mod reach;
mod step;
mod study_plan;

pub use file::{
    DEFAULT_SEED, StudyError, StudyErrors, key_lists, parse_study, study_schema, workloads_text,
};
pub use listing::{Estimate, plan_text, vms_of_host};
pub use plan::{
    ComparisonPlan, EqualLoad, Metric, PlanError, Timing, block_order, content_seed, fill_order,
    fill_seed, trial_seed, trial_start,
};
pub use profile::{
    Profile, ProfileSet, StudyProfile, UnknownProfile, profile, profile_sets, profiles,
    study_profile, study_profile_names, study_profiles,
};
pub use reach::{Reach, ReachError};
pub use step::{Step, StepAction};
pub use stormeter_fault::{FaultKind, FaultSpec, ScheduledFault};
pub use study_plan::{
    Blocks, Cell, Design, NamedDatastore, Order, Prepare, Reset, StudyHost, StudyPlan,
    StudyWorkload, Unit, WorkloadKind,
};
