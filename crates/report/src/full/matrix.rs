//! The matrix of a study on a terminal: one metric of all cells, a row for each load and a column for each datastore.
//!
//! Changes have their interval wherever at least one datastore fits next to the baseline; tables that are too wide
//! are split by datastores, and where not even two fit, each has its own line.

use stormeter_study::Metric;

use super::grid::{Grid, Load};
use super::words;
use crate::capital::capital;
use crate::change;
use crate::compact::sentence::verdict_sign;
use crate::printable::printable;
use crate::text::{Paint, Style, pad_left, pad_right, plain, push_line, wrap};

/// Columns of white space between two datastores.
const GAP: usize = 3;

/// A datastore with its entry in each row.
struct Column {
    name: String,
    entries: Vec<Entry>,
}

/// What the matrix shows of a cell; a cell of the baseline has only its value.
#[derive(Default)]
struct Entry {
    change: String,
    /// In parentheses.
    interval: String,
    /// The sign of the verdict.
    sign: &'static str,
    absolute: String,
    style: Style,
}

/// Writes absolute values of the baseline, and changes and absolute values of the others; gives whether the changes
/// have their intervals.
pub(super) fn matrix(
    grid: &Grid<'_>,
    metric: Metric,
    width: usize,
    paint: Paint,
    text: &mut String,
) -> bool {
    let title = format!(
        "{} ({}); baseline: {}",
        capital(grid.title(metric)),
        words::about(grid.report, metric),
        printable(&grid.datastore(grid.baseline()))
    );
    let rows = labels(grid);
    let columns: Vec<Column> =
        grid.columns().into_iter().map(|d| Column::of(grid, metric, &rows, d)).collect();
    let rows: Vec<&str> = rows.iter().map(|(label, _)| label.as_str()).collect();
    let head = rows.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let Some((base, others)) = columns.split_first() else { return true };
    let of_base = head + GAP + base.width(true);
    let widest = |with_interval: bool| others.iter().map(|o| GAP + o.width(with_interval)).max();
    let fits = |with_interval: &bool| of_base + widest(*with_interval).unwrap_or(0) <= width;
    let Some(with_interval) = [true, false].into_iter().find(fits) else {
        return stacked(&title, &rows, &columns, (width, paint), text);
    };
    let mut rest = others;
    let mut is_first = true;
    while is_first || !rest.is_empty() {
        let title = if is_first { title.clone() } else { format!("{title}, continued") };
        is_first = false;
        let mut used = of_base;
        let taken = rest.iter().take_while(|column| {
            used += GAP + column.width(with_interval);
            used <= width
        });
        let (now, later) = rest.split_at(taken.count());
        rest = later;
        for line in wrap(&title, width, "", "  ") {
            push_line(text, &paint.with(Style::Bold, &line));
        }
        let shown: Vec<&Column> = std::iter::once(base).chain(now).collect();
        let mut line = " ".repeat(head);
        for column in &shown {
            line += &" ".repeat(GAP);
            line += &pad_left(&column.name, column.width(with_interval));
        }
        push_line(text, &paint.with(Style::Bold, line.trim_end()));
        for (index, label) in rows.iter().enumerate() {
            let mut line = pad_right(label, head);
            for column in &shown {
                let cell = column.aligned(index, with_interval);
                let width = GAP + column.width(with_interval);
                line += &" ".repeat(width.saturating_sub(cell.chars().count()));
                line += &paint.with(column.entries[index].style, &cell);
            }
            push_line(text, line.trim_end());
        }
        push_line(text, "");
    }
    with_interval
}

/// A line for each datastore below each load, or two.
fn stacked(
    title: &str,
    rows: &[&str],
    columns: &[Column],
    (width, paint): (usize, Paint),
    text: &mut String,
) -> bool {
    for line in wrap(title, width, "", "  ") {
        push_line(text, &paint.with(Style::Bold, &line));
    }
    let longest = |with_interval: bool, is_below: bool| {
        let of = |column: &Column| {
            let name = if is_below { 0 } else { column.name.chars().count() };
            let entries = column.entries.iter().map(|entry| entry.shown(with_interval));
            6 + name + entries.map(|shown| shown.chars().count()).max().unwrap_or(0)
        };
        columns.iter().map(of).max().unwrap_or(0)
    };
    let (with_interval, is_below) = [(true, false), (true, true), (false, false)]
        .into_iter()
        .find(|(with_interval, is_below)| longest(*with_interval, *is_below) <= width)
        .unwrap_or((false, true));
    for (index, label) in rows.iter().enumerate() {
        push_line(text, label);
        for column in columns {
            let entry = &column.entries[index];
            let name = &column.name;
            match paint.with(entry.style, &entry.shown(with_interval)) {
                cell if cell.is_empty() => {}
                cell if is_below => {
                    push_line(text, &format!("    {name}"));
                    push_line(text, &format!("      {cell}"));
                }
                cell => push_line(text, &format!("    {name}  {cell}")),
            }
        }
    }
    push_line(text, "");
    with_interval
}

