//! What a results file answers to the questions of a published study: the one place where
//! `replicate` meets results.

use std::path::{Path, PathBuf};

use stormeter_replicate::AnswerSource;
use stormeter_results::{Contents, ResultsFile};
use stormeter_runner::Witness;
use stormeter_statistics::Answer;

use crate::exit::Failure;

/// Results files that can be asked, each question of the first that has its names; `None` without any.
///
/// Only the results of a study name the cells that questions speak of; a comparison has a verdict and
/// no cells.
pub(crate) fn open(paths: &[PathBuf]) -> Result<Option<Box<dyn AnswerSource>>, Failure> {
    if paths.is_empty() {
        return Ok(None);
    }
    let studies = paths.iter().map(|path| witness(path)).collect::<Result<_, _>>()?;
    Ok(Some(Box::new(OfStudies(studies))))
}

fn witness(path: &Path) -> Result<Witness, Failure> {
    let file = ResultsFile::open(path)?;
    if file.contents()? == Contents::Comparison {
        return Err(Failure::Usage(format!(
            "{} holds a comparison, which has no workloads and loads to ask about; `stormeter report` \
             shows its verdict, and `replicate` asks the results of a study",
            path.display()
        )));
    }
    Ok(Witness::read(&file)?)
}

struct OfStudies(Vec<Witness>);

impl AnswerSource for OfStudies {
    fn answer(&self, question: &str) -> Result<Answer, String> {
        let mut refused = String::new();
        for study in &self.0 {
            match study.answer(question) {
                Ok(answer) => return Ok(answer),
                Err(error) => refused = error.to_string(),
            }
        }
        Err(refused)
    }
}
