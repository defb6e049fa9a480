//! Shows the results of a run: as text, as JSON and as a page.
//!
//! [`Report`] contains everything that is shown; [`assemble()`] fills it in, and the three presentations only lay
//! it out. Nothing here computes a statistic, reads a file or a clock, and the page needs no network.

mod acknowledged;
mod assemble;
mod brief;
mod capital;
mod change;
mod columns;
pub mod compact;
mod date;
mod durability;
mod full;
mod incidents;
pub mod index;
mod json;
mod label;
pub mod live;
mod markup;
mod model;
mod noted;
mod page;
mod phrases;
mod printable;
mod quantity;
mod reasons;
mod seen;
mod settling;
pub mod sides;
mod simulated;
mod svg;
mod text;
pub mod timeline;
mod title;
mod touched;
mod wording;

use compact::Compact;

pub use assemble::{Parts, TrialParts, assemble};
pub use brief::{brief, subject, subject_of};
pub use date::{unix_ms_of, utc};
pub use full::shortened_words;
pub use json::{SCHEMA, SCHEMA_VERSION, derived_schema, json};
pub use label::{datastore_labels, labels};
pub use model::{
    AssumedAnswer, CellReasons, DesktopTrace, Disturbed, Finding, GuestTrace, MonitorAverage,
    Report, SeriesPoint, Severity, Status, StepMark, StudyDesktopCell, StudyDesktopStep,
    StudyGuestRow, StudyHostCell, StudyHostRow, TrialTrace, WorkloadCeiling,
};
pub use page::document::{HEAD_BYTES, is_page};
pub use phrases::{
    Setting, SettingNames, answer_sentence, datastore_note, event_sentence, incident_sentence,
    left_sentence, opened_sentence, study_key,
};
pub use printable::printable;
pub use quantity::{metric_unit, metric_value};
pub use text::{TerminalOptions, wrap};
pub use wording::shell_command;

/// The report as text, ending in a line break; a comparison has the compact layout.
pub fn terminal(report: &Report, options: TerminalOptions) -> String {
    match Compact::of(report) {
        Some(comparison) => compact::terminal(&comparison, options),
        None => full::terminal::terminal(report, options),
    }
}

/// The report as a page; a comparison has the compact layout.
pub fn html(report: &Report) -> String {
    match Compact::of(report) {
        Some(comparison) => compact::html(&comparison),
        None => full::page::html(report),
    }
}
