//! A time line as a page: the sentences, what weakens them, then each cell with a chart for each metric and the values.

use super::chart::over_runs;
use super::model::{Timeline, TimelineCell, TimelineMetric};
use super::words;
use crate::markup::Markup;
use crate::page::{document, findings, tables, typographic};
use crate::quantity::metric_value;
use crate::sides::words as of_sides;
use crate::title::Titles;

const STYLE: &str = include_str!("timeline.css");

/// The page; `version` is that of the program.
pub fn html(timeline: &Timeline, version: &str) -> String {
    let mut page = Markup::default();
    document::start(&mut page, &title(timeline), &[STYLE], "");
    page.tag("main").open();
    page.tag("p").at("class", "kicker").text("Runs over time");
    let headline = words::headline(timeline);
    page.tag("h1").at("class", if headline.len() > 1 { "several" } else { "" }).open();
    for (verdict, sentence) in &headline {
        let class = verdict.map_or(String::new(), |it| format!(" {}", of_sides::class(it)));
        page.tag("span").at("class", format!("verdict{class}")).text(&typographic(sentence));
    }
    page.close();
    let found = words::findings(timeline);
    if !found.is_empty() {
        page.tag("div").at("class", "findings").open();
        for group in &findings::groups(&found) {
            findings::show(&mut page, group);
        }
        page.close();
    }
    for (place, cell) in timeline.cells.iter().enumerate() {
        page.tag("section").open();
        page.leaf("h2", &cell.name);
        of_cell(&mut page, timeline, (place, cell));
        page.close();
    }
    runs(&mut page, timeline);
    document::end_with(page, &format!("Made by stormeter {version}."))
}

fn title(timeline: &Timeline) -> String {
    let labels: Vec<&str> = timeline.marks.iter().map(|mark| mark.label.as_str()).collect();
    match labels.is_empty() {
        true => format!("{} runs", timeline.runs.len()),
        false => format!("{} runs, before and after {}", timeline.runs.len(), labels.join(", ")),
    }
}

fn of_cell(page: &mut Markup, timeline: &Timeline, (place, cell): (usize, &TimelineCell)) {
    for metric in &cell.metrics {
        page.tag("figure").at("class", "course").open();
        page.leaf("h3", Titles::Usual.of(metric.metric));
        for sides in &timeline.compared {
            let Some((verdict, said)) = words::at_mark(sides, cell, metric.metric) else {
                continue;
            };
            let class = format!("at-mark word {}", of_sides::class(verdict));
            page.tag("p").at("class", class).text(&typographic(&said));
        }
        let id = format!("cell-{place}-{}", metric.metric.name());
        if let Some((narrow, wide)) = over_runs(timeline, cell, metric, &id) {
            page.append(narrow);
            page.append(wide);
        }
        values(page, timeline, metric);
        page.close();
    }
}

/// The values of a metric, run by run.
fn values(page: &mut Markup, timeline: &Timeline, metric: &TimelineMetric) {
    page.tag("details").open();
    page.leaf("summary", "Values");
    let head = ["run", "began", "value", "±", "to previous", "to first"].map(String::from);
    let rows = timeline.runs.iter().zip(&metric.values).map(|(run, value)| {
        let mut row = vec![run.name.clone(), words::began(run)];
        row.extend(match value {
            Some(value) => [
                metric_value(metric.metric, value.value),
                words::half_width(value.value, value.within),
                words::change(value.previous.as_ref(), true),
                words::change(value.first.as_ref(), true),
            ],
            None => ["–", "", "", ""].map(String::from),
        });
        row
    });
    tables::plain(page, &head, rows.collect());
    page.close();
}

fn runs(page: &mut Markup, timeline: &Timeline) {
    page.tag("section").open();
    page.leaf("h2", "Runs");
    let head = ["run", "began", "made by", "file"].map(String::from);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, run) in timeline.runs.iter().enumerate() {
        let marks = timeline.marks.iter().enumerate();
        let here = marks.filter(|(mark, _)| timeline.before(*mark) == place);
        rows.extend(here.map(|(_, mark)| vec![format!("— {} —", words::mark(mark))]));
        let made_by = run.run.made_by.clone();
        rows.push(vec![run.name.clone(), words::began(run), made_by, run.run.file.clone()]);
    }
    tables::plain(page, &head, rows);
    page.tag("p").at("class", "caption").text(&typographic(&words::caption(timeline)));
    page.close();
}
