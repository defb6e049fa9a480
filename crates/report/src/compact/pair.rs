//! A candidate next to the baseline, a row for each metric, in the widest of three forms that fits: with the
//! spread of each absolute value, without it, or with one value per line.

use stormeter_study::Metric;

use super::model::{Compact, Datastore};
use crate::compact::sentence::verdict_word_for;
use crate::label::elide;
use crate::printable::printable;
use crate::quantity::{metric_value, spread_percent};
use crate::text::{Paint, Style, pad_left, pad_right, push_line};
use crate::uncertainty::relative;

/// Longest name of a datastore above a column, in characters.
const HEAD_LONGEST: usize = 18;

/// A metric of both datastores.
struct Row {
    title: String,
    base: Absolute,
    other: Absolute,
    relative: String,
    verdict: &'static str,
    style: Style,
}

/// A value and its spread, each aligned in its own column.
struct Absolute {
    value: String,
    spread: String,
}

pub(super) fn table(
    report: &Compact,
    candidate: usize,
    (width, paint): (usize, Paint),
    text: &mut String,
) {
    let (Some(base), Some(other)) = (report.baseline(), report.datastores.get(candidate)) else {
        return;
    };
    let names = [&base.label, &other.label].map(|label| elide(&printable(label), HEAD_LONGEST));
    let rows: Vec<Row> =
        report.metrics().into_iter().map(|m| row(report, (base, other), candidate, m)).collect();
    let lines = [true, false]
        .into_iter()
        .map(|with_spread| aligned(&names, &rows, with_spread))
        .find(|lines| lines.iter().all(|line| line.columns() <= width))
        .unwrap_or_else(|| stacked(&names, &rows, width));
    for line in lines {
        push_line(text, &line.painted(paint));
    }
}

fn row(
    report: &Compact,
    (base, other): (&Datastore, &Datastore),
    candidate: usize,
    metric: Metric,
) -> Row {
    let comparison = report.comparison(candidate, metric).map(|found| &found.comparison);
    let mark = if metric == report.header.plan.design.metric { " *" } else { "" };
    Row {
        title: format!("{}{mark}", metric.title()),
        base: Absolute::of(base, metric),
        other: Absolute::of(other, metric),
        relative: comparison.map_or("–".into(), |c| relative(c.ratio, &c.interval)),
        verdict: comparison.map_or("", |c| verdict_word_for(metric, c.verdict)),
        style: comparison.map_or(Style::Plain, |c| Style::of(c.verdict)),
    }
}

/// A line of which the end or all is coloured.
struct Line {
    plain: String,
    painted: String,
    style: Style,
}

impl Line {
    fn columns(&self) -> usize {
        // As without colour: escape sequences have no width.
        self.plain.chars().count() + self.painted.chars().count()
    }

    fn painted(&self, paint: Paint) -> String {
        match self.painted.as_str() {
            "" => self.plain.trim_end().to_owned(),
            painted => format!("{}{}", self.plain, paint.with(self.style, painted)),
        }
    }
}

fn widest<'a>(cells: impl Iterator<Item = &'a str>) -> usize {
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
}

fn aligned(names: &[String; 2], rows: &[Row], with_spread: bool) -> Vec<Line> {
    let title = widest(rows.iter().map(|row| row.title.as_str()));
    let relative =
        widest(rows.iter().map(|row| row.relative.as_str()).chain(std::iter::once("relative")));
    let sides: [fn(&Row) -> &Absolute; 2] = [|row| &row.base, |row| &row.other];
    let columns: Vec<Vec<String>> = sides
        .iter()
        .zip(names)
        .map(|(side, name)| {
            let spread = widest(rows.iter().map(|row| side(row).spread.as_str()));
            let cells = rows.iter().map(|row| side(row).shown(with_spread.then_some(spread)));
            std::iter::once(name.clone()).chain(cells).collect()
        })
        .collect();
    let widths: Vec<usize> =
        columns.iter().map(|cells| widest(cells.iter().map(String::as_str))).collect();
    let line = |index: usize, first: &str, last: &str| {
        format!(
            "{}  {}  {}  {}",
            pad_right(first, title),
            pad_left(&columns[0][index], widths[0]),
            pad_left(&columns[1][index], widths[1]),
            pad_left(last, relative),
        )
    };
    let head = Line { plain: String::new(), painted: line(0, "", "relative"), style: Style::Bold };
    let body = rows.iter().enumerate().map(|(index, row)| {
        let plain = line(index + 1, &row.title, &row.relative);
        let gap = if row.verdict.is_empty() { "" } else { "  " };
        Line { plain: format!("{plain}{gap}"), painted: row.verdict.into(), style: row.style }
    });
    std::iter::once(head).chain(body).collect()
}

/// Four lines for each metric, or five where the verdict does not fit after the interval.
fn stacked(names: &[String; 2], rows: &[Row], width: usize) -> Vec<Line> {
    let name = widest(names.iter().map(String::as_str).chain(std::iter::once("relative")));
    let values = rows.iter().flat_map(|row| [&row.base.value, &row.other.value, &row.relative]);
    let value = widest(values.map(String::as_str).filter(|value| !value.contains('(')));
    let mut lines = Vec::new();
    for row in rows {
        lines.push(Line { plain: String::new(), painted: row.title.clone(), style: Style::Bold });
        for (label, absolute) in names.iter().zip([&row.base, &row.other]) {
            let number = pad_left(&absolute.value, value);
            let plain = format!("  {}  {number} {}", pad_right(label, name), absolute.spread);
            lines.push(Line { plain, painted: String::new(), style: Style::Plain });
        }
        let number = pad_left(&row.relative, value);
        let plain = format!("  {}  {number}", pad_right("relative", name));
        let fits = plain.chars().count() + 2 + row.verdict.chars().count() <= width;
        let before = if fits { format!("{plain}  ") } else { " ".repeat(name + 4) };
        if !fits {
            lines.push(Line { plain, painted: String::new(), style: Style::Plain });
        }
        lines.push(Line { plain: before, painted: row.verdict.into(), style: row.style });
    }
    lines
}

impl Absolute {
    fn of(datastore: &Datastore, metric: Metric) -> Self {
        match datastore.value(metric) {
            None => Self { value: "–".into(), spread: String::new() },
            Some(value) => Self {
                value: metric_value(metric, value.value),
                spread: spread_percent(value).map(|s| format!("±{s}%")).unwrap_or_default(),
            },
        }
    }

    /// With its spread in this many columns, or without.
    fn shown(&self, spread: Option<usize>) -> String {
        match spread {
            Some(spread) => format!("{} {}", self.value, pad_left(&self.spread, spread)),
            None => self.value.clone(),
        }
    }
}
