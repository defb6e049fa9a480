//! Predicts a study, by passing a site as the executor to the runner.

use std::sync::atomic::AtomicBool;

use stormeter_results::{Prediction, ResultsFile};
use stormeter_runner::{Progress, Request, run_prediction};

use crate::check::check;
use crate::error::PredictError;
use crate::request::PredictRequest;
use crate::site_executor::SiteExecutor;
use crate::steps::Disturbances;

/// Predicts a study: every cell of every block, in the plan's order and with the plan's seeds. Returns the finished
/// results file, which has the usual form and is concluded like that of a measured study.
///
/// The same request yields the same trials, whatever the number of threads. `cancel` ends it at the next opportunity;
/// finished trials are kept.
///
/// # Errors
/// The site cannot carry the load of a cell, or the results file cannot be written. A trial that fails is not an
/// error: the study continues.
pub fn predict_study(
    request: &PredictRequest,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<ResultsFile, PredictError> {
    check(request, cancel)?;
    let faults = request.faults.iter().map(ToString::to_string).collect();
    let model_errors = request.model_errors();
    let prediction = Prediction { faults, model_errors, ..request.prediction.clone() };
    let of = (prediction, request.environment.clone());
    let mut sites = SiteExecutor::new(request);
    Ok(run_prediction(&request.study(), of, &mut sites, cancel, progress)?)
}

impl PredictRequest {
    /// The disturbances of every trial.
    pub(crate) fn disturbances(&self) -> Disturbances<'_> {
        Disturbances { steps: &self.plan.steps, faults: &self.faults }
    }

    /// The same as a request to the runner.
    pub fn study(&self) -> Request {
        Request {
            command_line: self.command_line.clone(),
            version: self.version.clone(),
            ..Request::new(self.plan.clone(), self.output.clone())
        }
    }
}
