//! The answers: all of them in one table, then the basis of each, question by question.

use stormeter_statistics::{Answer, Reply};

use super::figure::figure;
use super::forest::{self, forest};
use crate::full::assumed;
use crate::full::grid::Grid;
use crate::full::remarks::{self, Shared};
use crate::full::words::{self, Scale};
use crate::label::elide;
use crate::markup::Markup;
use crate::model::Report;
use crate::page::{tables, typographic};
use crate::phrases;
use crate::quantity::{level_percent, percent};
use crate::title::Titles;

/// Up to this number of questions, the details are open.
const MOST_OPEN: usize = 2;

/// The questions, for the table of contents.
pub(super) fn places(grid: &Grid<'_>) -> Vec<(String, String)> {
    let answers = grid.report.analysis.answers.iter().enumerate();
    answers
        .map(|(index, answer)| {
            let question = elide_end(&answer.question, 46);
            let words = format!("{} {question}", symbol(words::marked_reply(grid.report, answer)));
            (anchor(index), words)
        })
        .collect()
}

fn anchor(index: usize) -> String {
    format!("question-{}", index + 1)
}

fn elide_end(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.into();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// A sign next to the word, so that a reply does not depend on its colour.
fn symbol(reply: Reply) -> &'static str {
    match reply {
        Reply::Yes => "✓",
        Reply::No => "✕",
        Reply::Inconclusive => "?",
        Reply::NotAnswered => "–",
    }
}

/// What stands next to a question.
fn pill(report: &Report, answer: &Answer) -> String {
    let reply = words::marked_reply(report, answer);
    format!("{} {}", symbol(reply), words::shown_reply(report, answer))
}

pub(super) fn answers(grid: &Grid<'_>) -> Option<Markup> {
    let answers = &grid.report.analysis.answers;
    // A model without random variation detects any difference.
    let power = grid.report.analysis.power.filter(|power| grid.is_shown(power.log_ratio_sd));
    if answers.is_empty() && power.is_none() {
        return None;
    }
    let mut page = Markup::default();
    overview(&mut page, grid);
    let shared = remarks::shared(answers);
    for (index, answer) in answers.iter().enumerate() {
        let is_open = answers.len() <= MOST_OPEN;
        self::answer(&mut page, grid, answer, index, &shared, is_open);
    }
    for one in &shared {
        page.tag("p").at("class", "remark shared").open();
        page.leaf("strong", &format!("On {}: ", one.of(answers.len())));
        page.text(&typographic(&phrases::remark(one.remark, grid.titles())));
        page.close();
    }
    if let Some(power) = &power {
        let words = words::power(grid.report.plan(), power);
        page.tag("p").at("class", "caption power").open();
        page.leaf("strong", "What this study could have found. ");
        page.text(&typographic(&words));
        page.close();
    }
    Some(page)
}

