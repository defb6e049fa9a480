//! Charts as inline SVG: each with a title and a description for those who do not see it.
//!
//! Colours and fonts come from the page's style sheet through classes (`s0`, `s1`, … are the
//! datastores), so one drawing serves light, dark and print. Text cannot be measured here; its
//! width is estimated, and charts leave room accordingly.

mod bars;
mod cpu;
mod histogram;
mod percentile;
mod scale;
mod series;
mod whisker;

pub(crate) use bars::bars;
pub(crate) use cpu::{PARTS, cpu, parts};
pub(crate) use histogram::histogram;
pub(crate) use percentile::percentile;
pub(crate) use series::series;
pub(crate) use whisker::{Across, ends_of, whisker};

use crate::markup::{Markup, Tag, coordinate};
pub(crate) use scale::Scale;

use crate::quantity::duration;

/// Width of every chart in its own units; the page scales it to the column.
pub(crate) const WIDTH: f64 = 760.0;
/// Colours in the style sheet; more datastores begin again, with other dashes.
const COLORS: usize = 7;
/// Mean width of a character of the charts' text.
pub(crate) const CHARACTER: f64 = 6.8;
/// The same for the bold labels of datastores.
pub(crate) const BOLD_CHARACTER: f64 = 8.0;

/// The class that carries a datastore's colour.
pub(crate) fn color_class(datastore: usize) -> String {
    format!("s{}", datastore % COLORS)
}

/// Line patterns, so that curves differ without colour too.
pub(crate) fn dashes(datastore: usize) -> &'static str {
    ["none", "7 3", "2 2", "9 3 2 3", "5 2 1 2 1 2", "12 4", "1 3"][datastore % COLORS]
}

/// Begins a chart. `id` must be unique on the page.
pub(crate) fn chart(id: &str, height: f64, title: &str, description: &str) -> Markup {
    let mut markup = Markup::default();
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
    markup
        .tag("svg")
        .at("viewBox", format!("0 0 {} {}", coordinate(WIDTH), coordinate(height)))
        .at("role", "img")
        .at("aria-labelledby", format!("{title_id} {description_id}"))
        .open();
    markup.tag("title").at("id", title_id).text(title);
    markup.tag("desc").at("id", description_id).text(description);
    markup
}

/// Begins a small chart, one of many: named by its own title, without an id.
pub(crate) fn small_chart(size: (f64, f64), title: &str, description: &str) -> Markup {
    let mut markup = Markup::default();
    markup
        .tag("svg")
        .at("viewBox", format!("0 0 {} {}", coordinate(size.0), coordinate(size.1)))
        .at("role", "img")
        .open();
    markup.leaf("title", title);
    markup.leaf("desc", description);
    markup
}

/// A straight line.
pub(crate) fn line<'a>(
    markup: &'a mut Markup,
    class: &str,
    from: (f64, f64),
    to: (f64, f64),
) -> Tag<'a> {
    markup
        .tag("line")
        .at("class", class)
        .at("x1", from.0)
        .at("y1", from.1)
        .at("x2", to.0)
        .at("y2", to.1)
}

/// Text at a point; `class` says how it is anchored (`start`, `middle`, `end`) and looks.
pub(crate) fn text(markup: &mut Markup, class: &str, at: (f64, f64), words: &str) {
    markup.tag("text").at("class", class).at("x", at.0).at("y", at.1).text(words);
}

/// An SVG path through points.
pub(crate) fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        path.push(if index == 0 { 'M' } else { 'L' });
        path += &format!("{} {}", coordinate(*x), coordinate(*y));
    }
    path
}

/// Horizontal grid lines with their values on the left.
pub(crate) fn y_axis(markup: &mut Markup, scale: &Scale, x: (f64, f64), ticks: &[(f64, String)]) {
    for (value, label) in ticks {
        let y = scale.at(*value);
        line(markup, "grid", (x.0, y), (x.1, y)).empty();
        text(markup, "tick end", (x.0 - 8.0, y + 4.0), label);
    }
}

/// A duration as an axis says it: `0`, `50 µs`, `1.5 ms`.
pub(crate) fn duration_tick(ns: f64) -> String {
    if ns == 0.0 {
        return "0".into();
    }
    let quantity = duration(ns);
    let number = match quantity.number.contains('.') {
        true => quantity.number.trim_end_matches('0').trim_end_matches('.'),
        false => &quantity.number,
    };
    format!("{number} {}", quantity.unit)
}

/// Moves labels apart that would lie over each other: `wanted` positions with the least distance
/// between; the result keeps the order of the wanted positions and lies in `low..=high`.
pub(crate) fn spread(wanted: &[f64], distance: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut placed = wanted.to_vec();
    let mut next = low;
    for &index in &order {
        placed[index] = wanted[index].max(next);
        next = placed[index] + distance;
    }
    let mut next = high;
    for &index in order.iter().rev() {
        placed[index] = placed[index].min(next);
        next = placed[index] - distance;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_moved_apart_in_order() {
        assert_eq!(spread(&[10.0, 50.0], 16.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(spread(&[50.0, 48.0, 49.0], 16.0, 0.0, 100.0), [80.0, 48.0, 64.0]);
        assert_eq!(spread(&[99.0, 98.0], 16.0, 0.0, 100.0), [100.0, 84.0]);
    }

    #[test]
    fn a_path_begins_once() {
        assert_eq!(path(&[(0.0, 1.0), (2.5, 3.0)]), "M0 1L2.5 3");
    }
}
