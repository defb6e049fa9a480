//! What was found, in words: the one place where findings and their remedies become sentences.
//!
//! A remedy names settings, and what a setting is called depends on where it is read: an option of a command, a key
//! of a study file. Whoever shows a report says what they are called there. A model has no kernel log and no other
//! programs, so some remedies are others for a prediction.

mod event;
mod finding;
mod incident;
mod note;
mod remedy;
mod setting;
#[cfg(test)]
mod tests;

use stormeter_statistics::Answer;

pub use event::event_sentence;
pub(crate) use finding::finding;
pub(crate) use incident::incident;
pub(crate) use note::note;
pub(crate) use remedy::{Remedies, remedy};
pub use setting::{Setting, SettingNames, study_key};

/// An answer as a sentence; where the results are invalid that it is about, with the reason.
pub(crate) fn answer(answer: &Answer) -> String {
    match &answer.invalid_by {
        Some(reason) => format!("{} The reason: {}.", answer.sentence, finding(reason)),
        None => answer.sentence.clone(),
    }
}
