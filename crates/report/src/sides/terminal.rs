//! Sides as text for a terminal: the sentences, what weakens them, then a table for each load.

use stormeter_statistics::Verdict;

use super::model::{SideMetric, Sides, SidesLoad};
use super::words;
use crate::columns::Columns;
use crate::printable::printable;
use crate::text::{Paint, Style, TerminalOptions, findings, plain, push_line, wrap};

/// The text, ending in a line break.
pub fn terminal(sides: &Sides, options: TerminalOptions) -> String {
    let width = options.width.clamp(40, 120);
    let paint = Paint(options.color);
    let mut text = String::new();
    for (verdict, sentence) in words::headline(sides) {
        let style = verdict.map_or(Style::Bold, Style::of);
        for line in wrap(&printable(&plain(&sentence)), width, "", "") {
            push_line(&mut text, &paint.with(style, &line));
        }
    }
    push_line(&mut text, "");
    findings(&words::findings(sides), width, paint, &mut text);
    for side in &sides.sides {
        push_line(&mut text, &paint.with(Style::Bold, &format!("  {}", printable(&side.name))));
        for run in &side.runs {
            for line in wrap(&printable(&words::run(run)), width, "    ", "      ") {
                push_line(&mut text, &line);
            }
        }
    }
    for load in &sides.loads {
        push_line(&mut text, "");
        push_line(&mut text, &paint.with(Style::Bold, &printable(&load.name)));
        table(sides, load, (width, paint), &mut text);
    }
    if sides.sides.len() > 1 {
        push_line(&mut text, "");
        for line in wrap(&printable(&words::caption(sides)), width, "", "") {
            push_line(&mut text, &paint.with(Style::Dim, &line));
        }
    }
    text
}

fn table(sides: &Sides, load: &SidesLoad, (width, paint): (usize, Paint), text: &mut String) {
    let mut rows: Vec<[String; 5]> = Vec::new();
    let mut styles: Vec<Style> = Vec::new();
    for metric in &load.metrics {
        for row in rows_of(sides, load, metric) {
            styles.push(row.1.map_or(Style::Plain, Style::of));
            rows.push(row.0);
        }
    }
    let columns =
        Columns { indent: 2, gap: 2, left: &[true, true, false, false, true], has_head: false };
    let lines = columns.lines(&rows, width);
    // Rows that do not fit take several lines, and these have no colour of their own.
    let is_aligned = lines.len() == rows.len();
    for (place, (_, line)) in lines.iter().enumerate() {
        let style = if is_aligned { styles[place] } else { Style::Plain };
        push_line(text, &paint.with(style, line));
    }
}

/// A metric's rows: a side each, the metric named in the first.
fn rows_of(
    sides: &Sides,
    load: &SidesLoad,
    metric: &SideMetric,
) -> Vec<([String; 5], Option<Verdict>)> {
    let mut rows = Vec::new();
    for (place, value) in metric.values.iter().enumerate() {
        let Some(value) = value else { continue };
        let title = if rows.is_empty() { words::title(metric) } else { "" };
        let shown = words::value(metric.metric, value.value, value.between_runs);
        let verdict = value.compared.as_ref().map(|it| sides.verdict(load, place, it));
        let change = value.compared.as_ref().map(words::change).unwrap_or_default();
        let word = verdict.map(words::word).unwrap_or_default();
        let name = printable(&sides.sides[place].name);
        rows.push((
            [title.to_owned(), name, plain(&shown), plain(&change), word.to_owned()],
            verdict,
        ));
    }
    rows
}
