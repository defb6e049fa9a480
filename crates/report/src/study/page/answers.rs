//! Question by question: the reply, the sentence, what it rests on.

use stormeter_statistics::{Answer, AnswerEstimate, Reply};

use crate::html::{tables, typographic};
use crate::label::elide;
use crate::markup::Markup;
use crate::study::draw::forest::{class_of, forest};
use crate::study::grid::Grid;
use crate::study::remarks::{self, Shared};
use crate::study::words::{self, Scale};

/// The questions, for the table of contents.
pub(super) fn places(grid: &Grid<'_>) -> Vec<(String, String)> {
    let answers = grid.report.analysis.answers.iter().enumerate();
    answers
        .map(|(index, answer)| {
            let question = elide_end(&answer.question, 46);
            let words = format!("{} {question}", symbol(answer.reply));
            (format!("question-{}", index + 1), words)
        })
        .collect()
}

fn elide_end(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.into();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// A sign beside the word, so that a reply does not hang on its colour.
fn symbol(reply: Reply) -> &'static str {
    match reply {
        Reply::Yes => "✓",
        Reply::No => "✕",
        Reply::Inconclusive => "?",
        Reply::NotAnswered => "–",
    }
}

pub(super) fn answers(grid: &Grid<'_>) -> Option<Markup> {
    let answers = &grid.report.analysis.answers;
    if answers.is_empty() && grid.report.analysis.power.is_none() {
        return None;
    }
    let mut page = Markup::default();
    let shared = remarks::shared(answers);
    for (index, answer) in answers.iter().enumerate() {
        self::answer(&mut page, answer, index + 1, &shared);
    }
    for one in &shared {
        page.tag("p").at("class", "remark shared").open();
        page.leaf("strong", &format!("To {}: ", one.of(answers.len())));
        page.text(&typographic(one.remark));
        page.close();
    }
    if let Some(power) = &grid.report.analysis.power {
        let words = words::power(grid.report.plan(), power);
        page.tag("p").at("class", "caption power").open();
        page.leaf("strong", "What this study could have found. ");
        page.text(&typographic(&words));
        page.close();
    }
    Some(page)
}

fn answer(page: &mut Markup, answer: &Answer, number: usize, shared: &[Shared<'_>]) {
    let class = class_of(answer.reply);
    page.tag("article")
        .at("class", format!("answer {class}"))
        .at("id", format!("question-{number}"))
        .open();
    page.tag("p").at("class", "question").open();
    let word = format!("{} {}", symbol(answer.reply), words::reply(answer.reply));
    page.tag("span").at("class", "pill").text(&word);
    page.text(" ");
    page.text(&answer.question);
    if answer.must && answer.reply == Reply::No {
        page.text(" ");
        page.tag("strong").at("class", "must").text("must hold");
    }
    page.close();
    page.tag("p").at("class", "sentence").text(&typographic(&answer.sentence));
    if let Some(chart) = forest(answer, &format!("forest-{number}")) {
        page.tag("figure").open();
        page.append(chart);
        page.close();
    }
    basis(page, answer, answer.estimate.as_ref());
    for remark in remarks::own(answer, shared) {
        page.tag("p").at("class", "remark").text(&typographic(remark));
    }
    if let Some(table) = &answer.table {
        let head = ["term", "sum of squares", "df", "mean square", "F", "p", "partial η²"];
        let rows = table.rows.iter().map(|row| {
            let or_dash = |value: Option<String>| value.unwrap_or_default();
            vec![
                row.term.clone(),
                typographic(&words::number(row.sum_of_squares)),
                words::number(row.df),
                typographic(&words::number(row.mean_square)),
                or_dash(row.f.map(|f| typographic(&words::number(f)))),
                or_dash(row.p.map(|p| words::p_value(p).replace("p = ", "").replace("p ", ""))),
                or_dash(row.partial_eta_squared.map(|eta| format!("{eta:.3}"))),
            ]
        });
        tables::plain(page, &head.map(String::from), rows.collect());
    }
    parts(page, answer);
    page.close();
}

/// Estimate, p and test in one line.
fn basis(page: &mut Markup, answer: &Answer, estimate: Option<&AnswerEstimate>) {
    let mut words = Vec::new();
    words.extend(estimate.map(|estimate| words::estimate(answer, estimate)));
    // What belongs together is not torn apart at the end of a line.
    words.extend(answer.p_value.map(|p| words::p_value(p).replace(' ', "\u{202f}")));
    if words::has_test(answer) {
        words.push(answer.test.clone());
    }
    if !words.is_empty() {
        page.tag("p").at("class", "basis").text(&typographic(&words.join(" · ")));
    }
}

fn parts(page: &mut Markup, answer: &Answer) {
    if answer.parts.is_empty() {
        return;
    }
    let scale = Scale::of(answer);
    page.tag("details").open();
    page.leaf("summary", "Load by load");
    let head = ["load", "estimate", "interval", "reply"].map(String::from);
    let rows = answer.parts.iter().map(|part| {
        vec![
            elide(&part.load, 60),
            typographic(&scale.show(part.value)),
            part.interval.map(|i| typographic(&scale.range(&i))).unwrap_or_default(),
            format!("{} {}", symbol(part.reply), words::reply(part.reply)),
        ]
    });
    tables::plain(page, &head, rows.collect());
    page.close();
}
