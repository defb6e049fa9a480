//! Results in words: the one place where answers, findings and their remedies become sentences.
//!
//! A remedy names settings, and what a setting is called depends on where it is read: an option of a command, a key
//! of a study file. The caller provides the names. A model has no kernel log and no other
//! programs, so some remedies differ for a prediction.

mod answer;
mod claim;
mod datastore;
mod environment;
mod event;
mod finding;
mod incident;
mod model;
mod model_error;
mod note;
mod number;
mod promise;
mod remark;
mod remedy;
mod setting;
mod test;
#[cfg(test)]
mod tests;
mod unanswered;

pub use answer::answer_sentence;
pub(crate) use answer::{answer, answer_number, estimated};
pub(crate) use claim::{load, row_term};
pub use datastore::{datastore_note, left_sentence, opened_sentence};
pub(crate) use environment::environment_note;
pub use event::event_sentence;
pub(crate) use finding::finding;
pub use incident::incident_sentence;
pub(crate) use model_error::{MEANING, band, is_told, model_error, of_metric};
pub(crate) use note::note;
pub(crate) use promise::{acknowledged, evidence, promise};
pub(crate) use remark::remark;
pub(crate) use remedy::{Remedies, remedy};
pub use setting::{Setting, SettingNames, study_key};
pub(crate) use test::test;
use unanswered::unanswered;
