//! A candidate next to the baseline, a row for each metric, in the widest form that fits: a narrow terminal shows
//! less, and the narrowest one value per line.

use stormeter_study::Metric;

use super::model::{Compact, Datastore};
use crate::acknowledged;
use crate::change;
use crate::compact::sentence::{verdict_sign, verdict_word_for};
use crate::label::elide;
use crate::printable::printable;
use crate::quantity::{metric_value, spread_percent};
use crate::text::{Paint, Style, pad_left, pad_right, plain, push_line};

/// Longest name of a datastore in the width of its column, and in the line, in characters.
const HEAD_LONGEST: [usize; 2] = [18, 26];

/// How many columns a name may push the one on its left aside.
const MOST_ASIDE: usize = 3;

/// What a table shows of each metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Form {
    /// The intervals of the absolute values.
    spreads: bool,
    /// The intervals of the changes.
    pub(super) intervals: bool,
    /// Verdicts as words, not as signs.
    pub(super) words: bool,
}

/// The forms with a line for each metric, the widest first.
const FORMS: [Form; 4] = [
    Form { spreads: true, intervals: true, words: true },
    Form { spreads: false, intervals: true, words: true },
    Form { spreads: false, intervals: true, words: false },
    Form { spreads: false, intervals: false, words: true },
];
const STACKED: Form = FORMS[0];

/// A metric of both datastores.
struct Row {
    title: String,
    base: Absolute,
    other: Absolute,
    change: String,
    /// In parentheses.
    interval: String,
    word: &'static str,
    sign: &'static str,
    style: Style,
}

/// A value and its spread, each aligned in its own column.
struct Absolute {
    value: String,
    spread: String,
}

/// Writes the table and gives its form.
pub(super) fn table(
    report: &Compact,
    candidate: usize,
    (width, paint): (usize, Paint),
    text: &mut String,
) -> Form {
    let (Some(base), Some(other)) = (report.baseline(), report.datastores.get(candidate)) else {
        return STACKED;
    };
    let [names, long_names] = HEAD_LONGEST
        .map(|longest| [base, other].map(|store| elide(&printable(&store.label), longest)));
    let rows: Vec<Row> =
        report.metrics().into_iter().map(|m| row(report, (base, other), candidate, m)).collect();
    let (form, lines) = FORMS
        .into_iter()
        .flat_map(|form| [(form, Some(&names)), (form, None)])
        .map(|(form, names)| (form, aligned(names, &long_names, &rows, form)))
        .find(|(_, lines)| lines.iter().all(|line| line.columns() <= width))
        .unwrap_or_else(|| (STACKED, stacked(&names, &rows, width)));
    for line in lines {
        push_line(text, &line.painted(paint));
    }
    if let Some(words) = acknowledged::row(&report.header) {
        let of = |datastore: usize| words.get(datastore).copied().unwrap_or("–");
        let of_both = [of(report.header.plan.baseline), of(candidate)];
        promises(&names, of_both, width).iter().for_each(|line| push_line(text, line));
    }
    form
}

/// What acknowledged writes are on both, in a line for each: the words are longer than values, whose columns they must
/// not widen.
fn promises(names: &[String; 2], words: [&str; 2], width: usize) -> Vec<String> {
    let name = widest(names.iter().map(String::as_str));
    let mut lines = vec![acknowledged::TITLE.to_owned()];
    for (label, words) in names.iter().zip(words) {
        let line = format!("  {}  {words}", pad_right(label, name));
        match line.chars().count() <= width {
            true => lines.push(line),
            false => lines.extend([format!("  {label}"), format!("    {words}")]),
        }
    }
    lines
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
        change: comparison.map_or("–".into(), |c| plain(&change::show(c.ratio))),
        interval: comparison.map_or(String::new(), |c| {
            format!("({})", plain(&change::range(c.ratio, &c.interval)))
        }),
        word: comparison.map_or("", |c| verdict_word_for(metric, c.verdict)),
        sign: comparison.map_or("", |c| verdict_sign(c.verdict)),
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

    fn plain(plain: String) -> Self {
        Line { plain, painted: String::new(), style: Style::Plain }
    }

    fn head(painted: String) -> Self {
        Line { plain: String::new(), painted, style: Style::Bold }
    }
}

