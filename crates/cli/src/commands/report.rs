//! `stormeter report`.

use stormeter_results::{Contents, ResultsFile};
use stormeter_runner::{conclude, conclude_study};

use crate::arguments::ReportOptions;
use crate::color::Color;
use crate::exit::{Exit, Failure};
use crate::output::{check_outputs, layout, report_of, show};
use crate::study_output::{show_study, study_report_of};

pub(crate) fn run(options: &ReportOptions, color: Color) -> Result<Exit, Failure> {
    check_outputs(&options.show, Some(&options.file))?;
    let file = ResultsFile::open(&options.file)?;
    if file.contents()? == Contents::Study {
        let conclusion = conclude_study(&file)?;
        let exit = Exit::of_answers(&conclusion);
        show_study(&study_report_of(conclusion), &options.show, layout(color))?;
        return Ok(exit);
    }
    let report = report_of(conclude(&file)?);
    show(&report, &options.show, layout(color))?;
    // What a script asks a run it may ask a file, whoever interrupted the run back then.
    Ok(Exit::of_verdicts(&report))
}
