//! Results for other programs: one observation a row as CSV, OpenMetrics text, a table in Markdown, JSON as fio prints it,
//! a log of HdrHistogram, and a test report as JUnit writes it.
//!
//! Everything is made from [`Results`]: plain values of the trials that count; except for the test report, whose [`Case`]s
//! the caller has the words for. Pure: the caller reads and writes files.

mod csv;
mod exposition;
mod fio;
mod hdr;
mod junit;
mod markdown;
mod open_metrics;
mod results;

pub use crate::csv::csv;
pub use exposition::{Exposition, Family, Form, Kind, Labels};
pub use fio::fio_json;
pub use hdr::hdr_log;
pub use junit::{Case, CaseOutcome, junit};
pub use markdown::markdown;
pub use open_metrics::{add_cells, add_metric, labels, open_metrics};
pub use results::{Cell, Results, Trial};
