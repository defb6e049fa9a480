//! `stormeter audit`: reads files of any kind that is known and prints what the laws say of them.

use stormeter_audit::{Finding, Level, PrintedAudit, audit_runs, audit_sheet, audit_trials};
use stormeter_conclude::Conclusion;
use stormeter_export::fio_json;
use stormeter_import::{Imported, Run, read_fio};
use stormeter_replicate::Sheet;
use stormeter_report::Severity;

use crate::arguments_audit::AuditOptions;
use crate::commands::export;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_notes, report_of, terminal_width};
use crate::settings::of_header;
use crate::sources::{self, Source};

pub(crate) fn run(options: &AuditOptions) -> Result<Exit, Failure> {
    let files = sources::files(&options.files)?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let mut findings = Vec::new();
    let mut imported: Vec<(String, Imported)> = Vec::new();
    for (path, name) in files.iter().zip(&names) {
        match sources::read(path)? {
            Source::Results(conclusion) => {
                findings.extend(of_trials(&conclusion, name)?);
                findings.extend(of_results(*conclusion, name));
            }
            Source::Imported(sources) => {
                imported.extend(sources.into_iter().map(|source| (source.file, source.imported)));
            }
            Source::Text(text) => findings.extend(of_tables(name, &text, names.len() > 1)?),
        }
    }
    findings.extend(audit_runs(&imported));
    let audit = PrintedAudit::new(names, &findings);
    if options.json {
        let text =
            serde_json::to_string_pretty(&audit).map_err(|e| Failure::File(e.to_string()))?;
        print(&format!("{text}\n"))?;
    } else {
        print(&audit.terminal(terminal_width().unwrap_or(100)))?;
    }
    Ok(if audit.broken > 0 { Exit::Invalid } else { Exit::Done })
}

/// The findings about a table, under the file's name if there are several files.
fn of_tables(name: &str, text: &str, with_name: bool) -> Result<Vec<Finding>, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{name}: {what}"));
    let sheet = Sheet::read(text).map_err(|error| {
        let known = stormeter_import::formats().collect::<Vec<_>>().join(", ");
        wrong(format!("{error} (read as tables, since it is no results file and none of {known})"))
    })?;
    print_notes(name, &sheet.notes);
    let mut findings = audit_sheet(&sheet).map_err(|error| wrong(error.to_string()))?;
    if with_name {
        findings.iter_mut().for_each(|found| found.place = format!("{name}, {}", found.place));
    }
    Ok(findings)
}

/// What the laws say of the trials: they are exported as fio's results, as `export --form fio` does, and read like those.
fn of_trials(conclusion: &Conclusion, name: &str) -> Result<Vec<Finding>, Failure> {
    let results = export::results(conclusion);
    if results.trials.is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |what: String| Failure::File(format!("{name}: its trials cannot be read: {what}"));
    let read = read_fio(&fio_json(&results).to_string())
        .ok_or_else(|| wrong("they are not recognised".to_owned()))?
        .map_err(|error| wrong(error.to_string()))?;
    let named = read.runs.iter().zip(&results.trials).map(|(run, trial)| {
        let store = results.cells.get(trial.cell).map_or("", |cell| cell.datastore.as_str());
        Run { name: format!("{} on {store}, block {}", run.name, trial.block + 1), ..run }
    });
    Ok(audit_trials(name, &Imported { runs: named.collect(), ..read }))
}

/// The findings of a results file's own report, in the words of the report.
fn of_results(conclusion: Conclusion, name: &str) -> Vec<Finding> {
    let names = of_header(&conclusion.header);
    let report = report_of(conclusion, names);
    let findings = report.findings.iter().map(|found| {
        let place = match found.subject.is_empty() {
            true => name.to_owned(),
            false => format!("{name}, {}", found.subject),
        };
        let level = match found.severity {
            Severity::Invalid => Level::Broken,
            Severity::Warning => Level::Doubtful,
            Severity::Note => Level::Note,
        };
        Finding::own(level, place, &found.what, &found.advice)
    });
    findings.collect()
}
