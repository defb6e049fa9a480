//! Questions asked of the results file of a study, also ones that the study did not ask.

use stormeter_results::{ResultsFile, TrialRecord};
use stormeter_statistics::{Answer, StudySurroundings, analyse_study};
use stormeter_study::StudyPlan;
use stormeter_study::question::{Vocabulary, parse};

use crate::attempts::Attempts;
use crate::error::RunError;
use crate::study::conclusion::{surroundings, views};

/// A study's results, ready to be asked.
#[derive(Debug)]
pub struct Evidence {
    plan: StudyPlan,
    trials: Vec<TrialRecord>,
    is_null: Vec<bool>,
    is_predicted: bool,
}

impl Evidence {
    /// Reads all that the file holds.
    ///
    /// # Errors
    /// The file cannot be read, or holds no study.
    pub fn read(file: &ResultsFile) -> Result<Self, RunError> {
        let header = file.study_header()?;
        let is_null = header.datastores.iter().map(|store| store.kind == "null").collect();
        let is_predicted = header.prediction.is_some();
        Ok(Self { plan: header.plan, trials: file.trials()?, is_null, is_predicted })
    }

    /// What the results say to the question, in the grammar of study files. Where a law is broken they
    /// say nothing, as in the study's own report.
    ///
    /// # Errors
    /// The question cannot be parsed, or names what the study does not have.
    pub fn answer(&self, question: &str) -> Result<Answer, RunError> {
        let refused = |why: String| RunError::Question(why);
        parse(question, &Vocabulary::of(&self.plan)).map_err(|error| refused(error.message()))?;
        let plan = StudyPlan { questions: vec![question.to_owned()], ..self.plan.clone() };
        let attempts = Attempts::of_study(&plan, &self.trials);
        let surroundings = StudySurroundings {
            is_predicted: self.is_predicted,
            ..surroundings(&plan, self.is_null.clone(), &self.trials, &attempts)
        };
        let analysis = analyse_study(&plan, &views(&self.trials, &attempts), &surroundings);
        analysis.answers.into_iter().next().ok_or_else(|| refused("there is no answer".into()))
    }
}
