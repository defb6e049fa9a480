//! What to compare: workload profiles, and the plan of trials in order.
//!
//! Everything here follows from its input and a seed: no clock, no file, no statistics. The same
//! plan and seed give the same trials in the same order on every machine.
//!
//! A study file, and the trials that follow from it:
//!
//! ```
//! use stormeter_study::parse_study;
//!
//! let plan = parse_study(
//!     "
//! study: May these VMs move to NFS?
//! datastores: {local: /srv/vm, nfs: \"nfs://nas1/export/vm\"}
//! baseline: local
//! workloads: [vm-4k]
//! load: {vms: [1, 4], outstanding: 4}
//! disk: {size: 1GiB}
//! measure: {ramp: 5s, duration: 20s}
//! design: {blocks: 6, margin: 10%}
//! questions: [nfs must be at most 50% slower than local in iops]
//! ",
//! )?;
//!
//! // Two datastores at two loads; in each block each of the four once, in an order of its own.
//! assert_eq!(plan.cells().len(), 4);
//! let mut block = plan.trials_of_block(0);
//! block.sort();
//! assert_eq!(block, [0, 1, 2, 3]);
//!
//! // Mistakes have their place and an advice.
//! let errors = parse_study("study: Which?\ndatastors: {a: /srv/vm}").unwrap_err();
//! assert!(errors.to_string().contains("datastores"), "{errors}");
//! # Ok::<(), stormeter_study::StudyErrors>(())
//! ```

mod as_study;
mod asked;
mod dealing;
mod demanded;
mod file;
mod lacking;
mod listing;
mod plan;
mod plan_error;
mod profile;
pub mod question;
mod reach;
mod server_url;
mod step;
mod study_plan;
mod users;

pub use dealing::vms_of_host;
pub use file::{
    DEFAULT_SEED, StudyError, StudyErrors, StudyFile, StudyNote, key_lists, parse_study,
    parse_study_file, study_schema, workloads_text,
};
pub use listing::{Estimate, plan_text};
pub use plan::{
    ComparisonPlan, EqualLoad, Metric, Timing, block_order, content_seed, fill_order, fill_seed,
    trial_seed, trial_start,
};
pub use plan_error::PlanError;
pub use profile::{
    Profile, ProfileSet, StudyProfile, UnknownProfile, profile, profile_sets, profiles,
    study_profile, study_profile_names, study_profiles,
};
pub use reach::{Reach, ReachError};
pub use step::{Step, StepAction};
pub use stormeter_fault::{FaultKind, FaultSpec, ScheduledFault};
pub use study_plan::{
    Blocks, Cell, Design, NamedDatastore, Order, Prepare, Reset, StudyDisks, StudyHost, StudyPlan,
    StudyWorkload, Unit, WorkloadKind,
};
