//! What a results file answers to the questions of a published study: the one place where
//! `replicate` meets results.

use std::path::Path;

use stormeter_replicate::AnswerSource;
use stormeter_results::ResultsFile;

use crate::exit::Failure;

/// A results file that can be asked.
///
/// Only the results of a study name the cells that questions speak of; a comparison has a verdict and
/// no cells.
pub(crate) fn open(path: &Path) -> Result<Box<dyn AnswerSource>, Failure> {
    ResultsFile::open(path)?;
    Err(Failure::Usage(format!(
        "{} holds a comparison, which has no workloads and loads to ask about; `stormeter report` shows its \
         verdict, and `replicate` asks the results of a study",
        path.display()
    )))
}
