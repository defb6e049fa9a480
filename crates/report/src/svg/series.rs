//! What tells the series of a chart apart: colour, line pattern and mark of each datastore.

use super::shape::polygon;
use crate::markup::Markup;

/// Colours in the style sheet; further datastores repeat them.
const COLORS: usize = 7;

/// The class that carries a datastore's colour.
pub(crate) fn color_class(datastore: usize) -> String {
    format!("s{}", datastore % COLORS)
}

/// Line patterns, so that curves differ without colour too.
pub(crate) fn dashes(datastore: usize) -> &'static str {
    ["none", "7 3", "2 2", "9 3 2 3", "5 2 1 2 1 2", "12 4", "1 3"][datastore % COLORS]
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
