//! The names and levels of a study: what a question about it may speak of.

use super::claim::Factor;
use crate::plan::Metric;
use crate::study_plan::StudyPlan;

/// What a question may name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Names of the datastores.
    pub datastores: Vec<String>,
    /// Names of the workloads.
    pub workloads: Vec<String>,
    /// Levels of `vms`.
    pub vms: Vec<u32>,
    /// Levels of `outstanding`; empty where each workload has its own.
    pub outstanding: Vec<u32>,
    /// What a comparison is about that names no metric; `None`: not known, so what only the metric
    /// makes impossible passes.
    pub metric: Option<Metric>,
}

impl Vocabulary {
    /// That of a study.
    pub fn of(plan: &StudyPlan) -> Self {
        Self {
            datastores: plan.datastores.iter().map(|datastore| datastore.name.clone()).collect(),
            workloads: plan.workloads.iter().map(|workload| workload.name.clone()).collect(),
            vms: plan.vms.clone(),
            outstanding: plan.outstanding.clone(),
            metric: Some(plan.design.metric),
        }
    }

    /// How many levels a factor has in the study.
    pub(super) fn levels(&self, factor: Factor) -> usize {
        match factor {
            Factor::Datastore => self.datastores.len(),
            Factor::Workload => self.workloads.len(),
            Factor::Vms => self.vms.len(),
            Factor::Outstanding => self.outstanding.len(),
        }
    }
}

/// The name that a word means: the same letter by letter, or the only one that differs in case
/// alone.
pub(super) fn find<'a>(names: &'a [String], word: &str) -> Option<&'a String> {
    if let Some(same) = names.iter().find(|name| *name == word) {
        return Some(same);
    }
    let word = word.to_lowercase();
    let mut alike = names.iter().filter(|name| name.to_lowercase() == word);
    alike.next().filter(|_| alike.next().is_none())
}
