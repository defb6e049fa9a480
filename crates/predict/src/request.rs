//! What is to be predicted.

use std::path::PathBuf;

use stormeter_fault::ScheduledFault;
use stormeter_results::{Environment, Prediction};
use stormeter_site::Site;
use stormeter_study::StudyPlan;

/// Where a datastore of the plan is: in which of the request's sites, and which datastore there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SitePlace {
    /// Index into [`PredictRequest::sites`].
    pub site: usize,
    /// Index into that site's datastores.
    pub datastore: usize,
}

/// A study to be predicted.
#[derive(Debug, Clone)]
pub struct PredictRequest {
    /// What is compared, and how; every variant of the site is a datastore of it.
    pub plan: StudyPlan,
    /// The site and its variants.
    pub sites: Vec<Site>,
    /// By datastore of the plan: which one it is.
    pub places: Vec<SitePlace>,
    /// What fails in every trial besides the plan's steps.
    pub faults: Vec<ScheduledFault>,
    /// For the record: what it is predicted for. Its faults are filled in.
    pub prediction: Prediction,
    /// The results file. An earlier prediction there is replaced, measured results are not.
    pub output: PathBuf,
    /// Whether to find out what more of each component would bring.
    pub elasticity: bool,
    /// Threads; 0: one a CPU.
    pub threads: usize,
    /// For the record: on which machine.
    pub environment: Environment,
    /// For the record: how to repeat it.
    pub command_line: Vec<String>,
    /// For the record.
    pub version: String,
}
