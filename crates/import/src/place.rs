//! Where something stands in a text, and the errors that say it: shared by the readers of formats that are lines.

use crate::error::ImportError;
use crate::figure::Figure;

/// A line with its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The format that is being read, for errors.
    pub(crate) format: &'static str,
    /// From 1.
    pub(crate) number: usize,
    /// Without its end.
    pub(crate) text: &'a str,
}

impl<'a> Line<'a> {
    /// The error that says what is wrong with a part of this line (any slice of its text).
    pub(crate) fn error(&self, part: &str, what: impl Into<String>) -> ImportError {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let column = self.text.get(..offset).map_or(1, |before| before.chars().count() + 1);
        ImportError::Malformed { format: self.format, line: self.number, column, what: what.into() }
    }

    /// A number of at least 0 that is a part of this line.
    pub(crate) fn figure(&self, part: &str) -> Result<Figure, ImportError> {
        match Figure::printed(part) {
            Some(figure) if figure.value >= 0.0 => Ok(figure),
            _ => Err(self.error(part, format!("{} is not a number of at least 0", quoted(part)))),
        }
    }

    /// A whole number that is a part of this line.
    pub(crate) fn whole(&self, part: &str) -> Result<u64, ImportError> {
        part.parse()
            .map_err(|_| self.error(part, format!("{} is not a whole number", quoted(part))))
    }

    /// The words of the line.
    pub(crate) fn words(&self) -> std::str::SplitWhitespace<'a> {
        self.text.split_whitespace()
    }
}

/// The lines of a text.
pub(crate) fn lines<'a>(
    format: &'static str,
    text: &'a str,
) -> impl Iterator<Item = Line<'a>> + use<'a> {
    text.lines().enumerate().map(move |(at, text)| Line { format, number: at + 1, text })
}

/// The error of a text that ends too early.
pub(crate) fn truncated(format: &'static str, text: &str) -> ImportError {
    ImportError::Truncated { format, line: text.lines().count().max(1) }
}

/// The text for a message: short, and on one line.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// Adds a sentence unless it is there already. For a handful of sentences.
pub(crate) fn remark(sentences: &mut Vec<String>, sentence: &str) {
    if !sentences.iter().any(|known| known == sentence) {
        sentences.push(sentence.to_string());
    }
}
