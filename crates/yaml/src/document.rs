//! From the text of a file to a tree whose every part knows its position.
//!
//! YAML is read by saphyr. Its scalars arrive here as the text that was written (`1.10` stays
//! `1.10`; whether it is a number is up to the key), and its errors are rephrased helpfully: YAML's
//! traps are few and well known (tabs, a colon in a URL, two documents), and each has its own
//! advice.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use crate::error::{Diagnostics, Place};

/// What messages call files of one kind, and the mistakes that are typical of them.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Such a file, with its article: `a study file`.
    pub name: &'static str,
    /// What a file describes, without an article: `study`.
    pub holds: &'static str,
    /// How deep such files nest, in words: `four`.
    pub levels: &'static str,
    /// The message about an empty file.
    pub empty: &'static str,
    /// Recognizes a mistake by the look of a line.
    pub hint: Hint,
}

/// Looks at the line that the parser rejected, or at the one before; returns the column from 1, the
/// width and a message if it is a known mistake.
pub type Hint = fn(line: &str) -> Option<(usize, usize, &'static str)>;

/// A part of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its position.
    pub place: Place,
    /// Its value.
    pub value: Value,
}

/// The value of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Nothing,
    /// A scalar as it was written, without quotes.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// What was found, for messages.
    pub fn found(&self) -> String {
        match &self.value {
            Value::Nothing => "nothing".into(),
            Value::Text(text) => format!("\"{}\"", shortened(text)),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a mapping".into(),
        }
    }

    /// The scalar's text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The text, shortened to fit into a message.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().count() <= MOST {
        return text.chars().map(plain).collect();
    }
    text.chars().take(MOST).map(plain).chain("…".chars()).collect()
}

/// The parser recurses into nested values, so a file has limits far beyond any study: together they
/// bound nesting to about a thousand levels.
const MOST_BYTES: usize = 128 << 10;
const MOST_BEGUN_ON_A_LINE: usize = 8;

/// The only document of the text; otherwise the reason is in `diagnostics`. `source` is the number
/// of the text among those that [`Diagnostics::into_errors`] receives; 0 for the file itself.
pub fn document(
    text: &str,
    source: usize,
    form: &Form,
    diagnostics: &mut Diagnostics,
) -> Option<Node> {
    let start = Place { source, line: 1, column: 1, width: 1 };
    let Form { name, levels, empty, .. } = form;
    if text.len() > MOST_BYTES {
        diagnostics.error_at(
            start,
            format!("the file has {} bytes; {name} has at most {MOST_BYTES}", text.len()),
        );
        return None;
    }
    if let Some(line) = text.lines().position(is_nested_too_deep) {
        let place = Place { line: line + 1, ..start };
        diagnostics.error_at(
            place,
            format!("lists in lists nest too deep; {name} needs no more than {levels} levels"),
        );
        return None;
    }
    let documents = match MarkedYaml::load_from_str(text) {
        Ok(documents) => documents,
        Err(error) => {
            let mark = error.marker();
            let place = Place { source, line: mark.line(), column: mark.col() + 1, width: 1 };
            let (place, message) = in_words(text, place, error.info(), form);
            diagnostics.error_at(place, message);
            return None;
        }
    };
    if let [_, second, ..] = documents.as_slice() {
        diagnostics.error_at(
            place_of(second, source),
            format!(
                "a second document begins here; {name} has one, so take out the line with ---, or \
                 put each {} into a file of its own",
                form.holds
            ),
        );
        return None;
    }
    let Some(only) = documents.first() else {
        diagnostics.error_at(start, *empty);
        return None;
    };
    let written = Written { source, characters: text.chars().collect() };
    let node = written.node(only);
    if node.value == Value::Nothing {
        diagnostics.error_at(start, *empty);
        return None;
    }
    Some(node)
}

/// Whether a line starts a list in a list in a list …. Brackets are not counted: the parser accepts
/// no more than 255 of these.
fn is_nested_too_deep(line: &str) -> bool {
    let words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
    words.filter(|word| matches!(*word, "-" | "?" | ":")).count() > MOST_BEGUN_ON_A_LINE
}

/// The file by characters, which is how the parser counts.
struct Written {
    source: usize,
    characters: Vec<char>,
}

