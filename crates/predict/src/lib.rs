//! Carries out a study on a site that may not exist: the same plan, the same workloads, the same loops
//! as on real storage, in virtual time, into a results file of the ordinary form.
//!
//! A prediction is a study whose trials a site carries out ([`SiteExecutor`]): blocks, order, the decision to stop and
//! the results file are the runner's. What is concluded comes from the very function
//! that concludes a measured study; what only a model can know (which component was busy, and what more
//! of it would bring) is stored beside each trial. Cells are independent machines, so each has a thread
//! of its own; the machines know of no thread.

pub mod calibrate;
mod cells;
mod check;
mod elasticity;
mod error;
mod expand;
mod faster;
mod parallel;
mod place;
mod request;
mod shorten;
mod site_executor;
mod steps;
mod study;
mod trial;
mod usage;

pub use cells::predict_cells;
pub use error::{NoMachine, PredictError};
pub use expand::{Prepared, prepare};
pub use faster::faster;
pub use place::{datastore_names, site_datastore};
pub use request::{PredictRequest, SitePlace};
pub use shorten::shortened;
pub use site_executor::SiteExecutor;
pub use steps::{RefusedFault, WhyRefused};
pub use study::predict_study;
