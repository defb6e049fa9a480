//! Results of fio: its JSON, its terse lines and its logs.
//!
//! fio's results are the ones that most files have, and their fields have changed their units twice. Facts about
//! the formats are from fio's documentation and from the behaviour of its versions 2.0 to 3.42.

mod buckets;
mod documents;
mod entry;
mod json;
mod latency;
mod log;
mod log_kind;
mod log_lines;
mod log_single;
mod notes;
mod options;
mod quantity;
mod section;
mod terse;
mod unit;
mod version;

pub use log_kind::LogKind;

use crate::error::ImportError;
use crate::run::Imported;

/// The formats that are recognised by their content.
pub(crate) const NAMES: &[&str] = &[json::NAME, terse::NAME];

/// The format of logs, whose kind only the name of the file says.
pub(crate) const LOG_NAME: &str = log::NAME;

/// Reads what fio printed as JSON, JSON+ or terse lines; `None`: it is none of these.
pub fn read(text: &str) -> Option<Result<Imported, ImportError>> {
    if json::is(text) {
        Some(json::read(text))
    } else if terse::is(text) {
        Some(terse::read(text))
    } else {
        None
    }
}

/// Reads a log that fio wrote with `write_lat_log`, `write_bw_log` or `write_iops_log`; `None`: it is none.
pub fn read_log(text: &str, kind: LogKind) -> Option<Result<Imported, ImportError>> {
    log::is(text).then(|| log::read(text, kind))
}
