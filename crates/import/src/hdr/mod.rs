//! HdrHistogram's two texts: logs of intervals, each with an encoded histogram, and lists of percentiles.
//!
//! After the format of HdrHistogram's own log writer, versions 1.2 and 1.3, and of `outputPercentileDistribution`.
//! Neither says the unit of its values: what is assumed is said in what is left out.

mod encoded;
mod log;
mod name;
mod spectrum;

#[cfg(test)]
mod tests;

pub(crate) use name::NAME;

use crate::error::ImportError;
use crate::run::Imported;
use crate::series::Series;

/// Whether the text is one of the two.
pub(crate) fn is(text: &str) -> bool {
    log::is(text) || spectrum::is(text)
}

/// Reads one of the two.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported {
        tool: "HdrHistogram".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    if log::is(text) {
        log::read(text, &mut imported)?;
    } else {
        spectrum::read(text, &mut imported)?;
    }
    Ok(imported)
}
