//! `stormeter audit`: reads files of any kind that is known and prints what the laws say of them.

use std::path::Path;

use stormeter_audit::{Finding, PrintedAudit, audit_runs, audit_sheet};
use stormeter_conclude::conclude;
use stormeter_import::Imported;
use stormeter_replicate::Sheet;
use stormeter_report::Severity;
use stormeter_results::ResultsFile;

use crate::arguments::AuditOptions;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_notes, report_of, terminal_width};
use crate::settings::of_header;

pub(crate) fn run(options: &AuditOptions) -> Result<Exit, Failure> {
    let names: Vec<String> = options.files.iter().map(|path| path.display().to_string()).collect();
    let mut findings = Vec::new();
    let mut imported: Vec<(String, Imported)> = Vec::new();
    for (path, name) in options.files.iter().zip(&names) {
        match content(path)? {
            Content::Results => findings.extend(of_results(path, name)?),
            Content::Text(text) => match stormeter_import::read(&text) {
                Some(read) => {
                    let read = read.map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
                    imported.push((name.clone(), read));
                }
                None => findings.extend(of_tables(name, &text, names.len() > 1)?),
            },
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

enum Content {
    Results,
    Text(String),
}

fn content(path: &Path) -> Result<Content, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if bytes.starts_with(b"SQLite format 3") {
        return Ok(Content::Results);
    }
    String::from_utf8(bytes)
        .map(Content::Text)
        .map_err(|_| wrong("is neither text nor a results file".into()))
}

/// The findings about a table, under the file's name if there are several files.
fn of_tables(name: &str, text: &str, with_name: bool) -> Result<Vec<Finding>, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{name}: {what}"));
    let sheet = Sheet::read(text).map_err(|error| wrong(error.to_string()))?;
    print_notes(name, &sheet.notes);
    let mut findings = audit_sheet(&sheet).map_err(|error| wrong(error.to_string()))?;
    if with_name {
        findings.iter_mut().for_each(|found| found.place = format!("{name}, {}", found.place));
    }
    Ok(findings)
}

/// The findings of a results file's own report, in the words of the report.
fn of_results(path: &Path, name: &str) -> Result<Vec<Finding>, Failure> {
    let conclusion = conclude(&ResultsFile::open(path)?)?;
    let names = of_header(&conclusion.header);
    let report = report_of(conclusion, names);
    let findings = report.findings.iter().map(|found| {
        let place = match found.subject.is_empty() {
            true => name.to_owned(),
            false => format!("{name}, {}", found.subject),
        };
        let level = match found.severity {
            Severity::Invalid => stormeter_audit::Level::Broken,
            Severity::Warning => stormeter_audit::Level::Doubtful,
            Severity::Note => stormeter_audit::Level::Note,
        };
        Finding::own(level, place, &found.what, &found.advice)
    });
    Ok(findings.collect())
}
