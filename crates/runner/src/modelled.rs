//! What a trial on a model has that none on real storage can have.

use stormeter_trial::{ComponentUse, Ended, Sample, TrialFailure};

/// What only a model knows of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Modelled {
    /// Virtual time that passed, ramp and drain included.
    pub elapsed_ns: u64,
    /// What its components did.
    pub components: Vec<ComponentUse>,
    /// What bytes are gone that faults took, one sentence each.
    pub losses: Vec<String>,
}

impl Modelled {
    /// Why the trial is none: its bytes are gone, and requests failed for it or it came to no end.
    pub(crate) fn failure(&self, sample: &Sample) -> Option<TrialFailure> {
        let first = sample.io_failures.first().cloned();
        let is_lost =
            !self.losses.is_empty() && (first.is_some() || sample.ended != Ended::Completed);
        let (ended, losses) = (sample.ended.clone(), self.losses.clone());
        is_lost.then_some(TrialFailure::BytesLost { ended, first, losses })
    }
}
