//! What a report says, for the page of a run in progress: the same words and figures, and only those.

use super::model::{Estimated, Judgement};
use crate::compact::Compact;
use crate::compact::sentence::{headline, sentence, verdict_sign, verdict_word, verdict_word_for};
use crate::full::words;
use crate::model::Report;
use crate::phrases;
use crate::title::Titles;

/// What the report of the trials so far says.
pub fn judgement(report: &Report) -> Judgement {
    let (sentences, estimates) = match Compact::of(report) {
        Some(comparison) => of_comparison(&comparison),
        None => of_answers(report),
    };
    Judgement {
        trials: report.status.trials,
        blocks: report.status.blocks,
        sentences,
        estimates,
        findings: report.findings.clone(),
    }
}

type Said = (Vec<(&'static str, String, String)>, Vec<Estimated>);

fn of_comparison(report: &Compact) -> Said {
    let primaries = || report.primaries();
    let sentences = primaries().map(|of| {
        let verdict = of.comparison.verdict;
        let word = format!("{} {}", verdict_sign(verdict), verdict_word_for(of.metric, verdict));
        (verdict_word(verdict), word, sentence(report, of))
    });
    let estimates = primaries().map(|of| Estimated {
        name: format!(
            "{} against {}, {}",
            report.label(of.candidate),
            report.label(of.baseline),
            of.metric.title()
        ),
        place: Some(of.candidate),
        ratio: of.comparison.ratio,
        interval: (of.comparison.interval.low, of.comparison.interval.high),
    });
    let mut sentences: Vec<_> = sentences.collect();
    if sentences.is_empty() {
        sentences.extend(headline(report).into_iter().map(|said| ("none", String::new(), said)));
    }
    (sentences, estimates.collect())
}

fn of_answers(report: &Report) -> Said {
    let plan = report.plan();
    let answers = &report.analysis.answers;
    let sentences = answers.iter().map(|answer| {
        let class = words::class_of(words::marked_reply(report, answer));
        let said = phrases::answer_sentence(answer, plan);
        (class, words::shown_reply(report, answer).to_owned(), said)
    });
    let estimates = answers.iter().filter_map(|answer| {
        let estimate = answer.estimate.as_ref().filter(|_| answer.unit().is_none())?;
        let interval = estimate.interval?;
        let titles = Titles::of_answer(plan, answer);
        Some(Estimated {
            name: phrases::estimated(answer, titles),
            // A question is about a factor, which may be no datastore.
            place: None,
            ratio: estimate.value,
            interval: (interval.low, interval.high),
        })
    });
    (sentences.collect(), estimates.collect())
}
