//! A study as one page: no script, no font, no picture to fetch. A table of contents stands beside it on
//! a wide screen; what is long is folded away in `details`, which need no script.
//!
//! The order is that of a reader's questions: what are the answers, may I trust them, what does the
//! whole look like, where does it bend, how are the observations spread, what did the host do, what
//! about this one cell, how was it done.

mod answers;
mod cells;
mod matrix;
mod method;
mod monitoring;
mod shapes;
mod spread;
mod why;

use super::grid::Grid;
use super::model::StudyReport;
use super::why::predicted_for;
use super::words;
use crate::date;
use crate::html::{POLICY, finding, typographic};
use crate::markup::Markup;
use crate::model::Severity;
use crate::svg::color_class;
use crate::wording;

/// Broken laws that are told at the top; the others stand in their section.
const MOST_AT_TOP: usize = 4;
/// Findings shown before the rest is folded away.
const MOST_UNFOLDED: usize = 12;

/// The page.
pub fn study_html(report: &StudyReport) -> String {
    let grid = Grid::of(report);
    let sections = sections(&grid);
    let mut page = Markup::default();
    page.tag("html").at("lang", "en").open();
    page.tag("head").open();
    page.tag("meta").at("charset", "utf-8").empty();
    page.tag("meta").at("http-equiv", "Content-Security-Policy").at("content", POLICY).empty();
    page.tag("meta")
        .at("name", "viewport")
        .at("content", "width=device-width, initial-scale=1")
        .empty();
    page.tag("meta").at("name", "color-scheme").at("content", "light dark").empty();
    page.leaf("title", &report.plan().study);
    page.style(include_str!("../../html/page.css"));
    page.style(include_str!("study.css"));
    page.close();
    page.tag("body").at("class", "study").open();
    contents(&mut page, &sections);
    page.tag("main").open();
    heading(&mut page, &grid);
    for section in sections {
        page.tag("section").at("id", section.id).open();
        page.leaf("h2", section.title);
        page.append(section.content);
        page.close();
    }
    page.tag("footer").open();
    page.tag("p").text(&format!(
        "Made by stormeter {} from run {}. Intervals are at the level shown; metrics beside the \
         primary one are adjusted by Holm.",
        report.header.stormeter_version, report.header.run_id
    ));
    format!("<!DOCTYPE html>\n{}", page.finish())
}

/// A part of the page, with what the table of contents says of it.
struct Section {
    id: &'static str,
    title: &'static str,
    /// Places within it: anchor and words.
    places: Vec<(String, String)>,
    content: Markup,
}

/// The sections that have something to say.
fn sections(grid: &Grid<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |id, title, places, content: Option<Markup>| {
        sections.extend(content.map(|content| Section { id, title, places, content }));
    };
    add("answers", "Answers", answers::places(grid), answers::answers(grid));
    add("findings", "Findings", vec![], findings(grid));
    add("matrix", "Relative to the baseline", matrix::places(grid), matrix::matrix(grid));
    add("why", "What holds each cell back", vec![], why::why(grid));
    add("interaction", "How load and workload act together", vec![], shapes::shapes(grid));
    add("spread", "How observations are spread", vec![], spread::spread(grid));
    add("monitoring", "The host meanwhile", vec![], monitoring::whole_study(grid));
    add("cells", "Cell by cell", vec![], cells::cells(grid));
    let method = match grid.report.header.prediction {
        Some(_) => "How it was predicted",
        None => "How it was measured",
    };
    add("method", method, vec![], Some(method::method(grid)));
    add("datastores", "Datastores", vec![], Some(method::datastores(grid)));
    add("environment", "Environment", vec![], Some(method::environment(grid)));
    add("repeat", "Repeat it", vec![], Some(method::repeat(grid)));
    sections
}

fn contents(page: &mut Markup, sections: &[Section]) {
    page.tag("nav").at("class", "contents").at("aria-label", "Contents").open();
    page.tag("ul").open();
    for section in sections {
        page.tag("li").open();
        page.tag("a").at("href", format!("#{}", section.id)).text(section.title);
        if !section.places.is_empty() {
            page.tag("ul").open();
            for (anchor, words) in &section.places {
                page.tag("li").open();
                page.tag("a").at("href", format!("#{anchor}")).text(words);
                page.close();
            }
            page.close();
        }
        page.close();
    }
    page.close();
    page.close();
}

fn heading(page: &mut Markup, grid: &Grid<'_>) {
    let report = grid.report;
    page.tag("header").open();
    page.tag("p").at("class", "kicker").open();
    page.leaf("strong", "Stormeter");
    page.text(" · study · ");
    page.text(&date::utc(report.header.created_unix_ms));
    page.close();
    page.leaf("h1", &report.plan().study);
    for words in predicted_for(grid) {
        page.tag("p").at("class", "status").text(&typographic(&words));
    }
    page.tag("p").at("class", "tally").text(&typographic(&words::tally(report)));
    page.tag("p").at("class", "status").text(&typographic(&wording::status(&report.status)));
    page.close();
    let invalid = || report.findings.iter().filter(|f| f.severity == Severity::Invalid);
    if invalid().next().is_some() {
        page.tag("div").at("class", "findings").open();
        invalid().take(MOST_AT_TOP).for_each(|invalid| finding(page, invalid));
        page.close();
    }
}

fn findings(grid: &Grid<'_>) -> Option<Markup> {
    let all = &grid.report.findings;
    let failed: Vec<_> = grid.failed().collect();
    if all.is_empty() && failed.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    let (shown, folded) = all.split_at(all.len().min(MOST_UNFOLDED));
    page.tag("div").at("class", "findings").open();
    shown.iter().for_each(|one| finding(&mut page, one));
    page.close();
    if !folded.is_empty() {
        page.tag("details").open();
        page.leaf("summary", &format!("{} more", folded.len()));
        page.tag("div").at("class", "findings").open();
        folded.iter().for_each(|one| finding(&mut page, one));
        page.close();
        page.close();
    }
    if !failed.is_empty() {
        page.leaf("h3", "Failed trials");
        let head = ["cell", "failed", "measured", "why the first failed"].map(String::from);
        let rows = failed.into_iter().map(|(cell, count, reason)| {
            let measured = grid.summary(cell).map_or(0, |summary| summary.trials);
            vec![grid.name(cell), count.to_string(), measured.to_string(), reason.to_string()]
        });
        crate::html::tables::plain(&mut page, &head, rows.collect());
    }
    Some(page)
}

/// Which colour, mark and letter is which datastore; all that a legend says stands in this order in the
/// charts.
fn legend(page: &mut Markup, grid: &Grid<'_>, with_letters: bool) {
    page.tag("ul").at("class", "legend").open();
    for (place, datastore) in grid.columns().into_iter().enumerate() {
        page.tag("li").open();
        page.tag("span").at("class", format!("swatch {}", color_class(place))).text("");
        if with_letters {
            page.tag("span").at("class", "letter").text(&super::draw::letter(place));
            page.text(" ");
        }
        page.text(&grid.datastore(datastore));
        if datastore == grid.baseline() {
            page.text(" ");
            page.tag("small").text("baseline");
        }
        page.close();
    }
    page.close();
}

fn figure(page: &mut Markup, chart: Markup, caption: &str) {
    page.tag("figure").open();
    page.append(chart);
    if !caption.is_empty() {
        page.leaf("figcaption", &typographic(caption));
    }
    page.close();
}
