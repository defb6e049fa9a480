//! What a trial on a model has in addition to one on real storage.

use stormeter_trial::{ComponentUse, Ended, Loss, Sample, TrialFailure};

/// What only a model knows of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Modelled {
    /// Virtual time that passed, ramp and drain included.
    pub elapsed_ns: u64,
    /// The load on its components.
    pub components: Vec<ComponentUse>,
    /// The bytes lost to faults.
    pub losses: Vec<Loss>,
}

impl Modelled {
    /// Why the trial failed, if bytes were lost and requests failed because of it, or it did not finish.
    pub(crate) fn failure(&self, sample: &Sample) -> Option<TrialFailure> {
        let first = sample.io_failures.first().cloned();
        let is_lost =
            !self.losses.is_empty() && (first.is_some() || sample.ended != Ended::Completed);
        let (ended, losses) = (sample.ended.clone(), self.losses.clone());
        is_lost.then_some(TrialFailure::BytesLost { ended, first, losses })
    }
}