/// Every question in a line, and the changes in one picture.
fn overview(page: &mut Markup, grid: &Grid<'_>) {
    let answers = &grid.report.analysis.answers;
    if answers.is_empty() {
        return;
    }
    let plan = grid.report.plan();
    let estimates = || answers.iter().filter_map(|answer| answer.estimate.as_ref());
    let has_interval = estimates().any(|estimate| estimate.interval.is_some());
    let is_all_changes =
        answers.iter().all(|answer| answer.estimate.is_none() || answer.unit().is_none());
    let estimate = if is_all_changes { "change" } else { "change or value" };
    let mut head = vec!["question", "answer", estimate];
    head.extend(has_interval.then_some("interval"));
    let usual = usual_level(answers);
    tables::table(page, "overview stacked");
    page.tag("thead").open();
    page.tag("tr").open();
    for name in &head {
        page.tag("th").at("scope", "col").text(name);
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    for (index, answer) in answers.iter().enumerate() {
        line(page, (plan.design.level, usual), (grid.report, answer), index, &head);
    }
    tables::close_table(page);
    if let Some(caption) = caption(plan.design.level, answers) {
        page.tag("p").at("class", "caption").text(&typographic(&caption));
    }
    if let Some(chart) = forest::overview(grid) {
        figure(
            page,
            chart,
            "The change that each question is about, better to the right, in the order of the table.",
        );
    }
}

fn line(
    page: &mut Markup,
    (level, usual): (f64, Option<f64>),
    (report, answer): (&Report, &Answer),
    index: usize,
    head: &[&'static str],
) {
    let scale = Scale::of(answer, Titles::of_answer(report.plan(), answer));
    let estimate = answer.estimate.as_ref();
    page.tag("tr").at("class", words::class_of(words::marked_reply(report, answer))).open();
    page.tag("th").at("scope", "row").open();
    page.tag("a").at("href", format!("#{}", anchor(index))).text(&answer.question);
    if answer.must && answer.reply == Reply::No {
        page.text(" ");
        page.tag("strong").at("class", "must").text("must hold");
    }
    page.close();
    page.tag("td").at("data-label", head[1]).open();
    let word = pill(report, answer);
    page.tag("span").at("class", "pill").text(&word);
    page.text(if is_by_itself(level, answer) { "†" } else { "" });
    page.close();
    let value = estimate.map(|estimate| typographic(&scale.show(estimate.value)));
    page.tag("td").at("data-label", head[2]).text(&value.unwrap_or_default());
    if let Some(label) = head.get(3) {
        let range = estimate.and_then(|estimate| {
            let range = scale.range(estimate.value, &estimate.interval?);
            // The usual level is explained once, below.
            Some(match usual.is_some_and(|usual| is_level(usual, estimate.level)) {
                true => range,
                false => format!("{range} ({} %)", level_percent(estimate.level)),
            })
        });
        page.tag("td").at("data-label", *label).text(&typographic(&range.unwrap_or_default()));
    }
    page.close();
}

/// The level that most of the intervals have, which is explained once and not repeated with each; `None`
/// without an interval.
fn usual_level(answers: &[Answer]) -> Option<f64> {
    let estimates = answers.iter().filter_map(|answer| answer.estimate.as_ref());
    let levels: Vec<f64> = estimates.filter_map(|it| it.interval.map(|_| it.level)).collect();
    let alike = |level: f64| levels.iter().filter(|other| is_level(**other, level)).count();
    levels.iter().copied().max_by_key(|level| alike(*level))
}

fn is_level(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

/// Whether a yes stands by itself only, and may be chance among all questions.
fn is_by_itself(level: f64, answer: &Answer) -> bool {
    answer.reply == Reply::Yes && answer.p_value_adjusted.is_some_and(|p| p > 1.0 - level)
}

/// The levels of answers and intervals, explained once for all questions; `None` where nothing was tested.
fn caption(level: f64, answers: &[Answer]) -> Option<String> {
    let usual = usual_level(answers);
    if usual.is_none() && answers.iter().all(|answer| answer.p_value.is_none()) {
        return None;
    }
    let mut text = format!("Each question is answered by itself at {} %", level_percent(level));
    if let Some(usual) = usual {
        let estimates = answers.iter().filter_map(|answer| answer.estimate.as_ref());
        let mut levels = estimates.filter(|it| it.interval.is_some()).map(|it| it.level);
        let is_one = levels.all(|other| is_level(other, usual));
        text += &match is_level(usual, level) {
            true => ", which is also the level of its interval".to_string(),
            false => format!("; its interval is at {} %", level_percent(usual)),
        };
        text += if is_one { "" } else { " unless another is shown" };
        // The interval that belongs to a one-sided test.
        if !(is_one && is_level(usual, level)) {
            text += &format!(
                ". An interval at {} % belongs to a question with a direction or a margin: it leaves {} % \
                 beyond each of its ends",
                level_percent(2.0 * level - 1.0),
                percent(1.0 - level)
            );
        }
    }
    text += ".";
    if answers.iter().any(|answer| is_by_itself(level, answer)) {
        text += &format!(
            " † The answer holds for that question alone: among this many questions, a yes of this \
             strength may be chance (p of all above {:.2} by Holm's correction).",
            1.0 - level
        );
    }
    Some(text)
}

fn answer(
    page: &mut Markup,
    grid: &Grid<'_>,
    answer: &Answer,
    index: usize,
    shared: &[Shared<'_>],
    is_open: bool,
) {
    let titles = Titles::of_answer(grid.report.plan(), answer);
    let class = format!("answer {}", words::class_of(words::marked_reply(grid.report, answer)));
    let tag = page.tag("details").at("class", class);
    if is_open {
        tag.at("open", "").open()
    } else {
        tag.open()
    }
    page.tag("summary").at("class", "question").open();
    let word = pill(grid.report, answer);
    page.tag("span").at("class", "pill").text(&word);
    page.text(" ");
    page.text(&answer.question);
    page.close();
    // A link to what is inside opens the details; one to the details themselves would not.
    page.tag("div").at("class", "inside").at("id", anchor(index)).open();
    page.tag("p").at("class", "sentence").text(&typographic(&phrases::answer(answer, titles)));
    let error = phrases::model_error(&grid.report.header, answer);
    for doubt in error.into_iter().chain(assumed::sentences(grid.report, index)) {
        page.tag("p").at("class", "remark").text(&typographic(&doubt));
    }
    if answer.must && answer.reply == Reply::No {
        page.tag("p").at("class", "must").text("This must hold, and it does not.");
    }
    if let Some(chart) = forest(grid, answer, &format!("forest-{}", index + 1)) {
        page.tag("figure").open();
        page.append(chart);
        page.close();
    }
    basis(page, answer, titles);
    for remark in remarks::own(answer, shared) {
        page.tag("p").at("class", "remark").text(&typographic(&phrases::remark(remark, titles)));
    }
    if let Some(table) = &answer.table {
        let head = ["term", "sum of squares", "df", "mean square", "F", "p", "partial η²"];
        let rows = table.rows.iter().map(|row| {
            let or_dash = |value: Option<String>| value.unwrap_or_default();
            vec![
                phrases::row_term(&row.term),
                typographic(&words::number(row.sum_of_squares)),
                words::number(row.df),
                typographic(&words::number(row.mean_square)),
                or_dash(row.f.map(|f| typographic(&words::number(f)))),
                or_dash(row.p.map(words::bare_p)),
                or_dash(row.partial_eta_squared.map(|eta| format!("{eta:.3}"))),
            ]
        });
        tables::plain(page, &head.map(String::from), rows.collect());
    }
    parts(page, answer, titles);
    page.close();
    page.close();
}

/// Estimate, p and test in one line.
fn basis(page: &mut Markup, answer: &Answer, titles: Titles) {
    let mut words = Vec::new();
    words
        .extend(answer.estimate.as_ref().map(|estimate| words::estimate(answer, estimate, titles)));
    // What belongs together is not torn apart at the end of a line.
    let p = |words: String| words.replace(' ', "\u{202f}");
    words.extend(answer.p_value.map(|value| p(words::p_value(value))));
    words.extend(answer.p_value_adjusted.map(words::p_of_all));
    if words::has_test(answer) {
        words.push(phrases::test(answer, titles));
    }
    if !words.is_empty() {
        page.tag("p").at("class", "basis").text(&typographic(&words.join(" · ")));
    }
}

fn parts(page: &mut Markup, answer: &Answer, titles: Titles) {
    if answer.parts.is_empty() {
        return;
    }
    let scale = Scale::of(answer, titles);
    page.leaf("h4", "Load by load");
    let head = ["load", "estimate", "interval", "reply"].map(String::from);
    let rows = answer.parts.iter().map(|part| {
        let range = part.interval.map(|interval| typographic(&scale.range(part.value, &interval)));
        vec![
            elide(&phrases::load(&part.load), 60),
            typographic(&scale.show(part.value)),
            range.unwrap_or_default(),
            format!("{} {}", symbol(part.reply), words::reply(part.reply)),
        ]
    });
    tables::plain(page, &head, rows.collect());
}
