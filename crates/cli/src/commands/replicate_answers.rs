//! The answers of results files to the questions of a published study: the only place where `replicate`
//! meets results.

use std::path::{Path, PathBuf};

use stormeter_conclude::Evidence;
use stormeter_replicate::{AnswerSource, SourceAnswer};
use stormeter_report::answer_sentence;
use stormeter_results::ResultsFile;
use stormeter_site::parse_site;

use crate::exit::Failure;
use crate::results_place::found;

/// Results files that can be asked: each question goes to the first file that has its names. `None` without
/// files.
pub(crate) fn open(paths: &[PathBuf]) -> Result<Option<Box<dyn AnswerSource>>, Failure> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut asked = OfStudies { studies: Vec::new(), calibrated_on: Vec::new() };
    for path in paths {
        let (evidence, calibrated_on) = evidence(path)?;
        asked.studies.push(evidence);
        asked.calibrated_on.extend(calibrated_on);
    }
    Ok(Some(Box::new(asked)))
}

/// The evidence in a results file, and, for a prediction, the findings that its site was fitted to.
fn evidence(path: &Path) -> Result<(Evidence, Vec<String>), Failure> {
    let file = ResultsFile::open(&found(path))?;
    let calibrated_on = match file.header()?.prediction {
        None => Vec::new(),
        Some(prediction) => {
            let site = parse_site(&prediction.text).map_err(|faults| {
                Failure::File(format!(
                    "the site in {} cannot be read, so what it was fitted to is unknown; predict the \
                     study again. {faults}",
                    path.display()
                ))
            })?;
            site.calibration.into_iter().map(|point| point.finding).collect()
        }
    };
    Ok((Evidence::read(&file)?, calibrated_on))
}

struct OfStudies {
    studies: Vec<Evidence>,
    calibrated_on: Vec<String>,
}

impl AnswerSource for OfStudies {
    fn answer(&self, question: &str) -> Result<SourceAnswer, String> {
        let mut refused = String::new();
        for study in &self.studies {
            match study.answer(question) {
                Ok(answer) => {
                    let sentence = answer_sentence(&answer, study.plan());
                    return Ok(SourceAnswer { reply: answer.reply, sentence });
                }
                Err(error) => refused = error.message(),
            }
        }
        Err(refused)
    }

    fn calibrated_on(&self) -> &[String] {
        &self.calibrated_on
    }
}