fn widest<'a>(cells: impl Iterator<Item = &'a str>) -> usize {
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// A line for each metric. Without `names`, which widen their columns, `long_names` stand above, on two lines where
/// one has no room; each ends where its column does.
fn aligned(
    names: Option<&[String; 2]>,
    long_names: &[String; 2],
    rows: &[Row],
    form: Form,
) -> Vec<Line> {
    let sides: [fn(&Row) -> &Absolute; 2] = [|row| &row.base, |row| &row.other];
    let [bases, others] = sides.map(|side| -> Vec<String> {
        let spread = widest(rows.iter().map(|row| side(row).spread.as_str()));
        rows.iter().map(|row| side(row).shown(form.spreads.then_some(spread))).collect()
    });
    let [base_name, other_name] = names.unwrap_or(long_names).each_ref().map(String::as_str);
    // A long title may stand next to a short value.
    let titled = rows.iter().zip(&bases).map(|(row, base)| format!("{}  {base}", row.title));
    let titled: Vec<String> = titled.collect();
    let base_end = widest(titled.iter().map(String::as_str).chain([base_name]));
    let other_width =
        widest(others.iter().map(String::as_str).chain(names.is_some().then_some(other_name)));
    let change = widest(rows.iter().map(|row| row.change.as_str()).chain(["change"]));
    let interval = widest(rows.iter().map(|row| row.interval.as_str()));
    let line = |title: &str, base: &str, other: &str, last: &str| {
        let base = pad_left(base, base_end.saturating_sub(title.chars().count()));
        format!("{title}{base}  {}  {}", pad_left(other, other_width), pad_left(last, change))
    };
    let mut lines = Vec::new();
    if names.is_some() {
        lines.push(Line::head(line("", base_name, other_name, "change")));
    } else {
        let end = base_end + 2 + other_width;
        let change = pad_left("change", change);
        let (base, other) = match other_name.chars().count() <= other_width + MOST_ASIDE {
            true => (None, format!("{base_name}  {}", pad_left(other_name, other_width))),
            false => (Some(pad_left(base_name, base_end)), other_name.to_owned()),
        };
        lines.extend(base.map(Line::head));
        lines.push(Line::head(format!("{}  {change}", pad_left(&other, end))));
    }
    for (row, (base, other)) in rows.iter().zip(bases.iter().zip(&others)) {
        let mut plain = line(&row.title, base, other, &row.change);
        if form.intervals {
            plain += &format!(" {}", pad_right(&row.interval, interval));
        }
        let verdict = if form.words { row.word } else { row.sign };
        if !verdict.is_empty() {
            plain.push(' ');
        }
        lines.push(Line { plain, painted: verdict.into(), style: row.style });
    }
    lines
}

/// Four lines for each metric, or more where interval and verdict do not fit after the change.
fn stacked(names: &[String; 2], rows: &[Row], width: usize) -> Vec<Line> {
    let name = widest(names.iter().map(String::as_str));
    let values = rows.iter().flat_map(|row| [&row.base.value, &row.other.value]);
    let value = widest(values.map(String::as_str));
    let mut lines = Vec::new();
    for row in rows {
        lines.push(Line::head(row.title.clone()));
        for (label, absolute) in names.iter().zip([&row.base, &row.other]) {
            let number = pad_left(&absolute.value, value);
            let plain = format!("  {}  {number} {}", pad_right(label, name), absolute.spread);
            lines.push(Line::plain(plain));
        }
        let mut plain = format!("  {}", row.change);
        let mut make_room = |plain: &mut String, part: &str| {
            if plain.chars().count() + 1 + part.chars().count() > width {
                lines.push(Line::plain(std::mem::replace(plain, " ".repeat(3))));
            }
            plain.push(' ');
        };
        make_room(&mut plain, &row.interval);
        plain += &row.interval;
        make_room(&mut plain, row.word);
        lines.push(Line { plain, painted: row.word.into(), style: row.style });
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
