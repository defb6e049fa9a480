//! Writes HTML and SVG so that nothing can slip through unescaped and every tag is closed.
//!
//! URLs, error messages and host names are hostile input on a page. Here every attribute value and
//! every text is escaped on its way in, element and attribute names are constants of the program,
//! and open elements are kept on a stack. The only raw texts are the program's own style sheets
//! and script.

use std::fmt::Write;

/// A piece of markup under construction.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    text: String,
    open: Vec<&'static str>,
}

/// The start of an element, to which attributes are added.
#[must_use = "an element must be ended by open, text or empty"]
pub(crate) struct Tag<'a> {
    markup: &'a mut Markup,
    name: &'static str,
}

/// The value of an attribute.
pub(crate) trait Value {
    fn write_to(&self, text: &mut String);
}

impl Value for &str {
    fn write_to(&self, text: &mut String) {
        escape_into(text, self);
    }
}

impl Value for String {
    fn write_to(&self, text: &mut String) {
        escape_into(text, self);
    }
}

impl Value for usize {
    fn write_to(&self, text: &mut String) {
        // Writing into a string cannot fail.
        let _ = write!(text, "{self}");
    }
}

impl Value for f64 {
    /// A coordinate, to a tenth of a pixel.
    fn write_to(&self, text: &mut String) {
        text.push_str(&coordinate(*self));
    }
}

/// A coordinate without needless zeros. A value that is not finite has no place and becomes 0.
pub(crate) fn coordinate(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

impl Markup {
    /// Markup that was finished before.
    pub(crate) fn of(text: String) -> Self {
        Self { text, open: Vec::new() }
    }

    /// Starts an element.
    pub(crate) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.text.push('<');
        self.text.push_str(name);
        Tag { markup: self, name }
    }

    /// An element without attributes that holds text.
    pub(crate) fn leaf(&mut self, name: &'static str, text: &str) {
        self.tag(name).text(text);
    }

    /// Text inside the open element.
    pub(crate) fn text(&mut self, text: &str) {
        escape_into(&mut self.text, text);
    }

    /// Ends the element that was opened last.
    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = write!(self.text, "</{name}>");
            if is_block(name) {
                self.text.push('\n');
            }
        }
    }

    /// Appends markup that was built separately.
    pub(crate) fn append(&mut self, markup: Markup) {
        self.text.push_str(&markup.finish());
    }

    /// The program's own style sheet, which must not be escaped.
    pub(crate) fn style(&mut self, css: &'static str) {
        let _ = write!(self.text, "<style>\n{css}</style>\n");
    }

    /// The program's own script, which must not be escaped; a policy may allow exactly these bytes.
    pub(crate) fn script(&mut self, js: &'static str) {
        let _ = writeln!(self.text, "<script>{js}</script>");
    }

    /// The text, with every element closed.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }
}

impl<'a> Tag<'a> {
    /// Adds an attribute.
    pub(crate) fn at(self, name: &'static str, value: impl Value) -> Self {
        let _ = write!(self.markup.text, " {name}=\"");
        value.write_to(&mut self.markup.text);
        self.markup.text.push('"');
        self
    }

    /// Leaves the element open for content.
    pub(crate) fn open(self) {
        self.markup.text.push('>');
        self.markup.open.push(self.name);
    }

    /// Fills it with text and closes it.
    pub(crate) fn text(self, text: &str) {
        let Tag { markup, name } = self;
        markup.text.push('>');
        markup.open.push(name);
        markup.text(text);
        markup.close();
    }

    /// Closes it without content: for SVG shapes and HTML's void elements.
    pub(crate) fn empty(self) {
        self.markup.text.push_str("/>");
        if is_block(self.name) {
            self.markup.text.push('\n');
        }
    }
}

/// Elements after which a line break changes nothing but makes the source readable.
fn is_block(name: &str) -> bool {
    !matches!(name, "span" | "code" | "strong" | "em" | "abbr" | "tspan" | "a" | "small" | "wbr")
}

fn escape_into(text: &mut String, raw: &str) {
    for c in raw.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            // Control characters have no place in HTML; NUL would even end some parsers.
            c if c.is_control() && c != '\n' && c != '\t' => text.push('\u{fffd}'),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_in_unescaped() {
        let mut markup = Markup::default();
        markup.tag("p").at("title", "\" onload='x' <b>").open();
        markup.text("<script>alert(1)</script>\0 & more");
        assert_eq!(
            markup.finish(),
            "<p title=\"&quot; onload=&#39;x&#39; &lt;b&gt;\">&lt;script&gt;alert(1)\
             &lt;/script&gt;\u{fffd} &amp; more</p>\n"
        );
    }

    #[test]
    fn what_is_open_is_closed_in_order() {
        let mut markup = Markup::default();
        markup.tag("svg").open();
        markup.tag("g").open();
        markup.tag("rect").at("x", 1.25).at("y", -0.01).at("width", f64::NAN).empty();
        markup.close();
        let text = markup.finish();
        assert_eq!(text, "<svg><g><rect x=\"1.2\" y=\"0\" width=\"0\"/>\n</g>\n</svg>\n");
    }
}
