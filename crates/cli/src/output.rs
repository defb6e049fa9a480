//! Where results go: tables or JSON to stdout, the page to its file.

use std::io::{IsTerminal, Read, Write};
use std::path::Path;

use stormeter_report::{MeasuredCeilings, Report, TerminalOptions, assemble};
use stormeter_runner::Conclusion;

use crate::arguments::ShowOptions;
use crate::exit::Failure;

/// The report of a conclusion.
pub(crate) fn report_of(conclusion: Conclusion) -> Report {
    let Conclusion { header, trials, events, finished, ceiling_iops, way_ceilings, analysis } =
        conclusion;
    let reason = finished.map(|finished| finished.reason);
    let ceilings = MeasuredCeilings { generator_iops: ceiling_iops, ways_iops: &way_ceilings };
    assemble(header, &trials, &events, reason, &analysis, ceilings)
}

/// Shows a report as asked for.
pub(crate) fn show(report: &Report, options: &ShowOptions) -> Result<(), Failure> {
    if options.json {
        let text = serde_json::to_string_pretty(&stormeter_report::json(report))
            .map_err(|error| Failure::File(error.to_string()))?;
        print(&format!("{text}\n"))?;
    } else {
        print(&stormeter_report::terminal(report, terminal_options()))?;
    }
    // Last, so that a page that cannot be written takes nothing else away.
    match &options.html {
        Some(path) => write_page(report, path),
        None => Ok(()),
    }
}

/// Refuses, before anything is measured, a place where no page can be written.
pub(crate) fn check_page(options: &ShowOptions, results: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = &options.html else { return Ok(()) };
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if directory.is_some_and(|directory| !directory.is_dir()) || path.is_dir() {
        return Err(Failure::Usage(format!(
            "no page can be written to {}: give --html a file in a directory that exists",
            path.display()
        )));
    }
    // The evidence is not to be replaced by its picture.
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

/// Writes the page.
pub(crate) fn write_page(report: &Report, path: &Path) -> Result<(), Failure> {
    std::fs::write(path, stormeter_report::html(report)).map_err(|error| {
        Failure::File(format!("the page cannot be written to {}: {error}", path.display()))
    })
}

/// Prints to stdout. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::File(format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn terminal_options() -> TerminalOptions {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    TerminalOptions {
        color: std::io::stdout().is_terminal() && !no_color && !dumb,
        ..TerminalOptions::default()
    }
}
