//! The shapes that charts consist of: lines, text, rectangles, outlines, and what the pointer rests on.

use crate::markup::{Markup, Tag, coordinate};

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

/// A closed shape.
pub(crate) fn polygon(markup: &mut Markup, class: &str, corners: impl Iterator<Item = (f64, f64)>) {
    let outline = path(&corners.collect::<Vec<_>>()) + "Z";
    markup.tag("path").at("class", class).at("d", outline).empty();
}

/// What the pointer can rest on around a mark that is too small for it.
pub(crate) fn hit(markup: &mut Markup, at: (f64, f64), size: (f64, f64)) {
    rect(markup, "hit", at, size).empty();
}

/// Opens a group that says what it is when the pointer rests on it.
pub(crate) fn titled(markup: &mut Markup, class: &str, title: &str) {
    markup.tag("g").at("class", class).open();
    markup.leaf("title", title);
}

#[cfg(test)]
mod tests {
    use super::*;

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
