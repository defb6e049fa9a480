//! A value of a JSON document that knows its path, so that a wrong one is named by it.
//!
//! It is a part of the text and no tree: a tree takes tens of bytes for each value, and a value may have two.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::scan::{self, Elements, unquoted};
use crate::error::ImportError;
use crate::figure::Figure;

/// An object's keys and values are noted when the first one is looked for, unless there are more than this.
const MOST_NOTED: usize = 256;

/// Keys in their quotes, and values.
type Members<'a> = Box<[(&'a str, &'a str)]>;

/// A value and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    format: &'static str,
    path: String,
    text: &'a str,
    /// Of an object; `None`: too many.
    members: OnceCell<Option<Members<'a>>>,
}

impl<'a> Node<'a> {
    /// The whole of a document, which has to be valid JSON; `path` is its name, or empty.
    pub(crate) fn root(format: &'static str, path: &str, text: &'a str) -> Self {
        Self::new(format, path.to_owned(), text.trim())
    }

    fn new(format: &'static str, path: String, text: &'a str) -> Self {
        Self { format, path, text, members: OnceCell::new() }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// It as it is written.
    pub(crate) fn source(&self) -> &'a str {
        self.text
    }

    /// The value of a key, the last one if there are several. `null` is as good as nothing.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        if !self.text.starts_with('{') {
            return None;
        }
        let is_it = |(name, _): &(&'a str, &'a str)| match name.contains('\\') {
            true => unquoted(name) == key,
            false => name.trim_matches('"') == key,
        };
        let noted = self.members.get_or_init(|| {
            let members: Vec<_> = scan::Members::of(self.text).take(MOST_NOTED + 1).collect();
            (members.len() <= MOST_NOTED).then(|| members.into_boxed_slice())
        });
        let (_, text) = match noted {
            Some(members) => members.iter().rev().copied().find(is_it),
            None => scan::Members::of(self.text).filter(is_it).last(),
        }?;
        (text != "null").then(|| Self::new(self.format, self.path_of(key), text))
    }

    /// That it is an object.
    pub(crate) fn object(&self) -> Result<(), ImportError> {
        if self.text.starts_with('{') { Ok(()) } else { Err(self.wrong("expected an object")) }
    }

    /// An object's keys, each with the text of its value; an error if it is none.
    pub(crate) fn members(
        &self,
    ) -> Result<impl Iterator<Item = (Cow<'a, str>, &'a str)> + use<'a>, ImportError> {
        self.object()?;
        Ok(scan::Members::of(self.text).map(|(key, text)| (unquoted(key), text)))
    }

    /// The entries of an array; an error if it is none.
    pub(crate) fn entries(&self) -> Result<impl Iterator<Item = Self> + use<'a>, ImportError> {
        if !self.is_array() {
            return Err(self.wrong("expected an array"));
        }
        let (format, path) = (self.format, self.path.clone());
        let entries = Elements::of(self.text).enumerate();
        Ok(entries.map(move |(index, text)| Self::new(format, format!("{path}[{index}]"), text)))
    }

    /// Whether it is an array.
    pub(crate) fn is_array(&self) -> bool {
        self.text.starts_with('[')
    }

    /// A text; of a number, its digits.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        text_of(self.text)
    }

    /// A text, a number or a truth value: some tools put everything into quotes.
    pub(crate) fn loose(&self) -> Option<Cow<'a, str>> {
        let is_truth = matches!(self.text, "true" | "false");
        self.text().or(is_truth.then_some(Cow::Borrowed(self.text)))
    }

    /// Whether it is `true`.
    pub(crate) fn is_true(&self) -> bool {
        self.text == "true"
    }

    /// A count of a key.
    pub(crate) fn count(&self, key: &str) -> Result<Option<u64>, ImportError> {
        match self.get(key) {
            Some(node) => count_of(node.text).map(Some).map_err(|what| node.wrong(&what)),
            None => Ok(None),
        }
    }

    /// A number, not negative, of a key; also whether it is printed as a whole one.
    pub(crate) fn amount(&self, key: &str) -> Result<Option<(f64, bool)>, ImportError> {
        let Some(node) = self.get(key) else { return Ok(None) };
        match node.number() {
            Some(value) if value >= 0.0 => Ok(Some((value, node.is_whole()))),
            Some(_) => Err(node.wrong(&format!("{} cannot be", shown(node.text)))),
            None => Err(node.wrong("expected a number")),
        }
    }

    /// A number, not negative, of a key, with the precision of its digits.
    pub(crate) fn figure(&self, key: &str) -> Result<Option<Figure>, ImportError> {
        let Some((_, is_whole)) = self.amount(key)? else { return Ok(None) };
        let Some(node) = self.get(key) else { return Ok(None) };
        // The shortest digits that mean the value: tools pad theirs with zeros that say nothing.
        let digits = match (is_whole, node.number()) {
            (false, Some(value)) => Cow::Owned(format!("{value:?}")),
            _ => Cow::Borrowed(node.text),
        };
        Ok(Figure::printed(&digits))
    }

    /// Its value, if it is a number.
    pub(crate) fn number(&self) -> Option<f64> {
        number_of(self.text)
    }

    fn is_whole(&self) -> bool {
        self.text.parse::<u64>().is_ok() || self.text.parse::<i64>().is_ok()
    }

    /// That its value cannot be.
    pub(crate) fn wrong(&self, what: &str) -> ImportError {
        wrong(self.format, &self.path, what)
    }

    /// That the value of one of its keys cannot be.
    pub(crate) fn wrong_at(&self, key: &str, what: &str) -> ImportError {
        wrong(self.format, &self.path_of(&shown(key)), what)
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// What the text of a value says, if it is a string or a number.
pub(crate) fn text_of(text: &str) -> Option<Cow<'_, str>> {
    if text.starts_with('"') {
        return Some(unquoted(text));
    }
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        .then_some(Cow::Borrowed(text))
}

fn number_of(text: &str) -> Option<f64> {
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    text.parse().ok().filter(|value: &f64| is_number && value.is_finite())
}

/// A count: a whole number that is not negative, whichever way a tool in between has printed it.
pub(crate) fn count_of(text: &str) -> Result<u64, String> {
    const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;
    if let Ok(count) = text.parse() {
        return Ok(count);
    }
    match number_of(text) {
        Some(count) if (0.0..TOO_LARGE).contains(&count) && count.fract() == 0.0 => {
            Ok(count as u64)
        }
        Some(_) => Err(format!("{} is no count", shown(text))),
        None => Err("expected a count".to_owned()),
    }
}

/// Digits or a key, in a message.
fn shown(text: &str) -> Cow<'_, str> {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

fn wrong(format: &'static str, path: &str, what: &str) -> ImportError {
    let path = if path.is_empty() { "the document" } else { path };
    ImportError::Wrong { format, path: path.to_owned(), what: what.to_owned() }
}
