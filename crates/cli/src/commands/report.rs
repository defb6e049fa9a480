//! `stormeter report`.

use std::path::Path;

use stormeter_conclude::conclude;
use stormeter_results::{ResultsError, ResultsFile};

use crate::arguments::ReportOptions;
use crate::color::Color;
use crate::commands::compare::names_apart;
use crate::commands::{compare_files, timeline};
use crate::exit::{Exit, Failure};
use crate::output::{check_outputs, layout, report_of, show};
use crate::results_place::found;
use crate::settings::of_header;
use crate::sources::{self, Source};

pub(crate) fn run(options: &ReportOptions, color: Color) -> Result<Exit, Failure> {
    let (names, files) = names_apart(&options.files);
    let file = match (&files[..], names.first()) {
        ([file], Some(None)) => found(Path::new(file)),
        // A name is of a run among others.
        _ => return timeline::run(options, (&names, &files), color),
    };
    if options.timeline.is_given() {
        return timeline::run(options, (&names, &files), color);
    }
    check_outputs(&options.show, Some(&file))?;
    let conclusion = match ResultsFile::open(&file) {
        Ok(opened) => conclude(&opened)?,
        Err(ResultsError::Imported { .. }) => return of_other_tools(options, &file, color),
        Err(error @ ResultsError::NotResults { .. }) => {
            return match sources::read(&file) {
                Ok(Source::Imported(_)) => of_other_tools(options, &file, color),
                _ => Err(error.into()),
            };
        }
        Err(error) => return Err(error.into()),
    };
    let names = of_header(&conclusion.header);
    let report = report_of(conclusion, names);
    show(&report, &options.show, layout(color))?;
    // The exit code is that of the result, even if the run was interrupted: scripts ask files what they ask runs.
    Ok(Exit::of_report(&report))
}

fn of_other_tools(options: &ReportOptions, file: &Path, color: Color) -> Result<Exit, Failure> {
    compare_files::report(&sources::runs(file)?, (&options.show, file), color)
}