/// The labels of rows; a workload with several loads has its own row above them.
fn labels<'a>(grid: &'a Grid<'_>) -> Vec<(String, Option<&'a Load>)> {
    let workloads = grid.report.plan().workloads.len();
    let mut rows = Vec::new();
    for workload in 0..workloads {
        let loads = grid.loads_of(workload);
        let name = printable(&grid.workload(workload));
        match loads.as_slice() {
            [only] => rows.push((format!("{name}, {}", only.label), Some(*only))),
            loads => {
                rows.push((name, None));
                rows.extend(loads.iter().map(|load| (format!("  {}", load.label), Some(*load))));
            }
        }
    }
    rows
}

impl Column {
    fn of(
        grid: &Grid<'_>,
        metric: Metric,
        rows: &[(String, Option<&Load>)],
        datastore: usize,
    ) -> Self {
        let entry =
            |load: Option<&Load>| Some(Entry::of(grid, *load?.cells.get(datastore)?, metric));
        Self {
            name: printable(&grid.datastore(datastore)),
            entries: rows.iter().map(|(_, load)| entry(*load).unwrap_or_default()).collect(),
        }
    }

    fn width(&self, with_interval: bool) -> usize {
        let cells = (0..self.entries.len()).map(|index| self.aligned(index, with_interval));
        let cells = cells.map(|cell| cell.chars().count());
        cells.chain([self.name.chars().count()]).max().unwrap_or(0)
    }

    /// An entry with its parts below those of the others; as a whole it is aligned right.
    fn aligned(&self, index: usize, with_interval: bool) -> String {
        let entry = &self.entries[index];
        if entry.change.is_empty() {
            return entry.absolute.clone();
        }
        let widest = |part: fn(&Entry) -> &str| {
            let entries = self.entries.iter().filter(|entry| !entry.change.is_empty());
            entries.map(|entry| part(entry).chars().count()).max().unwrap_or(0)
        };
        let mut text = pad_left(&entry.change, widest(|entry| &entry.change));
        let interval = widest(|entry| &entry.interval);
        if with_interval && interval > 0 {
            text += &format!(" {}", pad_right(&entry.interval, interval));
        }
        let absolute = pad_left(&entry.absolute, widest(|entry| &entry.absolute));
        format!("{text} {} {absolute}", pad_right(entry.sign, 1))
    }
}

impl Entry {
    fn of(grid: &Grid<'_>, cell: usize, metric: Metric) -> Self {
        let Some(value) = grid.value(cell, metric) else {
            let is_failed = grid.summary(cell).is_some_and(|summary| summary.failed.is_some());
            let absolute = if is_failed { "failed" } else { "–" }.into();
            return Self { absolute, ..Self::default() };
        };
        let absolute = grid.quantity(cell, metric, value.value).to_string();
        let relative = grid.relative(cell, metric).filter(|_| !grid.is_baseline(cell));
        let Some(relative) = relative else { return Self { absolute, ..Self::default() } };
        let interval = grid.interval(relative).map(|interval| {
            let range = change::range(relative.ratio, &interval);
            format!("({})", plain(&range))
        });
        let verdict = relative.comparison.as_ref().map(|comparison| comparison.verdict);
        Self {
            change: plain(&change::show(relative.ratio)),
            interval: interval.unwrap_or_default(),
            sign: verdict.map(verdict_sign).unwrap_or_default(),
            absolute,
            style: verdict.map(Style::of).unwrap_or_default(),
        }
    }

    /// The entry by itself: `−23.4 % (−24.8 to −22.0 %) ▼ 98 378`.
    fn shown(&self, with_interval: bool) -> String {
        let interval = if with_interval { self.interval.as_str() } else { "" };
        let parts = [self.change.as_str(), interval, self.sign, self.absolute.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
