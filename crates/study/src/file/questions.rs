//! `questions`: a list of sentences in the grammar of questions.

use super::document::Value;
use super::error::{Faults, Place};
use super::section::Section;
use crate::question::{CAN_BE_ASKED, Vocabulary, parse};
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
                    "a question is a sentence, not {}; write it like - nas is within 10% of local \
                     in iops, in quotes if it has a colon",
                    item.found()
                ),
            ),
        }
    }
    questions
}

/// Holds every question against the names and levels of the plan.
pub(super) fn check(plan: &StudyPlan, questions: &[(String, Place)], faults: &mut Faults) {
    let vocabulary = Vocabulary::of(plan);
    for (text, place) in questions {
        if let Err(error) = parse(text, &vocabulary) {
            faults.at(within(text, *place, error.column), error.message());
            faults.advise("what can be asked:", &CAN_BE_ASKED);
        }
    }
}

/// The place of a column of the question. A text over several lines is pointed at as a whole.
fn within(text: &str, place: Place, column: usize) -> Place {
    let length = text.chars().count();
    let quote = match place.width.checked_sub(length) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return place,
    };
    Place { column: place.column + quote + column.max(1) - 1, width: 1, ..place }
}
