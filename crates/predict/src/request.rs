//! The request for a prediction.

use std::path::PathBuf;

use stormeter_fault::ScheduledFault;
use stormeter_results::{Environment, Prediction};
use stormeter_site::Site;
use stormeter_study::StudyPlan;

use crate::alternative::SiteAlternative;

/// The place of a datastore of the plan: the site, and the datastore in it.
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
    /// The plan; every variant of the site is a datastore of it.
    pub plan: StudyPlan,
    /// The site and its variants.
    pub sites: Vec<Site>,
    /// For each datastore of the plan, its place in a site.
    pub places: Vec<SitePlace>,
    /// The sites with other plausible values of what is assumed.
    pub alternatives: Vec<SiteAlternative>,
    /// Faults in every trial, in addition to the plan's steps.
    pub faults: Vec<ScheduledFault>,
    /// For the record: the site. Its faults are filled in.
    pub prediction: Prediction,
    /// The results file. An earlier prediction is replaced; measured results are not.
    pub output: PathBuf,
    /// Whether to predict the gain from speeding up each component, and what the alternatives change.
    pub sensitivity: bool,
    /// Threads; 0: one per CPU.
    pub threads: usize,
    /// For the record: the machine.
    pub environment: Environment,
    /// For the record: the command to repeat it.
    pub command_line: Vec<String>,
    /// For the record: the version of this program.
    pub version: String,
}
