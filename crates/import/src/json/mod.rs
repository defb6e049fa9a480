//! JSON with places: what is wrong, with its line and column; and numbers with the digits that were printed.

mod node;
mod scan;

pub(crate) use node::{Node, count_of, text_of};

use serde::de::IgnoredAny;
use serde_json::error::Category;

use crate::error::ImportError;

/// That the text is one valid document, and its root.
pub(crate) fn parse<'a>(
    format: &'static str,
    text: &'a str,
    lines_before: usize,
) -> Result<Node<'a>, ImportError> {
    let valid = serde_json::from_str::<IgnoredAny>(text);
    valid.map_err(|error| from_serde(format, &error, lines_before))?;
    Ok(Node::root(format, "", text))
}

/// The documents that the text starts with, one after another: the text of each.
pub(crate) fn next_document(text: &str) -> Option<Result<&str, serde_json::Error>> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let valid = stream.next()?;
    Some(valid.map(|_| text.get(..stream.byte_offset()).unwrap_or(text)))
}

/// The values in an array, if the whole text is one.
pub(crate) fn array(text: &str) -> Option<impl Iterator<Item = &str> + Clone> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let text = text.trim();
    text.starts_with('[').then(|| scan::Elements::of(text))
}

/// The error with the lines before the text that was read.
fn from_serde(format: &'static str, error: &serde_json::Error, lines_before: usize) -> ImportError {
    let line = lines_before + error.line().max(1);
    if error.classify() == Category::Eof {
        return ImportError::Truncated { format, line };
    }
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    ImportError::Malformed { format, line, column: error.column().max(1), what: what.to_string() }
}
