//! A lab as the operator of a study: its faults as the steps of trials.

use std::path::Path;

use stormeter_lab::Faults;
use stormeter_runner::{Operator, OperatorError};
use stormeter_study::{Action, Deed, StudyPlan};

use crate::exit::Failure;

/// The lab that takes a study's steps.
pub(crate) struct LabOperator(Faults);

impl Operator for LabOperator {
    fn check(&mut self, action: &Action) -> Result<(), OperatorError> {
        Ok(self.0.check(action)?)
    }

    fn apply(&mut self, action: &Action) -> Result<(), OperatorError> {
        Ok(self.0.apply(action)?)
    }

    fn restore(&mut self) -> Result<(), OperatorError> {
        Ok(self.0.restore()?)
    }
}

/// The lab in `directory`, where the study has steps that are no commands; `None` where it has none.
pub(crate) fn operator(plan: &StudyPlan, directory: &Path) -> Result<Option<LabOperator>, Failure> {
    if !plan.steps.iter().any(|step| matches!(step.what, Deed::Action(_))) {
        return Ok(None);
    }
    Ok(Some(LabOperator(Faults::open(directory)?)))
}
