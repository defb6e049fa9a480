//! A study predicted: what it is asked for, joined to the runner that carries out every study.

use std::sync::atomic::AtomicBool;

use stormeter_results::{Prediction, ResultsFile};
use stormeter_runner::{Progress, Request, run_prediction};

use crate::check::check;
use crate::error::PredictError;
use crate::request::PredictRequest;
use crate::site_executor::SiteExecutor;
use crate::steps::Disturbances;

/// Predicts a study: every cell of every block, in the plan's order and with the plan's seeds, into a
/// results file of the ordinary form, which is returned finished. What is concluded from it is for the
/// function that concludes a measured study.
///
/// The same request gives the same trials, on however many threads. `cancel` ends it at the next
/// opportunity, keeping what is finished.
///
/// # Errors
/// The site cannot bear the load of a cell, or the results file cannot be written. A trial that fails is
/// no error: the study goes on.
pub fn predict_study(
    request: &PredictRequest,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<ResultsFile, PredictError> {
    check(request, cancel)?;
    let faults = request.faults.iter().map(ToString::to_string).collect();
    let prediction = Prediction { faults, ..request.prediction.clone() };
    let of = (prediction, request.environment.clone());
    let mut sites = SiteExecutor::new(request);
    Ok(run_prediction(&request.study(), of, &mut sites, cancel, progress)?)
}

impl PredictRequest {
    /// What fails in every trial.
    pub(crate) fn disturbances(&self) -> Disturbances<'_> {
        Disturbances { steps: &self.plan.steps, faults: &self.faults }
    }

    /// The same as a study to be carried out, which needs nothing of real storage.
    pub fn study(&self) -> Request {
        Request {
            command_line: self.command_line.clone(),
            version: self.version.clone(),
            ..Request::new(self.plan.clone(), self.output.clone())
        }
    }
}
