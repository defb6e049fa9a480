//! `stormeter report`.

use stormeter_conclude::conclude;
use stormeter_results::ResultsFile;

use crate::arguments::ReportOptions;
use crate::color::Color;
use crate::exit::{Exit, Failure};
use crate::output::{check_outputs, layout, report_of, show};
use crate::settings::of_header;

pub(crate) fn run(options: &ReportOptions, color: Color) -> Result<Exit, Failure> {
    check_outputs(&options.show, Some(&options.file))?;
    let conclusion = conclude(&ResultsFile::open(&options.file)?)?;
    let names = of_header(&conclusion.header);
    let report = report_of(conclusion, names);
    show(&report, &options.show, layout(color))?;
    // What a script asks a run it may ask a file, whoever interrupted the run back then.
    Ok(Exit::of_report(&report))
}
