//! Where results go: tables or JSON to stdout, the page to its file.

use std::io::{IsTerminal, Write};
use std::path::Path;

use stormeter_report::{Report, TerminalOptions, assemble};
use stormeter_runner::Conclusion;

use crate::arguments::ShowOptions;
use crate::exit::Failure;

/// The report of a conclusion.
pub(crate) fn report_of(conclusion: Conclusion) -> Report {
    let Conclusion { header, trials, finished, ceiling_iops, analysis, .. } = conclusion;
    let reason = finished.map(|finished| finished.reason);
    assemble(header, &trials, reason, &analysis, ceiling_iops)
}

/// Shows a report as asked for.
pub(crate) fn show(report: &Report, options: &ShowOptions) -> Result<(), Failure> {
    if let Some(path) = &options.html {
        write_page(report, path)?;
    }
    if options.json {
        let text = serde_json::to_string_pretty(&stormeter_report::json(report))
            .map_err(|error| Failure::File(error.to_string()))?;
        print(&format!("{text}\n"))
    } else {
        print(&stormeter_report::terminal(report, terminal_options()))
    }
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

fn terminal_options() -> TerminalOptions {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    TerminalOptions {
        color: std::io::stdout().is_terminal() && !no_color && !dumb,
        ..TerminalOptions::default()
    }
}
