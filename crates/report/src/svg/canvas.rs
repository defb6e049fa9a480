//! The element that a chart is drawn in: its size, and its title and description for readers who do not see it.

use crate::markup::{Markup, coordinate};

/// Width of every chart in its own units; the page scales it to the column.
pub(crate) const WIDTH: f64 = 760.0;

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
