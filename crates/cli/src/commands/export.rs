//! `stormeter export`: a results file in a form that other programs read.

use std::path::PathBuf;

use stormeter_conclude::{Attempts, Conclusion, conclude, views};
use stormeter_export::{Results, Trial, csv, fio_json, markdown, open_metrics};
use stormeter_results::ResultsFile;

use crate::arguments_audit::{ExportArguments, ExportForm};
use crate::exit::{Exit, Failure};
use crate::output::print;
use crate::watching::concluded_cells;

pub(crate) fn run(arguments: &ExportArguments) -> Result<Exit, Failure> {
    let conclusion = conclude(&ResultsFile::open(&arguments.file)?)?;
    let text = exported(&conclusion, arguments.form)?;
    write(&arguments.output, &text)?;
    Ok(Exit::Done)
}

fn exported(conclusion: &Conclusion, form: ExportForm) -> Result<String, Failure> {
    let Conclusion { header, trials, .. } = conclusion;
    let plan = &header.plan;
    let is_null = header.datastores.iter().map(|store| store.kind == "null").collect();
    let attempts = Attempts::of(plan, is_null, trials);
    let counted = views(trials, &attempts).into_iter();
    let results = Results {
        run: &header.run_id,
        version: &header.stormeter_version,
        began_unix_ms: header.created_unix_ms,
        cells: concluded_cells(conclusion),
        trials: counted
            .map(|trial| Trial {
                cell: trial.cell,
                block: trial.block,
                sample: trial.sample,
                cpu: trial.cpu,
            })
            .collect(),
    };
    Ok(match form {
        ExportForm::Csv => csv(&results),
        ExportForm::Openmetrics => open_metrics(&results),
        ExportForm::Markdown => markdown(&results),
        ExportForm::Fio => {
            let json = serde_json::to_string_pretty(&fio_json(&results));
            json.map_err(|error| Failure::File(error.to_string()))? + "\n"
        }
    })
}

fn write(output: &Option<PathBuf>, text: &str) -> Result<(), Failure> {
    match output {
        None => print(text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::File(format!("{} cannot be written: {error}", path.display()))
        }),
    }
}
