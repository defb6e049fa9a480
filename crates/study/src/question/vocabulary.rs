//! The names and levels of a study that a question may refer to.

use super::claim::Factor;
use crate::plan::Metric;
use crate::study_plan::StudyPlan;

/// What a question may refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Names of the datastores.
    pub datastores: Vec<String>,
    /// Names of the workloads.
    pub workloads: Vec<String>,
    /// Levels of `vms`.
    pub vms: Vec<u32>,
    /// Levels of `outstanding`; empty if each workload has its own.
    pub outstanding: Vec<u32>,
    /// The metric of a comparison that names none; `None`: unknown, so claims that are only
    /// impossible for a particular metric are accepted.
    pub metric: Option<Metric>,
}

impl Vocabulary {
    /// The vocabulary of a study.
    pub fn of(plan: &StudyPlan) -> Self {
        Self {
            datastores: plan.datastores.iter().map(|datastore| datastore.name.clone()).collect(),
            workloads: plan.workloads.iter().map(|workload| workload.name.clone()).collect(),
            vms: plan.vms.clone(),
            outstanding: plan.outstanding.clone(),
            metric: Some(plan.design.metric),
        }
    }

    /// Number of levels of a factor in the study.
    pub(super) fn levels(&self, factor: Factor) -> usize {
        match factor {
            Factor::Datastore => self.datastores.len(),
            Factor::Workload => self.workloads.len(),
            Factor::Vms => self.vms.len(),
            Factor::Outstanding => self.outstanding.len(),
        }
    }
}

/// The name to which a word refers: the same letter by letter, or the only one that differs in case
/// alone.
pub(super) fn find<'a>(names: &'a [String], word: &str) -> Option<&'a String> {
    if let Some(same) = names.iter().find(|name| *name == word) {
        return Some(same);
    }
    let word = word.to_lowercase();
    let mut alike = names.iter().filter(|name| name.to_lowercase() == word);
    alike.next().filter(|_| alike.next().is_none())
}
