//! Prints results: tables or JSON to standard output, the page to its file or to standard output.

use std::ffi::OsStr;
use std::io::{IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use stormeter_conclude::Conclusion;
use stormeter_report::{Parts, Report, SettingNames, TerminalOptions, TrialParts, assemble};
use stormeter_results::{Phase, TrialRecord};
use stormeter_study::StudyNote;
use terminal_size::{Width, terminal_size_of};

use crate::arguments_show::ShowOptions;
use crate::color::Color;
use crate::exit::Failure;
use crate::narrow::narrowed;
use crate::repeat;

/// The report of a conclusion; `names` are the names of settings for its reader.
pub(crate) fn report_of(conclusion: Conclusion, names: SettingNames) -> Report {
    let Conclusion {
        header,
        trials,
        events,
        finished,
        ceilings,
        host_shares,
        guests,
        elasticities,
        assumed,
        supposed,
        analysis,
    } = conclusion;
    let of_cells: Vec<TrialParts<'_>> = trials
        .iter()
        .filter_map(|trial| {
            let cell = trial.cell.filter(|_| trial.phase == Phase::Main)?;
            Some(TrialParts::of(trial, cell, &trial.monitor))
        })
        .collect();
    let records: Vec<&TrialRecord> = trials.iter().collect();
    assemble(Parts {
        repeat_command: repeat::command(&header),
        names,
        header,
        trials: &of_cells,
        events: &events,
        finished: finished.map(|finished| finished.reason),
        analysis,
        ceilings: &ceilings,
        host_shares: (&records, &host_shares),
        guests: &guests,
        elasticities: &elasticities,
        assumed: &assumed,
        supposed: &supposed,
    })
}

/// Shows a report in the requested forms.
pub(crate) fn show(
    report: &Report,
    options: &ShowOptions,
    layout: TerminalOptions,
) -> Result<(), Failure> {
    present(
        options,
        || stormeter_report::json(report),
        || stormeter_report::terminal(report, layout),
        || stormeter_report::html(report),
    )
}

/// Shows something in the requested forms.
pub(crate) fn present(
    options: &ShowOptions,
    json: impl FnOnce() -> serde_json::Value,
    tables: impl FnOnce() -> String,
    page: impl FnOnce() -> String,
) -> Result<(), Failure> {
    match &options.html {
        // Nothing else goes to standard output.
        Some(path) if is_stdout(path) => return print(&page()),
        _ if options.json => {
            let text = serde_json::to_string_pretty(&json())
                .map_err(|error| Failure::File(error.to_string()))?;
            print(&format!("{text}\n"))?;
        }
        _ => print(&tables())?,
    }
    // Last, so that the rest is printed even if the page cannot be written.
    match &options.html {
        Some(path) => write_page(path, &page()),
        None => Ok(()),
    }
}

/// Whether a file name means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses, before anything is measured, paths where results or a page cannot be written.
pub(crate) fn check_outputs(options: &ShowOptions, results: Option<&Path>) -> Result<(), Failure> {
    if results.is_some_and(is_stdout) {
        return Err(Failure::Usage(
            "a results file cannot be standard output; give --output the name of a file, or print \
             the result with --json"
                .into(),
        ));
    }
    let Some(path) = &options.html else { return Ok(()) };
    if is_stdout(path) {
        return match options.json {
            true => Err(Failure::Usage(
                "--html - and --json cannot share standard output; give --html a file".into(),
            )),
            false => Ok(()),
        };
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if directory.is_some_and(|directory| !directory.is_dir()) || path.is_dir() {
        return Err(Failure::Usage(format!(
            "no page can be written to {}: give --html a file in a directory that exists",
            path.display()
        )));
    }
    // A page must not replace a results file.
    let mut head = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut head));
    if is_same_file(path, results) || (read.is_ok() && head.starts_with(b"SQLite format 3")) {
        return Err(Failure::Usage(format!(
            "{} is a results file; give --html a file of its own",
            path.display()
        )));
    }
    Ok(())
}

fn is_same_file(page: &Path, results: Option<&Path>) -> bool {
    results
        .is_some_and(|results| std::path::absolute(page).ok() == std::path::absolute(results).ok())
}

/// Writes a page, and prints its URL.
pub(crate) fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
    std::fs::write(path, page).map_err(|error| {
        Failure::File(format!("the page cannot be written to {}: {error}", path.display()))
    })?;
    eprintln!("Page: {}", file_url(path));
    Ok(())
}

/// The URL of a file (RFC 8089): absolute.
fn file_url(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    format!("file://{}", escaped_for_url(path.as_os_str()))
}

/// A path as a part of a URL: everything but plain characters escaped.
pub(crate) fn escaped_for_url(path: &OsStr) -> String {
    let escaped = path.as_bytes().iter().map(|&byte| match byte {
        b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    escaped.collect()
}

/// Prints to standard output. A reader that stops reading (`| head`) is not a failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::File(format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints tables to standard output, in lines that fit if that is a terminal.
pub(crate) fn print_tables(text: &str) -> Result<(), Failure> {
    match terminal_width() {
        Some(width) => print(&narrowed(text, width)),
        None => print(text),
    }
}

/// Prints remarks about a file to standard error.
pub(crate) fn print_notes(file: &str, notes: &[StudyNote]) {
    for StudyNote { line, column, message } in notes {
        let text = format!("note: {file}:{line}:{column}: {message}");
        eprintln!("{}", stormeter_report::printable(&text));
    }
}

/// The layout of tables on standard output: as wide as its terminal.
pub(crate) fn layout(color: Color) -> TerminalOptions {
    let usual = TerminalOptions::default();
    TerminalOptions {
        color: color.is_used(std::io::stdout().is_terminal()),
        width: terminal_width().unwrap_or(usual.width),
        ..usual
    }
}

/// The columns of standard output, if that is a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    let size = terminal_size_of(std::io::stdout());
    size.map(|(Width(columns), _)| usize::from(columns)).filter(|columns| *columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_url_that_opens_it() {
        assert_eq!(file_url(Path::new("/tmp/a b/ü.html")), "file:///tmp/a%20b/%C3%BC.html");
        assert!(file_url(Path::new("x.html")).starts_with("file:///"));
        assert!(file_url(Path::new("x.html")).ends_with("/x.html"));
    }
}