impl Written {
    fn node(&self, yaml: &MarkedYaml<'_>) -> Node {
        let place = place_of(yaml, self.source);
        let value = match &yaml.data {
            YamlData::Value(Scalar::Null) => Value::Nothing,
            YamlData::Value(Scalar::String(text)) => Value::Text(text.to_string()),
            YamlData::Value(scalar) => Value::Text(self.written(yaml, scalar)),
            YamlData::Representation(text, _, _) => Value::Text(text.to_string()),
            YamlData::Sequence(items) => {
                Value::List(items.iter().map(|item| self.node(item)).collect())
            }
            YamlData::Mapping(entries) => Value::Map(
                entries.iter().map(|(key, value)| (self.node(key), self.node(value))).collect(),
            ),
            YamlData::Tagged(_, inner) => return Node { place, value: self.node(inner).value },
            YamlData::Alias(_) | YamlData::BadValue => Value::Nothing,
        };
        Node { place, value }
    }

    /// A number or truth value as it was written; the value itself if it stands for another one (an
    /// anchor's).
    fn written(&self, yaml: &MarkedYaml<'_>, scalar: &Scalar<'_>) -> String {
        let (start, end) = (yaml.span.start.index(), yaml.span.end.index());
        let text: String = self.characters.get(start..end).unwrap_or_default().iter().collect();
        let text = text.trim();
        if Scalar::parse_from_cow(text.into()) == *scalar {
            return text.into();
        }
        match scalar {
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Integer(value) => value.to_string(),
            Scalar::FloatingPoint(value) => value.to_string(),
            _ => text.into(),
        }
    }
}

fn place_of(yaml: &MarkedYaml<'_>, source: usize) -> Place {
    let (start, end) = (yaml.span.start, yaml.span.end);
    let simple = !matches!(yaml.data, YamlData::Sequence(_) | YamlData::Mapping(_));
    let width = if simple && start.line() == end.line() {
        end.col().saturating_sub(start.col())
    } else {
        1
    };
    Place { source, line: start.line().max(1), column: start.col() + 1, width: width.max(1) }
}

/// Rephrases the parser's error so that it says what to write.
fn in_words(text: &str, place: Place, info: &str, form: &Form) -> (Place, String) {
    let lines: Vec<&str> = text.lines().collect();
    // The parser reports some mistakes on the line after the one that has them.
    let line_at = |number: usize| lines.get(number.wrapping_sub(1)).copied().unwrap_or_default();
    for number in [place.line, place.line.wrapping_sub(1)] {
        let line = line_at(number);
        if let Some((column, width, message)) = (form.hint)(line) {
            return (Place { line: number, column, width, ..place }, message.into());
        }
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line[..indent].find('\t') {
            let place = Place { line: number, column: tab + 1, width: 1, ..place };
            return (
                place,
                "a tab indents this line; YAML wants spaces, such as two a level".into(),
            );
        }
    }
    if info.contains("duplicated key") {
        let rest: String = line_at(place.line).chars().skip(place.column - 1).collect();
        let key = rest.split(':').next().unwrap_or_default().trim().to_owned();
        let place = Place { width: key.chars().count().max(1), ..place };
        return (place, format!("the key {key} appears twice; keep one of the two"));
    }
    let advice = match info {
        i if i.contains("mapping values are not allowed") => {
            "a colon with a space behind it has no place here; put a text that has one in quotes, \
             and indent the keys of a mapping alike"
        }
        i if i.contains("illegal placement of ':'") => {
            "a colon has no place here; look for a list [… or mapping {… above that is not closed, \
             and put a text with a colon in quotes"
        }
        i if i.contains("unknown anchor") => {
            "no anchor of this name comes before; write &name where it is set"
        }
        i if i.contains("quoted scalar") || i.contains("double-quoted") => {
            "a quoted text is not closed; close the quotes, and write \\\\ for a \
             backslash in double quotes"
        }
        i if i.contains("flow sequence")
            || i.contains("flow mapping")
            || i.contains("flow construct") =>
        {
            "a list […] or mapping {…} is not closed properly; look for a missing comma or \
             bracket"
        }
        i if i.contains("misplaced bracket") => "this bracket closes nothing; remove it",
        i if i.contains("expected '-' indicator") => {
            "this line is neither in the list above nor at its level; indent it like the items, \
             with - before it"
        }
        i if i.contains("did not find expected key") || i.contains("simple key expect") => {
            "a line like  key: value  was expected here; look for a missing colon, or for an \
             indentation that differs from the lines above"
        }
        i if i.contains("character") && i.contains("token")
            || i.contains("unexpected character") =>
        {
            "this character begins nothing in YAML; put the text in quotes"
        }
        i if i.contains("alias expansion") => {
            "the anchors stand for far too much; write the values out"
        }
        i if i.contains("recursion limit") => {
            return (
                place,
                format!(
                    "brackets nest too deep; {} needs no more than {} levels",
                    form.name, form.levels
                ),
            );
        }
        _ => {
            return (
                place,
                format!("this is not valid YAML ({info}); look at this line and the one above"),
            );
        }
    };
    (place, advice.into())
}
