//! Shows what a comparison or a study found: as text, as JSON and as a page.
//!
//! [`Report`] holds everything that is shown; whoever analyses a run fills it in, and the three
//! presentations only lay it out. Nothing here computes a statistic, reads a file or asks a clock,
//! and the page needs no network.

mod assemble;
mod change;
mod columns;
mod date;
mod html;
mod incidents;
mod json;
mod label;
mod markup;
mod model;
mod phrases;
mod printable;
mod quantity;
mod sentence;
mod settling;
mod study;
mod svg;
mod terminal;
mod touched;
mod uncertainty;
mod wording;

pub use assemble::{ComparisonParts, MeasuredCeilings, assemble};
pub use date::utc;
pub use html::html;
pub use json::{SCHEMA, SCHEMA_VERSION, json};
pub use label::labels;
pub use model::{
    Bucket, Ceiling, CpuPerIo, Datastore, Finding, LatencyDistribution, MetricComparison,
    MetricValue, PercentilePoint, Report, SeriesPoint, Severity, Status, TrialSeries, WayCeiling,
    curve_fractions,
};
pub use phrases::{Setting, SettingNames, study_key};
pub use printable::printable;
pub use quantity::{metric_unit, metric_value};
pub use sentence::{headline, sentence};
pub use study::{
    CellReasons, Disturbed, MonitorAverage, STUDY_SCHEMA, STUDY_SCHEMA_VERSION, StepMark,
    StudyHostCell, StudyHostRow, StudyParts, StudyReport, StudyTrial, TrialTrace, WorkloadCeiling,
    assemble_study, shortened_words, study_html, study_json, study_terminal,
};
pub use terminal::{TerminalOptions, terminal};
pub use wording::shell_command;
