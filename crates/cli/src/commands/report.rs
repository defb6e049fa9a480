//! `stormeter report`.

use stormeter_results::ResultsFile;
use stormeter_runner::conclude;

use crate::arguments::ReportOptions;
use crate::exit::{Exit, Failure};
use crate::output::{check_page, report_of, show};

pub(crate) fn run(options: &ReportOptions) -> Result<Exit, Failure> {
    check_page(&options.show, Some(&options.file))?;
    let file = ResultsFile::open(&options.file)?;
    let report = report_of(conclude(&file)?);
    show(&report, &options.show)?;
    // What a script asks a run it may ask a file, whoever interrupted the run back then.
    Ok(Exit::of_verdicts(&report))
}
