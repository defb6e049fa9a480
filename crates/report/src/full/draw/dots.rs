//! One metric of many loads in one picture: a row a load, a mark a datastore, all on one axis.
//!
//! What is compared stands on a common scale (Cleveland & McGill, *JASA* 79 (1984) 531-554): bars in a
//! chart a workload, each with an axis of its own, cannot be compared with each other, and thirteen of
//! them fill three screens.

use super::mark;
use crate::label::elide;
use crate::markup::Markup;
use crate::svg::{Across, Scale, WIDTH, chart, color_class, line, text, whisker};

const LEFT: f64 = 168.0;
const RIGHT: f64 = 112.0;
/// Room for the ticks above the rows; they stand below them too.
const TOP: f64 = 24.0;
const UNDER: f64 = 24.0;
/// Height of a mark's line, and of a row's margin.
const LINE: f64 = 15.0;
const MARGIN: f64 = 9.0;
const HEADING: f64 = 24.0;
const LONGEST_LABEL: usize = 22;

/// A picture.
pub(crate) struct Dots {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
    /// The axis without its place: lowest and highest value, and whether it is logarithmic.
    pub(crate) axis: (f64, f64, bool),
    /// Where a line across all rows stands: the baseline.
    pub(crate) reference: Option<f64>,
    /// How the axis writes a value.
    pub(crate) tick: Box<dyn Fn(f64) -> String>,
}

/// A load.
pub(crate) struct Row {
    /// Stands above the row where another group begins.
    pub(crate) heading: Option<String>,
    pub(crate) label: String,
    pub(crate) dots: Vec<Dot>,
}

/// A datastore at a load.
pub(crate) struct Dot {
    /// Place in the legend: colour and form of the mark.
    pub(crate) place: usize,
    /// What is said when the pointer rests on it.
    pub(crate) told: String,
    /// What stands at the right, and the class that colours it.
    pub(crate) words: String,
    pub(crate) tone: &'static str,
    /// `None`: it failed or was not measured, and only the words are shown.
    pub(crate) value: Option<f64>,
    pub(crate) ends: Option<(f64, f64)>,
    pub(crate) is_settled: bool,
}

/// The picture; `None` when there is nothing in it.
pub(crate) fn dots(dots: &Dots) -> Option<Markup> {
    if !dots.rows.iter().flat_map(|row| &row.dots).any(|dot| dot.value.is_some()) {
        return None;
    }
    let height_of = |row: &Row| {
        let heading = if row.heading.is_some() { HEADING } else { 0.0 };
        heading + row.dots.len().max(1) as f64 * LINE + MARGIN
    };
    let height = TOP + dots.rows.iter().map(height_of).sum::<f64>() + UNDER;
    let (low, high, is_log) = dots.axis;
    let x = match is_log {
        true => Scale::log_rounded(low, high, LEFT, WIDTH - RIGHT),
        false => Scale::linear(low, high, LEFT, WIDTH - RIGHT),
    };
    let mut markup = chart(&dots.id, height, &dots.title, &description(dots));
    let bottom = height - UNDER;
    for tick in x.ticks(7) {
        let at = x.at(tick);
        line(&mut markup, "grid", (at, TOP - 4.0), (at, bottom)).empty();
        for y in [TOP - 9.0, bottom + 15.0] {
            text(&mut markup, "tick middle", (at, y), &(dots.tick)(tick));
        }
    }
    if let Some(at) = dots.reference.map(|value| x.at(value)) {
        line(&mut markup, "baseline", (at, TOP - 4.0), (at, bottom)).empty();
    }
    let mut top = TOP;
    for row in &dots.rows {
        if let Some(heading) = &row.heading {
            text(&mut markup, "name start strong", (0.0, top + 16.0), &elide(heading, 60));
            top += HEADING;
        }
        let height = row.dots.len().max(1) as f64 * LINE + MARGIN;
        line(&mut markup, "row", (0.0, top), (WIDTH, top)).empty();
        let label = elide(&row.label, LONGEST_LABEL);
        text(&mut markup, "name end", (LEFT - 14.0, top + height / 2.0 + 4.0), &label);
        for (number, dot) in row.dots.iter().enumerate() {
            let y = top + MARGIN / 2.0 + (number as f64 + 0.5) * LINE;
            self::dot(&mut markup, dot, &x, y);
        }
        top += height;
    }
    Some(markup)
}

fn dot(markup: &mut Markup, dot: &Dot, x: &Scale, y: f64) {
    let faint = if dot.is_settled { "" } else { " unsettled" };
    markup.tag("g").at("class", format!("dot{faint}")).open();
    markup.leaf("title", &dot.told);
    // What the pointer can rest on: a mark is small.
    markup
        .tag("rect")
        .at("class", "hit")
        .at("x", LEFT)
        .at("y", y - LINE / 2.0)
        .at("width", WIDTH - LEFT)
        .at("height", LINE)
        .empty();
    if let Some(ends) = dot.ends {
        whisker(markup, &format!("own {}", color_class(dot.place)), x, ends, Across::Row(y));
    }
    if let Some(value) = dot.value.filter(|value| value.is_finite()) {
        mark(markup, dot.place, x.at(value), y);
    }
    let class = format!("value start tone {}", dot.tone);
    text(markup, &class, (WIDTH - RIGHT + 14.0, y + 4.0), &dot.words);
    markup.close();
}

fn description(dots: &Dots) -> String {
    const MOST: usize = 60;
    let told = dots.rows.iter().flat_map(|row| &row.dots).map(|dot| dot.told.as_str());
    let mut told: Vec<&str> = told.collect();
    if told.len() > MOST {
        told.truncate(MOST);
        told.push("the rest is in the table");
    }
    told.join(". ") + "."
}
