//! What a results file answers to the questions of a published study: the one place where
//! `replicate` meets results.

use std::path::Path;

use stormeter_replicate::AnswerSource;
use stormeter_results::{Phase, ResultsFile, TrialOutcome, TrialRecord};
use stormeter_statistics::{Answer, CellTrial, answer_text};
use stormeter_study::StudyPlan;

use crate::exit::Failure;

/// The results of a study, to be asked questions that need not be in its plan.
struct StudyResults {
    plan: StudyPlan,
    trials: Vec<TrialRecord>,
}

/// A results file that can be asked. That of a comparison cannot: questions speak of cells, and a
/// comparison has none.
pub(crate) fn open(path: &Path) -> Result<Box<dyn AnswerSource>, Failure> {
    let file = ResultsFile::open(path)?;
    Ok(Box::new(StudyResults { plan: file.study_header()?.plan, trials: file.trials()? }))
}

impl AnswerSource for StudyResults {
    fn answer(&self, question: &str) -> Result<Answer, String> {
        let trials: Vec<CellTrial<'_>> = self.trials.iter().filter_map(measured).collect();
        // What could be asked instead is for who writes questions; here they come with the study.
        let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
        answer_text(&self.plan, &trials, question).map_err(|error| first_line(error.to_string()))
    }
}

/// A trial of a cell that was measured to its end; failed ones have nothing to compare.
fn measured(trial: &TrialRecord) -> Option<CellTrial<'_>> {
    match (&trial.outcome, trial.cell, trial.phase) {
        (TrialOutcome::Measured { sample, cpu, .. }, Some(cell), Phase::Main) => {
            Some(CellTrial { block: trial.block, cell, sample, cpu })
        }
        _ => None,
    }
}
