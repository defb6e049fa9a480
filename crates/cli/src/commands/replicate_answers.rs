//! What a results file answers to the questions of a published study: the one place where
//! `replicate` meets results.

use std::path::Path;

use stormeter_replicate::AnswerSource;
use stormeter_results::{Contents, ResultsFile};
use stormeter_runner::Witness;
use stormeter_statistics::Answer;

use crate::exit::Failure;

/// A results file that can be asked.
///
/// Only the results of a study name the cells that questions speak of; a comparison has a verdict and
/// no cells.
pub(crate) fn open(path: &Path) -> Result<Box<dyn AnswerSource>, Failure> {
    let file = ResultsFile::open(path)?;
    if file.contents()? == Contents::Comparison {
        return Err(Failure::Usage(format!(
            "{} holds a comparison, which has no workloads and loads to ask about; `stormeter report` \
             shows its verdict, and `replicate` asks the results of a study",
            path.display()
        )));
    }
    Ok(Box::new(OfStudy(Witness::read(&file)?)))
}

struct OfStudy(Witness);

impl AnswerSource for OfStudy {
    fn answer(&self, question: &str) -> Result<Answer, String> {
        self.0.answer(question).map_err(|error| error.to_string())
    }
}
