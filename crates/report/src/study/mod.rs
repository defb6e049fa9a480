//! The report of a study: many cells, questions with answers, and what the host did meanwhile.
//!
//! [`StudyReport`] is to a study what [`crate::Report`] is to a comparison: a plain value that three
//! presentations lay out. It differs where a study does: there is no single verdict, so the questions
//! come first; there are too many cells for a table each, so a matrix relative to the baseline stands
//! for them and the details are folded away.

mod assemble;
mod draw;
mod grid;
mod hosts;
mod json;
mod model;
mod page;
mod remarks;
mod steps;
mod terminal;
mod why;
mod words;

pub(crate) use grid::hundred;

pub use assemble::{StudyParts, StudyTrial, assemble_study};
pub use hosts::{StudyHostCell, StudyHostRow};
pub use json::{STUDY_SCHEMA, STUDY_SCHEMA_VERSION, study_json};
pub use model::{CellReasons, MonitorAverage, StudyReport, TrialTrace, WorkloadCeiling};
pub use page::study_html;
pub use steps::{Disturbed, StepMark};
pub use terminal::study_terminal;
pub use why::shortened as shortened_words;
