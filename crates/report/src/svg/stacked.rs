//! Stacked bars: the parts of a whole, a bar for each row.
//!
//! Colour and order, which the legend repeats, distinguish the parts, so they can also be distinguished in print
//! and by readers who see no colours.

use super::{CHARACTER, Scale, WIDTH, chart, line, rect, text};
use crate::label::elide;
use crate::markup::Markup;

const TOP: f64 = 6.0;
/// The column of labels is as wide as its text, between these bounds.
const LABELS: (f64, f64) = (80.0, 236.0);
const RIGHT: f64 = 84.0;

/// A picture.
pub(crate) struct Stacked {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) rows: Vec<Row>,
    /// The end of the axis, which starts at 0.
    pub(crate) high: f64,
    /// How the axis writes a value.
    pub(crate) tick: fn(f64) -> String,
    /// Height of a row.
    pub(crate) row: f64,
}

/// A bar.
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) parts: Vec<Part>,
    /// What stands after the bar.
    pub(crate) whole: String,
}

/// A part of a bar.
pub(crate) struct Part {
    /// The class of its colour.
    pub(crate) class: String,
    /// The class of the words on it.
    pub(crate) on: String,
    pub(crate) length: f64,
    /// What is shown when the pointer rests on it.
    pub(crate) tooltip: String,
    /// What stands on it where there is room.
    pub(crate) words: String,
}

/// The picture; `None` without a row.
pub(crate) fn stacked(stacked: &Stacked) -> Option<Markup> {
    let longest = stacked.rows.iter().map(|row| row.label.chars().count()).max()?;
    let left = (longest as f64 * CHARACTER + 20.0).clamp(LABELS.0, LABELS.1);
    let x = Scale::linear(0.0, stacked.high, left, WIDTH - RIGHT);
    let bottom = TOP + stacked.rows.len() as f64 * stacked.row;
    let mut markup = chart(&stacked.id, bottom + 24.0, &stacked.title, &stacked.description);
    for tick in x.ticks(6) {
        let at = x.at(tick);
        line(&mut markup, "grid", (at, TOP), (at, bottom)).empty();
        text(&mut markup, "tick middle", (at, bottom + 16.0), &(stacked.tick)(tick));
    }
    let bar = stacked.row * 0.68;
    for (number, row) in stacked.rows.iter().enumerate() {
        let top = TOP + number as f64 * stacked.row + (stacked.row - bar) / 2.0;
        let middle = top + bar / 2.0 + 4.0;
        let label = elide(&row.label, ((left - 16.0) / CHARACTER) as usize);
        text(&mut markup, "name end", (left - 12.0, middle), &label);
        let mut from = 0.0;
        for part in &row.parts {
            let (start, end) = (x.at(from), x.at(from + part.length.max(0.0)));
            from += part.length.max(0.0);
            // What is too narrow to be seen only makes the page heavy.
            if end - start <= 0.05 {
                continue;
            }
            let class = format!("part {}", part.class);
            rect(&mut markup, &class, (start, top), (end - start, bar)).open();
            markup.leaf("title", &part.tooltip);
            markup.close();
            if end - start > part.words.chars().count() as f64 * CHARACTER + 8.0 {
                let class = format!("value middle {}", part.on);
                text(&mut markup, &class, ((start + end) / 2.0, middle), &part.words);
            }
        }
        text(&mut markup, "value start strong", (x.at(from) + 8.0, middle), &row.whole);
    }
    Some(markup)
}
