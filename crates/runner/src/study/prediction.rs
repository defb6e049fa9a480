//! A study that is carried out on a model of storage, in virtual time: what it has that a measured one has not.
//!
//! Blocks, order, the decision to stop and the records are those of every study. A model's disks hold nothing, so none
//! are written or brought back; nothing lies before it that could have a ceiling; its trials share nothing, so those
//! that are due are carried out together. And it can be made again at any time: an earlier prediction is replaced and
//! not gone on with.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_results::{Environment, FinishReason, Phase, Prediction, ResultsError, ResultsFile};

use crate::error::RunError;
use crate::executor::{Executor, TrialOrder};
use crate::progress::Progress;
use crate::study::clock::Began;
use crate::study::request::Request;
use crate::study::run::{By, Start, StudyRun, carry_out};
use crate::study::turn::Turn;

/// Carries out a study on a model that `executor` has; gives the results file, which is finished. `prediction` says in
/// it of what, and `environment` on which machine it was computed. `cancel` ends it at the next opportunity, keeping
/// what is finished.
///
/// # Errors
/// The results file is that of a measurement or cannot be written, or an equal load cannot be found. A trial that fails
/// is no error.
pub fn run_prediction(
    request: &Request,
    (prediction, environment): (Prediction, Environment),
    executor: &mut dyn Executor,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<ResultsFile, RunError> {
    let by = By { executor, rack_control: None, null_servers: None };
    let start = Start::Prediction(Box::new(prediction));
    let run = StudyRun::open(request, start, by, (environment, cancel), progress)?;
    carry_out(run, progress)
}

impl StudyRun<'_> {
    /// Carries out trials that need nothing of one another; each is stored in its turn.
    pub(crate) fn together(
        &mut self,
        turns: &[Turn],
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let orders: Vec<TrialOrder> = turns.iter().map(|turn| self.order(turn)).collect();
        let began = Began::now();
        let book = &mut self.book;
        self.executor.trials(&orders, self.cancel, progress, &mut |number, end, progress| {
            book.ended(turns[number], began, end, progress)
        })
    }

    /// What more of each part would bring the cells, by their trials of the first block; gives the reason for the end,
    /// which may have become another one.
    pub(crate) fn elasticities(
        &mut self,
        reason: FinishReason,
        progress: &mut dyn Progress,
    ) -> Result<FinishReason, RunError> {
        if !self.book.is_predicted || reason == FinishReason::Interrupted {
            return Ok(reason);
        }
        let cells = 0..self.book.cells.len();
        let orders: Vec<TrialOrder> =
            cells.map(|cell| self.order(&Turn::before(Phase::Main, 0, cell))).collect();
        let all = self.executor.elasticities(&orders, self.cancel, progress);
        self.book.file.replace_elasticities(&all)?;
        Ok(if self.is_cancelled() { FinishReason::Interrupted } else { reason })
    }
}

/// Begins a results file as `begin` does, in place of an earlier prediction's. What was measured is not replaced.
pub(crate) fn begin_anew(
    path: &Path,
    begin: &dyn Fn() -> Result<ResultsFile, RunError>,
) -> Result<ResultsFile, RunError> {
    match begin() {
        Err(RunError::Results(ResultsError::Exists { .. })) => {
            remove_prediction(path)?;
            begin()
        }
        begun => begun,
    }
}

fn remove_prediction(path: &Path) -> Result<(), RunError> {
    let earlier = ResultsFile::open(path)?;
    let is_prediction = earlier.header().is_ok_and(|header| header.prediction.is_some());
    if !is_prediction {
        return Err(RunError::Measured { path: path.display().to_string() });
    }
    drop(earlier);
    std::fs::remove_file(path)
        .map_err(|source| RunError::Replace { path: path.display().to_string(), source })
}
