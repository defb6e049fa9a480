//! An answer's estimate and its parts with their intervals, one under the other: a forest plot.

use stormeter_statistics::{Answer, Interval, Reply};

use crate::full::words::{self, Scale as Shown};
use crate::label::elide;
use crate::markup::Markup;
use crate::quantity::level_percent;
use crate::svg::{Across, Scale, WIDTH, chart, ends_of, line, text, whisker};

const LEFT: f64 = 216.0;
const RIGHT: f64 = 196.0;
const TOP: f64 = 8.0;
const ROW: f64 = 24.0;
const LONGEST_LABEL: usize = 27;
/// More parts than this are left to the table.
const MOST_PARTS: usize = 24;
/// Ratios that differ by more than this factor are drawn on a logarithmic axis.
const LINEAR_UP_TO: f64 = 6.0;

/// So many times beyond the farthest value an interval may reach before it is cut off.
const REACH: f64 = 2.0;

struct Row {
    label: String,
    value: f64,
    interval: Option<Interval>,
    reply: Reply,
    is_whole: bool,
}

/// The plot; `None` when there is nothing to estimate.
pub(crate) fn forest(answer: &Answer, id: &str) -> Option<Markup> {
    let shown = Shown::of(answer);
    let mut rows: Vec<Row> = Vec::new();
    if answer.parts.len() <= MOST_PARTS {
        rows.extend(answer.parts.iter().map(|part| Row {
            label: part.load.clone(),
            value: part.value,
            interval: part.interval,
            reply: part.reply,
            is_whole: false,
        }));
    }
    let is_alone = rows.is_empty();
    rows.extend(answer.estimate.iter().map(|estimate| Row {
        label: if is_alone { estimate.of.clone() } else { "all loads".into() },
        value: estimate.value,
        interval: estimate.interval,
        reply: answer.reply,
        is_whole: true,
    }));
    rows.retain(|row| row.value.is_finite());
    if rows.is_empty() {
        return None;
    }
    // Where there is no difference: at a ratio of 1, and at 0 where an interval reaches below it.
    let reference = match shown {
        Shown::Ratio => Some(1.0),
        _ => rows.iter().any(|row| row.interval.is_some_and(|i| i.low <= 0.0)).then_some(0.0),
    };
    let (x, is_log) = axis(&rows, reference, shown == Shown::Ratio);
    let height = TOP + rows.len() as f64 * ROW + 30.0;
    let title = format!("Estimate: {}", answer.question);
    let mut markup = chart(id, height, &title, &description(&rows, shown));
    let bottom = TOP + rows.len() as f64 * ROW;
    for tick in x.ticks(5) {
        let at = x.at(tick);
        line(&mut markup, "grid", (at, TOP), (at, bottom)).empty();
        text(&mut markup, "tick middle", (at, bottom + 16.0), &shown.tick(tick, is_log));
    }
    if let Some(at) = reference.map(|reference| x.at(reference)) {
        line(&mut markup, "baseline", (at, TOP - 4.0), (at, bottom)).empty();
    }
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + (index as f64 + 0.5) * ROW;
        self::row(&mut markup, row, &x, y, shown);
    }
    Some(markup)
}

/// The axis, and whether it is logarithmic.
fn axis(rows: &[Row], reference: Option<f64>, is_ratio: bool) -> (Scale, bool) {
    let intervals = || rows.iter().filter_map(|row| Some((row.interval?.low, row.interval?.high)));
    if is_ratio {
        let (low, high) = ends_of(rows.iter().map(|row| row.value), intervals(), REACH);
        if high / low > LINEAR_UP_TO {
            return (Scale::log_rounded(low, high, LEFT, WIDTH - RIGHT), true);
        }
        let reserve = (high - low).max(0.01) * 0.06;
        return (Scale::linear(low - reserve, high + reserve, LEFT, WIDTH - RIGHT), false);
    }
    let ends = rows.iter().map(|row| row.value);
    let ends = ends.chain(intervals().flat_map(|(low, high)| [low, high]));
    // An interval without end is drawn to the edge and does not set the axis.
    let ends = ends.filter(|end| end.is_finite() && end.abs() < 1e15);
    let start = reference.or(rows.first().map(|row| row.value)).unwrap_or(0.0);
    let (mut low, mut high) = (start, start);
    for end in ends {
        low = low.min(end);
        high = high.max(end);
    }
    let reserve = ((high - low) * 0.06).max(start.abs() * 0.01);
    (Scale::linear(low - reserve, high + reserve, LEFT, WIDTH - RIGHT), false)
}

fn row(markup: &mut Markup, row: &Row, x: &Scale, y: f64, shown: Shown) {
    markup.tag("g").open();
    markup.leaf("title", &told(row, shown));
    markup
        .tag("rect")
        .at("class", "hit")
        .at("x", 0.0)
        .at("y", y - ROW / 2.0)
        .at("width", WIDTH)
        .at("height", ROW)
        .empty();
    let class = if row.is_whole { "name end strong" } else { "name end" };
    text(markup, class, (LEFT - 14.0, y + 4.5), &elide(&row.label, LONGEST_LABEL));
    if let Some(interval) = row.interval {
        whisker(markup, "", x, (interval.low, interval.high), Across::Row(y));
    }
    let (at, half) = (x.at(row.value), if row.is_whole { 6.0 } else { 4.0 });
    let points = [(at, y - half), (at + half, y), (at, y + half), (at - half, y)];
    let class = format!("reply-mark {}", class_of(row.reply));
    markup.tag("path").at("class", class).at("d", crate::svg::path(&points) + "Z").empty();
    let words = format!("{}, {}", shown.show(row.value), words::reply(row.reply));
    let class = if row.is_whole { "value start strong" } else { "value start" };
    text(markup, class, (WIDTH - RIGHT + 16.0, y + 4.5), &words);
    markup.close();
}

/// A row in words.
fn told(row: &Row, shown: Shown) -> String {
    let interval = row.interval.map(|interval| {
        let range = shown.range(row.value, &interval);
        format!(", {} % interval {range}", level_percent(interval.level))
    });
    format!("{}: {}{}", row.label, shown.show(row.value), interval.unwrap_or_default())
}

/// The class that carries a reply's colour.
pub(crate) fn class_of(reply: Reply) -> &'static str {
    match reply {
        Reply::Yes => "yes",
        Reply::No => "no",
        Reply::Inconclusive => "inconclusive",
        Reply::NotAnswered => "unanswered",
    }
}

fn description(rows: &[Row], shown: Shown) -> String {
    rows.iter().map(|row| told(row, shown) + ". ").collect()
}
