//! A site made from short measurements of storage that exists: what to measure, the description that these cells can
//! determine, and the file with what is measured, assumed and unknown.
//!
//! Nothing here measures: a caller carries the plan out as any study and passes the trials in. The fit is
//! [`crate::calibrate`]'s.

mod caveat;
mod cell_fit;
mod draft;
mod error;
mod file_text;
mod form;
mod parameter;
mod plan;
mod starts;
mod store;
mod summary;

pub use caveat::Caveat;
pub use cell_fit::{FittedStore, Model, Sequential, fit_store};
pub use draft::Host;
pub use error::MeasuredSiteError;
pub use file_text::site_file;
pub use form::Form;
pub use plan::{SiteMeasurement, site_plan};
pub use store::{Reached, Store};
pub use summary::{SiteReport, summary};
