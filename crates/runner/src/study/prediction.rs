//! A study on a model of storage, in virtual time: how it differs from a measured one.
//!
//! Blocks, order, the decision to stop and the records are those of every study. A model's disks have no content, so none
//! are written or reset; nothing in front of a model could have a ceiling; its trials share nothing, so those that are
//! due run together. And it can be repeated at any time: an earlier prediction is replaced and not resumed.

use std::sync::atomic::AtomicBool;

use stormeter_results::{Environment, FinishReason, Phase, Prediction, ResultsFile};

use crate::error::RunError;
use crate::executor::{Executor, TrialOrder};
use crate::progress::Progress;
use crate::study::clock::Began;
use crate::study::request::Request;
use crate::study::run::{By, Start, StudyRun, carry_out};
use crate::study::turn::Turn;

/// Runs a study on the model of `executor`; returns the finished results file. `prediction` describes the site, and
/// `environment` the machine that computes it. `cancel` ends it at the next opportunity; finished trials are kept.
///
/// # Errors
/// The results file is that of a measurement or cannot be written, or an equal load cannot be found. A trial that fails
/// is not an error.
pub fn run_prediction(
    request: &Request,
    (prediction, environment): (Prediction, Environment),
    executor: &mut dyn Executor,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<ResultsFile, RunError> {
    let by = By { executor, rack_control: None, null_servers: None, guests: None };
    let start = Start::Prediction(Box::new(prediction));
    let run = StudyRun::open(request, start, by, (environment, cancel), progress)?;
    carry_out(run, progress)
}

impl StudyRun<'_> {
    /// Runs independent trials; each is stored in its turn.
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

    /// Predicts what the cells' trials of the first block depend on; returns the reason for the end, which may have
    /// changed.
    pub(crate) fn sensitivity(
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
        let found = self.executor.sensitivity(&orders, self.cancel, progress);
        self.book.file.replace_elasticities(&found.elasticities)?;
        self.book.file.replace_assumed_effects(&found.assumed)?;
        Ok(if self.is_cancelled() { FinishReason::Interrupted } else { reason })
    }
}
