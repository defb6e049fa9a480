//! Profiles and sets of them as values.

use stormeter_trial::Workload;

use crate::study_plan::StudyWorkload;

/// A named load and its source: what `compare` drives.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The workload; its name is the profile's.
    pub workload: Workload,
    /// A one-line description.
    pub summary: &'static str,
    /// The source of its figures.
    pub source: &'static str,
}

/// A named workload of any kind: what a study can refer to.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyProfile {
    /// The workload; its name is the profile's.
    pub workload: StudyWorkload,
    /// A one-line description.
    pub summary: String,
    /// The source of its figures, and which of them are ours.
    pub source: &'static str,
}

/// Profiles that can be referred to together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSet {
    /// Its name.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// The names of its profiles, in order.
    pub members: Vec<String>,
}
