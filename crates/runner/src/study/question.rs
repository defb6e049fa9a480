//! Questions asked of the results file of a study, also ones that the study did not ask.

use stormeter_results::{ResultsFile, TrialRecord};
use stormeter_statistics::{Answer, answer_text};
use stormeter_study::StudyPlan;

use crate::error::RunError;
use crate::study::conclusion::views;

/// A study's results, ready to be asked.
#[derive(Debug)]
pub struct Witness {
    plan: StudyPlan,
    trials: Vec<TrialRecord>,
}

impl Witness {
    /// Reads all that the file holds.
    ///
    /// # Errors
    /// The file cannot be read, or holds no study.
    pub fn read(file: &ResultsFile) -> Result<Self, RunError> {
        Ok(Self { plan: file.study_header()?.plan, trials: file.trials()? })
    }

    /// What the results say to the question, in the grammar of study files.
    ///
    /// # Errors
    /// The question cannot be parsed, or names what the study does not have.
    pub fn answer(&self, question: &str) -> Result<Answer, RunError> {
        answer_text(&self.plan, &views(&self.trials), question)
            .map_err(|error| RunError::Question(error.message()))
    }
}
