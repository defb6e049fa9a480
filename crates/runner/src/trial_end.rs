//! The outcome of a trial, however it was run: the sample, CPU usage, and what a reader should know about it.

use serde::{Deserialize, Serialize};
use stormeter_results::{HostShare, Incident};
use stormeter_trial::{
    ComponentUse, CpuUsage, GuestActivity, MonitorRow, Sample, TrialFailure, TrialNote,
};

use crate::modelled::Modelled;

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialEnd {
    /// The sample of all threads together.
    pub sample: Sample,
    /// CPU usage.
    pub cpu: CpuUsage,
    /// The difference between the driver's clock and the system's, as a share of the trial's length.
    pub clock_deviation: f64,
    /// What a reader should know about it.
    pub notes: Vec<TrialNote>,
    /// Problems that were overcome.
    pub incidents: Vec<Incident>,
    /// Host activity, from just before the ramp.
    pub monitor: Vec<MonitorRow>,
    /// For a trial on several hosts: the share of each.
    #[serde(default)]
    pub hosts: Vec<HostShare>,
    /// What the guests of a rack did. The controller of the study watches them: agents know nothing of it.
    #[serde(skip)]
    pub guests: Vec<GuestActivity>,
    /// For a trial on a model: what only a model can know.
    #[serde(skip)]
    pub modelled: Option<Modelled>,
}

impl TrialEnd {
    /// Why this is not a measurement, if it is not one.
    pub fn failure(&self) -> Option<TrialFailure> {
        /// Crystals are far more accurate than this; a larger difference means that one of the clocks jumped.
        const CLOCKS_DISAGREE: f64 = 0.01;
        let clocks = || {
            let share = self.clock_deviation;
            (share > CLOCKS_DISAGREE).then_some(TrialFailure::ClocksDisagree { share })
        };
        let step = || {
            self.sample.disturbances.iter().find_map(|step| {
                let said = step.failure.clone()?;
                Some(TrialFailure::Step { step: step.what.clone(), said })
            })
        };
        let lost = self.modelled.as_ref().and_then(|it| it.failure(&self.sample));
        lost.or_else(|| TrialFailure::of_ended(&self.sample)).or_else(clocks).or_else(step)
    }

    /// Virtual time that passed; none on real storage.
    pub(crate) fn virtual_ns(&self) -> u64 {
        self.modelled.as_ref().map_or(0, |it| it.elapsed_ns)
    }

    /// Takes the load on the components of the model.
    pub(crate) fn take_components(&mut self) -> Vec<ComponentUse> {
        self.modelled.as_mut().map(|it| std::mem::take(&mut it.components)).unwrap_or_default()
    }
}
