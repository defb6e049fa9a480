//! From the text of a file to a tree whose every part knows its place.
//!
//! YAML is read by saphyr. Its scalars come here as the text that was written (`1.10` stays `1.10`;
//! whether it is a number is for the key to say), and its errors in words that help: YAML's traps
//! are few and well known (tabs, a colon in a URL, two documents), and each has its own advice.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use super::error::{Faults, Place};

/// A part of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
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
    pub(crate) fn found(&self) -> String {
        match &self.value {
            Value::Nothing => "nothing".into(),
            Value::Text(text) => format!("\"{}\"", shortened(text)),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a mapping".into(),
        }
    }

    /// The scalar's text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A text that fits into a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().count() <= MOST {
        return text.chars().map(plain).collect();
    }
    text.chars().take(MOST).map(plain).chain("…".chars()).collect()
}

/// The parser follows what is nested with its stack, so a file has bounds that no study comes near
/// to: together they let it nest about a thousand levels.
const MOST_BYTES: usize = 128 << 10;
const MOST_BEGUN_ON_A_LINE: usize = 8;

/// The only document of the text, or the reason why there is none in `faults`.
pub(crate) fn document(text: &str, faults: &mut Faults) -> Option<Node> {
    let start = Place { line: 1, column: 1, width: 1 };
    if text.len() > MOST_BYTES {
        faults.at(
            start,
            format!("the file has {} bytes; a study file has at most {MOST_BYTES}", text.len()),
        );
        return None;
    }
    if let Some(line) = text.lines().position(is_nested_too_deep) {
        let place = Place { line: line + 1, column: 1, width: 1 };
        faults
            .at(place, "lists in lists nest too deep; a study file needs no more than four levels");
        return None;
    }
    let documents = match MarkedYaml::load_from_str(text) {
        Ok(documents) => documents,
        Err(error) => {
            let mark = error.marker();
            let place = Place { line: mark.line(), column: mark.col() + 1, width: 1 };
            let (place, message) = in_words(text, place, error.info());
            faults.at(place, message);
            return None;
        }
    };
    if let [_, second, ..] = documents.as_slice() {
        faults.at(
            place_of(second),
            "a second document begins here; a study file has one, so take out the line with ---, \
             or put each study into a file of its own",
        );
        return None;
    }
    let Some(only) = documents.first() else {
        faults.at(start, EMPTY);
        return None;
    };
    let source = Source { characters: text.chars().collect() };
    let node = source.node(only);
    if node.value == Value::Nothing {
        faults.at(start, EMPTY);
        return None;
    }
    Some(node)
}

const EMPTY: &str = "the file is empty; write at least the datastores, such as\n  datastores: \
                     {local: /srv/vm, nas: \"nfs://nas1/export/vm\"}";

/// A line that begins a list in a list in a list …. Brackets are not counted: of these the parser
/// follows no more than 255.
fn is_nested_too_deep(line: &str) -> bool {
    let words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
    words.filter(|word| matches!(*word, "-" | "?" | ":")).count() > MOST_BEGUN_ON_A_LINE
}

/// The file by characters, which is how the parser counts.
struct Source {
    characters: Vec<char>,
}

impl Source {
    fn node(&self, yaml: &MarkedYaml<'_>) -> Node {
        let place = place_of(yaml);
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

    /// A number or truth value as it was written; where it stands for another (an anchor's), as it
    /// is.
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

fn place_of(yaml: &MarkedYaml<'_>) -> Place {
    let (start, end) = (yaml.span.start, yaml.span.end);
    let simple = !matches!(yaml.data, YamlData::Sequence(_) | YamlData::Mapping(_));
    let width = if simple && start.line() == end.line() {
        end.col().saturating_sub(start.col())
    } else {
        1
    };
    Place { line: start.line().max(1), column: start.col() + 1, width: width.max(1) }
}

/// What the parser says, in words that tell what to write.
fn in_words(text: &str, place: Place, info: &str) -> (Place, String) {
    let lines: Vec<&str> = text.lines().collect();
    // The parser notices some mistakes in the line after the one that has them.
    let line_at = |number: usize| lines.get(number.wrapping_sub(1)).copied().unwrap_or_default();
    for number in [place.line, place.line.wrapping_sub(1)] {
        let line = line_at(number);
        if let Some(column) = unquoted_null_url(line) {
            let place = Place { line: number, column, width: 5 };
            return (
                place,
                "the URL null: ends in a colon, which YAML takes for a key; put it in quotes: \
                 \"null:\""
                    .into(),
            );
        }
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line[..indent].find('\t') {
            let place = Place { line: number, column: tab + 1, width: 1 };
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
        return (place, format!("the key {key} is here a second time; keep one of the two"));
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
            "a text in quotes does not end as it should; close the quotes, and write \\\\ for a \
             backslash in double quotes"
        }
        i if i.contains("flow sequence")
            || i.contains("flow mapping")
            || i.contains("flow construct") =>
        {
            "a list […] or mapping {…} does not end as it should; look for a missing comma or \
             bracket"
        }
        i if i.contains("misplaced bracket") => "this bracket closes nothing; take it out",
        i if i.contains("expected '-' indicator") => {
            "this line stands neither in the list above nor beside it; indent it as the items are, \
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
            "brackets nest too deep; a study file needs no more than four levels"
        }
        _ => {
            return (
                place,
                format!("this is no YAML ({info}); look at this line and the one above"),
            );
        }
    };
    (place, advice.into())
}

/// Where a line has `null:` for a value without quotes; from 1.
fn unquoted_null_url(line: &str) -> Option<usize> {
    let at =
        line.find(": null:").map(|at| at + 2).or_else(|| line.find("- null:").map(|at| at + 2))?;
    let before = &line[..at];
    (!before.contains('#')).then(|| before.chars().count() + 1)
}
