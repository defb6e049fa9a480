//! elbencho's results: JSON (`--jsonfile`, an object per line and phase) and CSV (`--csvfile`, a line per phase).
//!
//! After elbencho's own source (`Statistics.cpp`, `LatencyHistogram.cpp`, `ProgArgs.cpp`) and its documentation of the
//! CSV. Its megabyte is 2^20 bytes. All numbers are whole, with the fraction cut. Of each phase it states what was
//! reached when the first thread ended and when the last one did; the latter is read.

mod lines;
mod phase;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use phase::NAME;

use crate::error::ImportError;
use crate::run::Imported;
use crate::series::Series;

/// Whether the text is one of the two files.
pub(crate) fn is(text: &str) -> bool {
    lines::is(text) || table::is(text)
}

/// Reads one of the two files.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported {
        tool: "elbencho".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    if lines::is(text) {
        lines::read(text, &mut imported)?;
    } else {
        table::read(text, &mut imported)?;
    }
    if !imported.runs.is_empty() {
        imported.left_out.push("What was reached when the first thread ended.".to_string());
    }
    Ok(imported)
}
