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
    // The exit code is that of the result, even if the run was interrupted: scripts ask files what they ask runs.
    Ok(Exit::of_report(&report))
}
