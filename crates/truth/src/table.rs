//! The figures as tables in Markdown.

use std::fmt::Write;

use crate::case::Case;
use crate::leave_out::LeftOut;
use crate::relation::Said;
use crate::score::{Predictor, Score};

/// A study with what was left out of its fit.
pub(crate) type Validated<'a> = (&'a Case, &'a Vec<LeftOut<'a>>);

/// By study and predictor: direction, median error, share within 15 %.
pub(crate) fn scores(title: &str, all: &[Validated<'_>]) -> String {
    let mut text = format!(
        "\n**{title}**\n\n| study | predictor | direction right | median error | within 15 % |\n|---|---|---:|---:|---:|\n"
    );
    let mut totals = Predictor::ALL.map(|predictor| (predictor, Score::default()));
    for (case, left_out) in all {
        for (predictor, total) in &mut totals {
            let score = Score::of(*predictor, case, left_out);
            row(&mut text, &case.name, *predictor, &score);
            total.add(&score);
        }
    }
    for (predictor, score) in &totals {
        row(&mut text, "all", *predictor, score);
    }
    text
}

fn row(text: &mut String, name: &str, predictor: Predictor, score: &Score) {
    let percent = |share: Option<f64>| {
        share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share))
    };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "| {name} | {} | {} of {} | {} | {} of {} |",
        predictor.name(),
        score.right,
        score.asked,
        percent(score.median()),
        percent(score.near()),
        score.errors.len(),
    );
}

/// Every relation with its prediction.
pub(crate) fn every(all: &[Validated<'_>]) -> String {
    let mut text = String::from(
        "\n**Each relation, its condition left out**\n\n| study | finding | condition | published | predicted |\n|---|---|---|---:|---:|\n",
    );
    for (case, left_out) in all {
        for out in *left_out {
            let relation = &out.placed.relation;
            let said = match relation.said {
                Said::Figure(value) => figure(value),
                Said::Claim(claim) => format!("{claim:?}").to_lowercase(),
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {said} | {} |",
                case.name,
                relation.finding,
                relation.condition,
                figure(out.predicted)
            );
        }
    }
    text
}

fn figure(value: f64) -> String {
    if value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}
