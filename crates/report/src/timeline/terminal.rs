//! A time line as text for a terminal: the sentences, what weakens them, the runs, then each cell with its trends. A
//! wide terminal has the metrics of a cell side by side, others have them one below the other.

use super::model::{Timeline, TimelineCell, TimelineMetric, TimelineValue};
use super::trend::trend;
use super::words;
use crate::columns::Columns;
use crate::label::elide;
use crate::printable::printable;
use crate::quantity::metric_value;
use crate::sides::words as of_sides;
use crate::text::{Paint, Style, TerminalOptions, findings, plain, push_line, wrap};
use crate::title::Titles;

const LONGEST_NAME: usize = 24;
const LONGEST_MARK: usize = 40;
/// Beyond it a line is hard to follow.
const MOST_WIDTH: usize = 200;

/// The text, ending in a line break.
pub fn terminal(timeline: &Timeline, options: TerminalOptions) -> String {
    let width = options.width.clamp(40, MOST_WIDTH);
    let prose = width.min(120);
    let paint = Paint(options.color);
    let mut text = String::new();
    for (verdict, sentence) in words::headline(timeline) {
        let style = verdict.map_or(Style::Bold, Style::of);
        for line in wrap(&printable(&plain(&sentence)), prose, "", "") {
            push_line(&mut text, &paint.with(style, &line));
        }
    }
    push_line(&mut text, "");
    findings(&words::findings(timeline), prose, paint, &mut text);
    runs(timeline, (prose, paint), &mut text);
    for cell in &timeline.cells {
        push_line(&mut text, "");
        push_line(&mut text, &paint.with(Style::Bold, &printable(&cell.name)));
        of_cell(timeline, cell, (width, paint), &mut text);
    }
    push_line(&mut text, "");
    for line in wrap(&printable(&plain(&words::caption(timeline))), prose, "", "") {
        push_line(&mut text, &paint.with(Style::Dim, &line));
    }
    text
}

/// The runs in order, with the marks between them.
fn runs(timeline: &Timeline, (width, paint): (usize, Paint), text: &mut String) {
    for (place, run) in timeline.runs.iter().enumerate() {
        for line in marks_at(timeline, place) {
            push_line(text, &paint.with(Style::Dim, &format!("  {line}")));
        }
        let what = format!("{}: {}", run.name, of_sides::run(&run.run));
        for line in wrap(&printable(&what), width, "  ", "    ") {
            push_line(text, &line);
        }
    }
}

/// Lines for the marks before a run.
fn marks_at(timeline: &Timeline, run: usize) -> Vec<String> {
    let marks = timeline.marks.iter().enumerate();
    let here = marks.filter(|(place, _)| timeline.before(*place) == run);
    here.map(|(_, mark)| format!("── {} ──", elide(&printable(&words::mark(mark)), LONGEST_MARK)))
        .collect()
}

fn of_cell(
    timeline: &Timeline,
    cell: &TimelineCell,
    (width, paint): (usize, Paint),
    text: &mut String,
) {
    let all: Vec<&TimelineMetric> = cell.metrics.iter().collect();
    let (before, columns) = (breaks(timeline), columns(all.len()));
    let rows = rows(timeline, &all);
    let lines = columns.lines(&rows, width);
    if all.len() > 1 && lines.len() == rows.len() {
        let trends = all.iter().map(|metric| line_of_trend(metric, &before));
        push_line(text, &format!("  {}", trends.collect::<Vec<_>>().join("   ")));
        table(timeline, lines, paint, text);
        all.iter().for_each(|metric| at_marks(timeline, cell, metric, (width, paint), text));
        return;
    }
    for metric in all {
        push_line(text, &format!("  {}", line_of_trend(metric, &before)));
        let rows = self::rows(timeline, &[metric]);
        let lines = self::columns(1).lines(&rows, width);
        match lines.len() == rows.len() {
            true => table(timeline, lines, paint, text),
            // Rows that do not fit take several lines.
            false => lines.iter().for_each(|(_, line)| push_line(text, line)),
        }
        at_marks(timeline, cell, metric, (width, paint), text);
    }
}

/// The places of runs with a mark before them.
fn breaks(timeline: &Timeline) -> Vec<usize> {
    (0..timeline.marks.len()).map(|mark| timeline.before(mark)).collect()
}

fn line_of_trend(metric: &TimelineMetric, marks: &[usize]) -> String {
    let values: Vec<Option<f64>> =
        metric.values.iter().map(|value| Some(value.as_ref()?.value)).collect();
    format!("{}  {}", Titles::Usual.of(metric.metric), trend(&values, marks))
}

/// Lines of a table that are lined up, with the marks between them.
fn table(timeline: &Timeline, lines: Vec<(bool, String)>, paint: Paint, text: &mut String) {
    let mut run = 0;
    for (is_head, line) in lines {
        if is_head {
            push_line(text, &paint.with(Style::Dim, &line));
            continue;
        }
        for mark in marks_at(timeline, run) {
            push_line(text, &paint.with(Style::Dim, &format!("    {mark}")));
        }
        push_line(text, &line);
        run += 1;
    }
}

fn columns(metrics: usize) -> Columns<'static> {
    const LEFT: [bool; 1 + 4 * 8] = {
        let mut left = [false; 1 + 4 * 8];
        left[0] = true;
        left
    };
    Columns { indent: 4, gap: 2, left: &LEFT[..(1 + 4 * metrics).min(LEFT.len())], has_head: true }
}

/// A head, and a row for each run.
fn rows(timeline: &Timeline, metrics: &[&TimelineMetric]) -> Vec<Vec<String>> {
    let mut head = vec!["run".to_owned()];
    for metric in metrics {
        let title = Titles::Usual.of(metric.metric);
        head.extend([title, "±", "to previous", "to first"].map(str::to_owned));
    }
    let row = |place: usize| {
        let name = elide(&printable(&timeline.runs[place].name), LONGEST_NAME);
        let cells = metrics.iter().flat_map(|it| cells_of(it, it.values[place].as_ref()));
        [name].into_iter().chain(cells).collect()
    };
    [head].into_iter().chain((0..timeline.runs.len()).map(row)).collect()
}

fn cells_of(metric: &TimelineMetric, value: Option<&TimelineValue>) -> [String; 4] {
    let Some(value) = value else { return ["–", "", "", ""].map(str::to_owned) };
    [
        metric_value(metric.metric, value.value),
        words::half_width(value.value, value.within),
        words::change(value.previous.as_ref(), true),
        words::change(value.first.as_ref(), false),
    ]
    .map(|cell| plain(&cell))
}

/// What the marks say of a metric.
fn at_marks(
    timeline: &Timeline,
    cell: &TimelineCell,
    metric: &TimelineMetric,
    (width, paint): (usize, Paint),
    text: &mut String,
) {
    for sides in &timeline.compared {
        let Some((verdict, said)) = words::at_mark(sides, cell, metric.metric) else { continue };
        let said = format!("{}, {said}", Titles::Usual.of(metric.metric));
        for line in wrap(&printable(&plain(&said)), width.min(120), "  → ", "    ") {
            push_line(text, &paint.with(Style::of(verdict), &line));
        }
    }
}
