//! Questions asked of the results file of a study, also ones that the study did not ask.

use stormeter_results::{ResultsError, ResultsFile, TrialRecord};
use stormeter_statistics::{Answer, Surroundings, analyse};
use stormeter_study::StudyPlan;
use stormeter_study::question::{QuestionError, Vocabulary, parse};

use crate::attempts::Attempts;
use crate::conclusion::{surroundings, views};

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
    /// The file cannot be read.
    pub fn read(file: &ResultsFile) -> Result<Self, ResultsError> {
        let header = file.header()?;
        let is_null = header.datastores.iter().map(|store| store.kind == "null").collect();
        let is_predicted = header.prediction.is_some();
        Ok(Self { plan: header.plan, trials: file.trials()?, is_null, is_predicted })
    }

    /// The study.
    pub fn plan(&self) -> &StudyPlan {
        &self.plan
    }

    /// What the results say to the question, in the grammar of study files. Where a law is broken they
    /// say nothing, as in the study's own report.
    ///
    /// # Errors
    /// The question cannot be parsed, or names what the study does not have.
    pub fn answer(&self, question: &str) -> Result<Answer, QuestionError> {
        parse(question, &Vocabulary::of(&self.plan))?;
        let plan = StudyPlan { questions: vec![question.to_owned()], ..self.plan.clone() };
        let attempts = Attempts::of(&plan, self.is_null.clone(), &self.trials);
        let surroundings = Surroundings {
            is_predicted: self.is_predicted,
            ..surroundings(&plan, self.is_null.clone(), &self.trials, &attempts)
        };
        let mut analysis = analyse(&plan, &views(&self.trials, &attempts), &surroundings);
        // There is an answer for each question of the plan.
        Ok(analysis.answers.swap_remove(0))
    }
}
