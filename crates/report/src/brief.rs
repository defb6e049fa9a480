//! A result in a phrase, for lists of results: the words of the report, and only those.

use stormeter_results::Header;
use stormeter_study::StudyPlan;

use crate::change;
use crate::compact::Compact;
use crate::compact::sentence::{headline, verdict_word_for};
use crate::full::tally;
use crate::label::datastore_labels;
use crate::model::Report;

/// What a report says: the verdict on each candidate (`nas: faster (+32.6 %)`), or in a sentence how many questions
/// were answered how, or why there is no verdict.
pub fn brief(report: &Report) -> String {
    let Some(comparison) = Compact::of(report) else { return tally(report) };
    let of_candidates: Vec<String> = comparison
        .primaries()
        .map(|primary| {
            let word = verdict_word_for(primary.metric, primary.comparison.verdict);
            let change = change::show(primary.comparison.ratio);
            format!("{}: {word} ({change})", comparison.label(primary.candidate))
        })
        .collect();
    match of_candidates.is_empty() {
        true => headline(&comparison).join(" "),
        false => of_candidates.join("; "),
    }
}

/// What a run compares: the title of its study, or its datastores.
pub fn subject(header: &Header) -> String {
    subject_of(&header.plan)
}

/// The same of a run that has not started.
pub fn subject_of(plan: &StudyPlan) -> String {
    match plan.is_from_options() {
        true => datastore_labels(plan).join(", "),
        false => plan.study.clone(),
    }
}
