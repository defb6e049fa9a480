//! A lab as the rack control of a study: its faults are the steps of trials, its snapshot is their starting state.

use std::path::Path;

use stormeter_lab::{Faults, Snapshots};
use stormeter_runner::{RackControl, RackControlError};
use stormeter_study::{FaultSpec, Reset, StepAction, StudyPlan};

use crate::exit::Failure;

/// The lab that carries out the steps of a study.
pub(crate) struct LabRackControl {
    faults: Faults,
    snapshots: Snapshots,
}

impl RackControl for LabRackControl {
    fn check(&mut self, fault: &FaultSpec) -> Result<(), RackControlError> {
        Ok(self.faults.check(fault)?)
    }

    fn apply(&mut self, fault: &FaultSpec) -> Result<(), RackControlError> {
        Ok(self.faults.apply(fault)?)
    }

    fn restore(&mut self) -> Result<(), RackControlError> {
        Ok(self.faults.restore()?)
    }

    fn check_snapshot(&mut self) -> Result<(), RackControlError> {
        Ok(self.snapshots.check()?)
    }

    fn snapshot(&mut self) -> Result<(), RackControlError> {
        Ok(self.snapshots.take()?)
    }

    fn roll_back(&mut self) -> Result<(), RackControlError> {
        Ok(self.snapshots.roll_back()?)
    }
}

/// The lab in `directory`, if the study has steps other than commands or needs a snapshot; otherwise `None`.
pub(crate) fn rack_control(
    plan: &StudyPlan,
    directory: &Path,
) -> Result<Option<LabRackControl>, Failure> {
    let has_faults = plan.steps.iter().any(|step| matches!(step.what, StepAction::Fault(_)));
    if !has_faults && plan.design.reset != Reset::Snapshot {
        return Ok(None);
    }
    let (faults, snapshots) = (Faults::open(directory)?, Snapshots::open(directory)?);
    Ok(Some(LabRackControl { faults, snapshots }))
}
