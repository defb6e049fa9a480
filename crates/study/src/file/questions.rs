//! Reads `questions`: a list of sentences in the grammar of questions.

use crate::question::{CAN_BE_ASKED, Vocabulary, parse};
use crate::study_plan::StudyPlan;
use stormeter_yaml::Section;
use stormeter_yaml::Value;
use stormeter_yaml::{Diagnostics, Place};

/// The questions as written, each with its position.
pub(super) fn read(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Vec<(String, Place)> {
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
            None => diagnostics.error_at(
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

/// The parts of the study that could be read, against which questions are checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Names of the datastores and of the workloads. Without them no question is checked: a name
    /// that is only missing would be reported as wrong.
    pub(super) names: bool,
    /// The levels of the load.
    pub(super) levels: bool,
    /// The study's metric.
    pub(super) metric: bool,
    /// Steps during trials.
    pub(super) steps: bool,
}

/// Changes the workloads of the plan as the questions that can be read demand.
pub(super) fn demand(plan: &mut StudyPlan, known: Known, questions: &[(String, Place)]) {
    if !known.names {
        return;
    }
    let vocabulary = Vocabulary::of(plan);
    let read = questions.iter().filter_map(|(text, _)| parse(text, &vocabulary).ok());
    read.for_each(|question| plan.demand(&question));
}

/// Checks every question against what is known of the names, levels and metric of the plan.
pub(super) fn check(
    plan: &StudyPlan,
    known: Known,
    questions: &[(String, Place)],
    diagnostics: &mut Diagnostics,
) {
    if !known.names {
        return;
    }
    let mut vocabulary = Vocabulary::of(plan);
    vocabulary.metric = vocabulary.metric.filter(|_| known.metric);
    for (text, place) in questions {
        if !known.levels {
            vocabulary.vms = levels_in(text);
            vocabulary.outstanding = vocabulary.vms.clone();
        }
        match parse(text, &vocabulary) {
            Ok(question) => {
                let metric = question.claim.metric();
                if let Some(message) = metric.and_then(|metric| plan.lacks(metric))
                    && known.steps
                {
                    diagnostics.error_at(*place, message);
                } else if let Some(message) = plan.never_durable(&question) {
                    diagnostics.error_at(*place, message);
                }
            }
            Err(error) => {
                diagnostics.error_at(within(text, *place, error.column), error.message());
                diagnostics.advise("what can be asked:", &CAN_BE_ASKED);
            }
        }
    }
}

/// Levels for which no level in the question is wrong: its own numbers, and two more, so that it
/// may refer to several.
fn levels_in(text: &str) -> Vec<u32> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).chain([0, u32::MAX]).collect()
}

/// The position of a column of the question. A text over several lines is marked as a whole.
fn within(text: &str, place: Place, column: usize) -> Place {
    let length = text.chars().count();
    let quote = match place.width.checked_sub(length) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return place,
    };
    Place { column: place.column + quote + column.max(1) - 1, width: 1, ..place }
}
