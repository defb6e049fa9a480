//! `questions`: a list of sentences in the grammar of questions.

use super::document::Value;
use super::error::{Faults, Place};
use super::section::Section;
use crate::study_plan::StudyPlan;

/// The questions as they stand, each with its place.
pub(super) fn read(study: &Section<'_>, faults: &mut Faults) -> Vec<(String, Place)> {
    let Some(node) = study.get("questions") else { return Vec::new() };
    let items = match &node.value {
        Value::Nothing => return Vec::new(),
        Value::List(items) => items.as_slice(),
        // One question needs no list.
        _ => std::slice::from_ref(node),
    };
    let mut questions = Vec::new();
    for item in items {
        match item.text().map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => questions.push((text.to_owned(), item.place)),
            None => faults.at(
                item.place,
                format!(
                    "a question is a sentence, not {}; write it like - nas is within 10% of local in iops, in \
                     quotes if it has a colon",
                    item.found()
                ),
            ),
        }
    }
    questions
}

/// Holds every question against the names and levels of the plan.
pub(super) fn check(plan: &StudyPlan, questions: &[(String, Place)], faults: &mut Faults) {
    for (text, place) in questions {
        if let Err(message) = check_question(text, plan) {
            faults.at(*place, message);
        }
    }
}

/// Whether a question can be asked of the plan; the reason if not.
fn check_question(_text: &str, _plan: &StudyPlan) -> Result<(), String> {
    Ok(())
}
