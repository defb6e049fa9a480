//! `stormeter export`: a results file in a form that other programs read.

mod cases;

use std::path::PathBuf;

use stormeter_conclude::{Attempts, Conclusion, conclude, counted};
use stormeter_export::{Results, Trial, csv, fio_json, hdr_log, junit, markdown, open_metrics};
use stormeter_results::ResultsFile;

use crate::arguments_audit::{ExportArguments, ExportForm};
use crate::exit::{Exit, Failure};
use crate::output::{print, report_of};
use crate::results_place::found;
use crate::settings::of_header;
use crate::watching::concluded_cells;

pub(crate) fn run(arguments: &ExportArguments) -> Result<Exit, Failure> {
    let conclusion = conclude(&ResultsFile::open(&found(&arguments.file))?)?;
    let failed = |error: &dyn std::fmt::Display| Failure::File(error.to_string());
    let text = match arguments.form {
        ExportForm::Csv => csv(&results(&conclusion)),
        ExportForm::Openmetrics => open_metrics(&results(&conclusion)),
        ExportForm::Markdown => markdown(&results(&conclusion)),
        ExportForm::Fio => {
            let json = serde_json::to_string_pretty(&fio_json(&results(&conclusion)));
            json.map_err(|error| failed(&error))? + "\n"
        }
        ExportForm::Hdr => hdr_log(&results(&conclusion)).map_err(|error| failed(&error))?,
        ExportForm::Junit => test_report(conclusion),
    };
    write(&arguments.output, &text)?;
    Ok(Exit::Done)
}

fn test_report(conclusion: Conclusion) -> String {
    let names = of_header(&conclusion.header);
    let report = report_of(conclusion, names);
    junit(&report.header.plan.study, &cases::of_report(&report))
}

/// The cells and the trials that count.
pub(crate) fn results(conclusion: &Conclusion) -> Results<'_> {
    let Conclusion { header, trials, .. } = conclusion;
    let plan = &header.plan;
    let is_null = header.datastores.iter().map(|store| store.kind == "null").collect();
    let attempts = Attempts::of(plan, is_null, trials);
    let measured = counted(trials, &attempts).filter_map(|trial| {
        // Only a measured one has CPU usage.
        let (sample, cpu) = (trial.sample()?, trial.cpu()?);
        let (block, began_unix_ms) = (trial.block, trial.started_unix_ms);
        Some(Trial { cell: trial.cell?, block, began_unix_ms, sample, cpu })
    });
    Results {
        run: &header.run_id,
        version: &header.stormeter_version,
        began_unix_ms: header.created_unix_ms,
        cells: concluded_cells(conclusion),
        trials: measured.collect(),
    }
}

fn write(output: &Option<PathBuf>, text: &str) -> Result<(), Failure> {
    match output {
        None => print(text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::File(format!("{} cannot be written: {error}", path.display()))
        }),
    }
}
