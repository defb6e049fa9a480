//! Charts as inline SVG, each with a title and a description for readers who do not see it.
//!
//! Colours and fonts come from the page's style sheet through classes (`s0`, `s1`, … are the
//! datastores), so one drawing serves light, dark and print. A datastore also has its own line pattern
//! and mark, so no meaning depends on a colour. Text cannot be measured here: its width is estimated,
//! and charts leave room accordingly.

pub(crate) mod dots;
mod histogram;
pub(crate) mod lines;
mod normal;
pub(crate) mod over_time;
mod percentile;
mod scale;
pub(crate) mod stacked;
mod whisker;

use stormeter_study::Metric;

pub(crate) use histogram::histogram;
pub(crate) use normal::normal;
pub(crate) use percentile::percentile;
pub(crate) use scale::Scale;

use crate::markup::{Markup, Tag, coordinate};
use crate::quantity::{duration, percent, quantity};

/// Width of every chart in its own units; the page scales it to the column.
pub(crate) const WIDTH: f64 = 760.0;
/// Colours in the style sheet; further datastores repeat them.
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

/// Starts a chart. `id` must be unique on the page.
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

/// Starts a small chart, one of many: named by its own title, without an id.
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

/// Starts a chart for narrow screens that repeats the one after it.
pub(crate) fn repeated_chart(size: (f64, f64)) -> Markup {
    let mut markup = Markup::default();
    markup
        .tag("svg")
        .at("class", "narrow")
        .at("viewBox", format!("0 0 {} {}", coordinate(size.0), coordinate(size.1)))
        .at("aria-hidden", "true")
        .open();
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

/// A metric's value at an axis.
pub(crate) fn metric_tick(metric: Metric, value: f64) -> String {
    match metric {
        Metric::HostCpu => format!("{}\u{202f}%", percent(value)),
        Metric::Iops | Metric::Throughput if value == 0.0 => "0".into(),
        Metric::Iops | Metric::Throughput => quantity(metric, value).typeset(),
        _ => duration_tick(value),
    }
}

/// What the pointer can rest on around a mark that is too small for it.
pub(crate) fn hit(markup: &mut Markup, at: (f64, f64), size: (f64, f64)) {
    rect(markup, "hit", at, size).empty();
}

/// Opens a group that says what it is when the pointer rests on it.
pub(crate) fn titled(markup: &mut Markup, class: &str, told: &str) {
    markup.tag("g").at("class", class).open();
    markup.leaf("title", told);
}

/// A rectangle.
pub(crate) fn rect<'a>(
    markup: &'a mut Markup,
    class: &str,
    at: (f64, f64),
    size: (f64, f64),
) -> Tag<'a> {
    markup
        .tag("rect")
        .at("class", class)
        .at("x", at.0)
        .at("y", at.1)
        .at("width", size.0)
        .at("height", size.1)
}

/// The outline of columns that stand next to one another, from their edges and heights, as one path:
/// smaller than a rectangle each, and without seams.
pub(crate) fn columns(columns: impl Iterator<Item = ((f64, f64), f64)>, floor: f64) -> String {
    let mut outline = String::new();
    let floor = coordinate(floor);
    let mut end = 0.0;
    for ((from, to), top) in columns {
        if outline.is_empty() {
            outline = format!("M{} {floor}", coordinate(from));
        }
        let top = coordinate(top);
        outline += &format!("L{} {top}L{} {top}", coordinate(from), coordinate(to));
        end = to;
    }
    outline + &format!("L{} {floor}Z", coordinate(end))
}

/// The mark of a place in the legend, for the text of the page.
pub(crate) fn key(place: usize) -> Markup {
    let mut markup = Markup::default();
    markup
        .tag("svg")
        .at("class", "key")
        .at("viewBox", "0 0 12 12")
        .at("aria-hidden", "true")
        .open();
    mark(&mut markup, place, 6.0, 6.0);
    markup
}

/// The mark of a series; its form says which one, as its colour does.
pub(crate) fn mark(markup: &mut Markup, place: usize, x: f64, y: f64) {
    let corners: &[(f64, f64)] = match place % 6 {
        0 => &[],
        1 => &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
        2 => &[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)],
        3 => &[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)],
        4 => &[(0.0, 5.0), (5.0, -4.0), (-5.0, -4.0)],
        _ => &[(-5.0, -1.5), (5.0, -1.5), (5.0, 1.5), (-5.0, 1.5)],
    };
    let class = format!("fill {}", color_class(place));
    if corners.is_empty() {
        markup.tag("circle").at("class", class).at("cx", x).at("cy", y).at("r", 4.2).empty();
    } else {
        polygon(markup, &class, corners.iter().map(|corner| (x + corner.0, y + corner.1)));
    }
}

/// A closed shape.
pub(crate) fn polygon(markup: &mut Markup, class: &str, corners: impl Iterator<Item = (f64, f64)>) {
    let outline = path(&corners.collect::<Vec<_>>()) + "Z";
    markup.tag("path").at("class", class).at("d", outline).empty();
}

/// Moves labels apart that would overlap: `wanted` positions, at least `distance` from one another. The
/// result keeps the order of the wanted positions and lies in `low..=high`.
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
    fn ticks_have_the_unit_of_their_metric() {
        assert_eq!(metric_tick(Metric::Iops, 20_000.0), "20\u{202f}000");
        assert_eq!(metric_tick(Metric::LatencyMean, 1.5e6), "1.5 ms");
        assert_eq!(metric_tick(Metric::HostCpu, 0.5), "50\u{202f}%");
        assert_eq!(metric_tick(Metric::HostCpu, 0.0002), "0.02\u{202f}%");
    }

    #[test]
    fn columns_are_one_outline() {
        let two = [((0.0, 2.0), 5.0), ((2.0, 4.0), 1.0)];
        assert_eq!(columns(two.into_iter(), 9.0), "M0 9L0 5L2 5L2 1L4 1L4 9Z");
    }

    #[test]
    fn a_path_starts_once() {
        assert_eq!(path(&[(0.0, 1.0), (2.5, 3.0)]), "M0 1L2.5 3");
    }
}
