//! A study as one page: no font, no picture, nothing to fetch. On a wide screen
//! it has a table of contents at its side; long parts are folded away in `details`, which need no script.
//!
//! The order is that of a reader's questions: what are the answers, can I trust them, what does the whole look
//! like, how does it depend on the load, how are the observations distributed, what did the host do, what about
//! this one cell, how was it measured.

mod answers;
mod cells;
mod desktops;
mod figure;
mod findings;
mod forest;
mod guests;
mod matrix;
mod method;
mod monitoring;
mod shapes;
mod spread;
mod why;

use super::grid::Grid;
use super::why::predicted_for;
use super::words;
use crate::date;
use crate::markup::Markup;
use crate::model::Report;
use crate::page::{document, typographic};

/// The page.
pub(crate) fn html(report: &Report) -> String {
    let grid = Grid::of(report);
    let sections = sections(&grid);
    let mut page = Markup::default();
    // A prediction among open tabs and bookmarks must not pass for a measurement.
    let predicted = if grid.is_predicted() { "PREDICTED: " } else { "" };
    let title = format!("{predicted}{}", report.plan().study);
    document::start(&mut page, &title, &[include_str!("study.css")], "study");
    contents(&mut page, &sections);
    page.tag("main").open();
    heading(&mut page, &grid);
    for section in sections {
        page.tag("section").at("id", section.id).open();
        page.leaf("h2", section.title);
        page.append(section.content);
        page.close();
    }
    document::end(page, &report.header.stormeter_version, &report.header.run_id)
}

/// A part of the page, with its entries in the table of contents.
struct Section {
    id: &'static str,
    title: &'static str,
    /// Places within it: anchor and words.
    places: Vec<(String, String)>,
    content: Markup,
}

/// The sections that are not empty.
fn sections(grid: &Grid<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |id, title, places, content: Option<Markup>| {
        sections.extend(content.map(|content| Section { id, title, places, content }));
    };
    // Without a question it says only what the study can detect.
    let has_answers = !grid.report.analysis.answers.is_empty();
    let title = if has_answers { "Answers" } else { "Sensitivity" };
    add("answers", title, answers::places(grid), answers::answers(grid));
    add("findings", "Findings", vec![], findings::findings(grid));
    add("matrix", "Relative to the baseline", matrix::places(grid), matrix::matrix(grid));
    add("why", "What limits each cell", vec![], why::why(grid));
    add("desktops", "Desktops", vec![], desktops::desktops(grid));
    add("interaction", "Interaction of load and workload", vec![], shapes::shapes(grid));
    add("spread", "Descriptive statistics", vec![], spread::spread(grid));
    add("monitoring", "Host activity", vec![], monitoring::whole_study(grid));
    add("guests", "Guest activity", vec![], guests::guests(grid));
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
    let predicted = predicted_for(grid);
    if !predicted.is_empty() {
        page.tag("div").at("class", "predicted").open();
        page.leaf("strong", "PREDICTED");
        for words in predicted {
            page.leaf("p", &typographic(&words));
        }
        page.close();
    }
    page.leaf("h1", &report.plan().study);
    page.tag("p").at("class", "tally").text(&typographic(&words::tally(report)));
    page.tag("p").at("class", "status").text(&typographic(&words::status(report)));
    page.close();
    findings::at_top(page, grid);
}
