//! What vdbench writes into its output folder: `flatfile.html` and `histogram.html`.
//!
//! After vdbench's own source (`Flat.java`, `Histogram.java`, `SdStats.java` of 5.04) and a flat file of an older
//! version. Its megabyte is 2^20 bytes and its gigabyte 2^30, as the head of the file says; times are milliseconds.

mod flat;
mod histogram;
mod name;

#[cfg(test)]
mod tests;

pub(crate) use name::NAME;

use crate::error::ImportError;
use crate::run::Imported;
use crate::series::Series;

/// Whether the text is one of the two files.
pub(crate) fn is(text: &str) -> bool {
    is_flat(text) || histogram::is(text)
}

/// Reads one of the two files.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported {
        tool: "vdbench".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    if is_flat(text) {
        flat::read(text, &mut imported)?;
    } else {
        histogram::read(text, &mut imported)?;
    }
    Ok(imported)
}

fn is_flat(text: &str) -> bool {
    text.contains("Name of run from RD=")
}
