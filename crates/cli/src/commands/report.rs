//! `stormeter report`.

use stormeter_results::ResultsError;

use crate::arguments::ReportOptions;
use crate::color::Color;
use crate::commands::compare_files;
use crate::exit::{Exit, Failure};
use crate::output::{check_outputs, layout, report_of, show};
use crate::settings::of_header;
use crate::sources::{self, Source};

pub(crate) fn run(options: &ReportOptions, color: Color) -> Result<Exit, Failure> {
    check_outputs(&options.show, Some(&options.file))?;
    let conclusion = match sources::read(&options.file)? {
        Source::Results(conclusion) => *conclusion,
        Source::Imported(_) => {
            let runs = sources::runs(&options.file)?;
            return compare_files::report(&runs, (&options.show, &options.file), color);
        }
        Source::Text(_) => {
            return Err(ResultsError::NotResults { path: options.file.clone() }.into());
        }
    };
    let names = of_header(&conclusion.header);
    let report = report_of(conclusion, names);
    show(&report, &options.show, layout(color))?;
    // The exit code is that of the result, even if the run was interrupted: scripts ask files what they ask runs.
    Ok(Exit::of_report(&report))
}
