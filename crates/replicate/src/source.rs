//! YAML with places: every value knows its line and column, and numbers keep the digits they are
//! written with, which the YAML library turns into binary fractions.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use thiserror::Error;

/// Why a file of published facts cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ReadError {
    /// Counted from 1.
    pub line: usize,
    /// Counted in characters from 1.
    pub column: usize,
    /// What is wrong and what to do.
    pub what: String,
}

/// A file's text and the byte at which each of its characters begins.
pub(crate) struct Source<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let starts = text.char_indices().map(|(byte, _)| byte).chain([text.len()]).collect();
        Self { text, starts }
    }

    /// The one document of the file.
    pub(crate) fn document(&self) -> Result<MarkedYaml<'t>, ReadError> {
        let documents = MarkedYaml::load_from_str(self.text).map_err(|error| ReadError {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            what: format!("this is not YAML: {}", error.info()),
        })?;
        let mut documents = documents.into_iter();
        match (documents.next(), documents.next()) {
            (Some(document), None) => Ok(document),
            (None, _) => Err(start("the file is empty; it needs study, tables and findings")),
            (Some(_), Some(_)) => Err(start("the file has several documents; leave out the `---`")),
        }
    }

    /// The characters from one place to another, as written.
    fn between(&self, start: usize, end: usize) -> &'t str {
        let byte = |index: usize| self.starts.get(index).copied().unwrap_or(self.text.len());
        self.text.get(byte(start)..byte(end)).unwrap_or_default().trim()
    }
}

fn start(what: &str) -> ReadError {
    ReadError { line: 1, column: 1, what: what.to_owned() }
}

/// A value and its place.
#[derive(Clone, Copy)]
pub(crate) struct Node<'d> {
    yaml: &'d MarkedYaml<'d>,
    source: &'d Source<'d>,
}

impl<'d> Node<'d> {
    pub(crate) fn new(yaml: &'d MarkedYaml<'d>, source: &'d Source<'d>) -> Self {
        Self { yaml, source }
    }

    pub(crate) fn error(&self, what: impl Into<String>) -> ReadError {
        let start = self.yaml.span.start;
        ReadError { line: start.line(), column: start.col() + 1, what: what.into() }
    }

    /// A scalar as it is written, without quotation marks; `None` for `~`, `null` and nothing.
    pub(crate) fn scalar(&self) -> Result<Option<String>, ReadError> {
        match &self.yaml.data {
            YamlData::Value(Scalar::Null) => Ok(None),
            YamlData::Value(Scalar::String(text)) => Ok(Some(text.to_string())),
            YamlData::Value(_) => {
                let span = &self.yaml.span;
                Ok(Some(self.source.between(span.start.index(), span.end.index()).to_owned()))
            }
            _ => Err(self.error("one value is needed here and there is a list or a mapping")),
        }
    }

    /// A text that is not empty.
    pub(crate) fn text(&self) -> Result<String, ReadError> {
        match self.scalar()? {
            // Line breaks of the file are no line breaks of the text.
            Some(text) if !text.trim().is_empty() => {
                Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            _ => Err(self.error("a text is needed here and there is nothing")),
        }
    }

    pub(crate) fn truth(&self) -> Result<bool, ReadError> {
        match &self.yaml.data {
            YamlData::Value(Scalar::Boolean(truth)) => Ok(*truth),
            _ => Err(self.error("true or false is needed here")),
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.yaml.data, YamlData::Sequence(_))
    }

    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.yaml.data, YamlData::Mapping(_))
    }

    pub(crate) fn items(&self) -> Result<Vec<Node<'d>>, ReadError> {
        match &self.yaml.data {
            YamlData::Sequence(items) => {
                Ok(items.iter().map(|yaml| Node { yaml, source: self.source }).collect())
            }
            _ => Err(self.error("a list is needed here")),
        }
    }

    /// All fields of a mapping, whatever they are called.
    pub(crate) fn entries(&self) -> Result<Vec<(String, Node<'d>)>, ReadError> {
        let YamlData::Mapping(mapping) = &self.yaml.data else {
            return Err(self.error("a mapping (`key: value`) is needed here"));
        };
        let node = |yaml| Node { yaml, source: self.source };
        mapping.iter().map(|(key, value)| Ok((node(key).text()?, node(value)))).collect()
    }

    /// The fields of a mapping that may only have these.
    pub(crate) fn fields(&self, known: &[&str]) -> Result<Fields<'d>, ReadError> {
        let YamlData::Mapping(mapping) = &self.yaml.data else {
            return Err(self.error(format!("a mapping with {} is needed here", known.join(", "))));
        };
        let node = |yaml| Node { yaml, source: self.source };
        let mut entries = Vec::new();
        for (key, value) in mapping {
            let name = node(key).text()?;
            if !known.contains(&name.as_str()) {
                return Err(node(key).error(format!(
                    "`{name}` means nothing here; there are {}",
                    known.join(", ")
                )));
            }
            entries.push((name, node(value)));
        }
        Ok(Fields { of: *self, entries })
    }
}

/// The fields of a mapping.
pub(crate) struct Fields<'d> {
    of: Node<'d>,
    entries: Vec<(String, Node<'d>)>,
}

impl<'d> Fields<'d> {
    pub(crate) fn get(&self, name: &str) -> Option<Node<'d>> {
        self.entries.iter().find(|(found, _)| found == name).map(|(_, node)| *node)
    }

    pub(crate) fn need(&self, name: &str) -> Result<Node<'d>, ReadError> {
        self.get(name).ok_or_else(|| self.of.error(format!("`{name}` is missing here")))
    }

    pub(crate) fn text(&self, name: &str) -> Result<String, ReadError> {
        self.need(name)?.text()
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<String>, ReadError> {
        self.get(name).map(|node| node.text()).transpose()
    }
}
