//! Runs a study on a site that may not exist: the same plan, workloads and loops as on real storage, in virtual time,
//! with a results file of the usual form.
//!
//! In a prediction a site executes the trials of a study ([`SiteExecutor`]); blocks, order, the decision to stop and
//! the results file are the runner's. The conclusion comes from the function that concludes a measured study. What
//! only a model knows (which component was busy, and the gain from speeding it up) is stored with each trial. Cells
//! are independent machines, so each runs on a thread of its own.

mod alternative;
mod assumed;
pub mod calibrate;
mod cells;
mod check;
mod elasticity;
mod error;
mod expand;
mod faster;
pub mod measured_site;
mod model_error;
mod parallel;
mod place;
mod promise;
mod request;
mod rerun;
mod shorten;
mod site_executor;
mod steps;
mod study;
mod trial;
mod usage;

pub use alternative::SiteAlternative;
pub use cells::predict_cells;
pub use error::{NoMachine, PredictError};
pub use expand::{Prepared, prepare};
pub use faster::faster;
pub use model_error::{model_error, storage_kind};
pub use place::{datastore_names, site_datastore};
pub use request::{PredictRequest, SitePlace};
pub use shorten::shortened;
pub use site_executor::SiteExecutor;
pub use steps::{RefusalReason, RefusedFault};
pub use study::predict_study;
