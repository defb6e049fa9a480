//! What is concluded so far, and how the intervals became narrower.

use super::model::Moment;
use super::narrowing::narrowing;
use crate::markup::Markup;
use crate::page::typographic;
use crate::wording::plural;

/// Sentences on the page; the report has all.
const MOST_SENTENCES: usize = 12;
pub(super) fn verdict(moment: &Moment) -> String {
    let mut part = Markup::default();
    part.leaf("h2", "So far");
    let Some(judgement) = &moment.judgement else {
        part.tag("p")
            .at("class", "caption")
            .text("Nothing can be said before the first trials have ended.");
        return part.finish();
    };
    for (class, word, sentence) in judgement.sentences.iter().take(MOST_SENTENCES) {
        part.tag("p").at("class", format!("said verdict {class} several")).open();
        if !word.is_empty() {
            part.tag("span").at("class", "pill").text(word);
            part.text(" ");
        }
        part.text(&typographic(sentence));
        part.close();
    }
    let further = judgement.sentences.len().saturating_sub(MOST_SENTENCES);
    if further > 0 {
        let more = format!("{} more in the report.", plural(further as u64, "answer"));
        part.tag("p").at("class", "caption").text(&more);
    }
    part.tag("p").at("class", "caption").open();
    let basis = format!(
        "From {} in {}. What is said before the end may still change: the verdict is the report's. ",
        plural(u64::from(judgement.trials), "trial"),
        plural(u64::from(judgement.blocks), "block")
    );
    part.text(&basis);
    part.tag("a")
        .at("href", "report")
        .at("target", "_blank")
        .text("Open the report of what is finished");
    part.text(".");
    part.close();
    if let Some(chart) = narrowing(judgement, &moment.history) {
        part.tag("figure").open();
        part.append(chart);
        part.leaf(
            "figcaption",
            "The estimate and its interval as trials were added. An interval that does not reach the dashed line \
             settles the direction.",
        );
        part.close();
    }
    part.finish()
}
