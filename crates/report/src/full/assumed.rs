//! The answers and cells of a prediction that rest on unknown values of its site, in words.

use stormeter_results::{AssumedEffect, OtherValue};
use stormeter_statistics::Answer;

use super::words::shown_reply;
use crate::model::{AssumedAnswer, Report};
use crate::simulated::without_interval;
use crate::title::Titles;
use crate::{change, phrases};

/// A cell that changes by less with another value is not said to rest on it.
const LEAST_EFFECT: f64 = 0.1;
/// An answer whose number changes by less with another value does not rest on it: that may be chance in a short rerun.
const LEAST_CHANGE: f64 = 0.02;
/// How many values are listed for a cell.
const MOST_LISTED: usize = 3;

/// The answers of a report that another value would change, in the order of the questions.
pub(crate) fn assumed_answers(
    report: &Report,
    supposed: &[(OtherValue, Vec<Answer>)],
) -> Vec<AssumedAnswer> {
    let of_question = |question: usize, answer: &Answer| {
        let changed = move |(of, answers): &(OtherValue, Vec<Answer>)| {
            let other = without_interval(answers.get(question)?.clone());
            let is_other = shown_reply(report, answer) != shown_reply(report, &other)
                && number_changes(answer, &other);
            is_other.then(|| AssumedAnswer { question, of: of.clone(), answer: other })
        };
        supposed.iter().filter_map(changed).collect::<Vec<_>>()
    };
    let answers = report.analysis.answers.iter().enumerate();
    answers.flat_map(|(question, answer)| of_question(question, answer)).collect()
}

fn number_changes(answer: &Answer, other: &Answer) -> bool {
    match (&answer.estimate, &other.estimate) {
        (Some(before), Some(after)) => {
            (after.value / before.value).ln().abs() > LEAST_CHANGE.ln_1p()
        }
        // An analysis of variance has no single number.
        _ => true,
    }
}

/// The sentences on what an answer rests on.
pub(crate) fn sentences(report: &Report, question: usize) -> Vec<String> {
    let own = report.assumed.iter().filter(|one| one.question == question);
    own.map(|one| sentence(report, one)).collect()
}

pub(crate) fn sentence(
    report: &Report,
    AssumedAnswer { of, answer, .. }: &AssumedAnswer,
) -> String {
    let titles = Titles::of_answer(report.plan(), answer);
    let number = phrases::answer_number(answer, titles);
    let number = number.map(|number| format!(" ({number})")).unwrap_or_default();
    format!("Rests on {}: {}{number}.", value(of), shown_reply(report, answer))
}

/// `the default 16 of controllers.nas.cache.destage-depth; with 2`.
fn value(OtherValue { parameter, value, other, is_default }: &OtherValue) -> String {
    let kind = if *is_default { "default" } else { "assumption" };
    format!("the {kind} {parameter} = {value}; with {other}")
}

/// The effects that a cell rests on, the largest first.
pub(crate) fn effects(of_cell: impl Iterator<Item = AssumedEffect>) -> Vec<AssumedEffect> {
    let size = |one: &AssumedEffect| one.ratio.ln().abs();
    let mut all: Vec<AssumedEffect> =
        of_cell.filter(|one| size(one) >= LEAST_EFFECT.ln_1p()).collect();
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
    all
}

/// The sentence on the assumed values that a cell rests on; `None` if it rests on none.
pub(crate) fn of_cell(effects: &[AssumedEffect], titles: Titles) -> Option<String> {
    let title = titles.of(effects.first()?.metric);
    let each = effects.iter().take(MOST_LISTED).map(|AssumedEffect { of, ratio, .. }| {
        let OtherValue { parameter, value, other, .. } = of;
        format!("{parameter} = {other} instead of {value}, {}", change::show(*ratio))
    });
    let more = match effects.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let each: Vec<String> = each.collect();
    Some(format!("{title} with other plausible values: {}{more}.", each.join("; ")))
}
