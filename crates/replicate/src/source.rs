//! The value at a position of a file of published facts: a value, a text, a list, a mapping with certain
//! fields.
//!
//! Separate from `stormeter_yaml::Section`, which collects all mistakes of a file: here rows depend on
//! columns and expressions on tables, so reading stops at the first mistake.

use stormeter_yaml::{
    Diagnostics, FileNote, Form, Node as Tree, RenamedKey, Source, Value, document,
};
use thiserror::Error;

/// Why a file of published facts cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ReadError {
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what to do.
    pub what: String,
}

const FORM: Form = Form {
    name: "a file of published facts",
    holds: "study",
    levels: "six",
    empty: "the file is empty; it needs study, tables and findings",
    hint: |_| None,
};

/// Keys that earlier versions spelled differently.
const RENAMED: [RenamedKey; 1] = [RenamedKey { old: "stands_for", new: "stands-for" }];
/// The same of an entry of `findings` or `checks`.
const RENAMED_OF_FINDINGS: [RenamedKey; 4] = [
    RenamedKey { old: "compute_rounded", new: "compute-rounded" },
    RenamedKey { old: "not_testable", new: "not-testable" },
    RenamedKey { old: "ask_full", new: "ask-full" },
    RenamedKey { old: "ask_direction", new: "ask-direction" },
];

/// The one document of a file, its keys in their present spelling.
pub(crate) struct Document {
    pub(crate) tree: Tree,
    /// One for each key in an old spelling.
    pub(crate) notes: Vec<FileNote>,
}

/// Parses the one document of the file.
pub(crate) fn document_of(text: &str) -> Result<Document, ReadError> {
    let mut diagnostics = Diagnostics::default();
    let tree = document(text, 0, &FORM, &mut diagnostics);
    let tree = tree.map(|tree| with_present_keys(tree, &mut diagnostics));
    match tree {
        Some(tree) if diagnostics.is_empty() => {
            Ok(Document { tree, notes: diagnostics.into_notes() })
        }
        _ => {
            let errors = diagnostics.into_errors(&[Source { name: "", text }]).errors;
            let first = errors.into_iter().next();
            let (line, column, what) = first.map_or((1, 1, FORM.empty.into()), |first| {
                (first.line, first.column, first.message)
            });
            Err(ReadError { line, column, what })
        }
    }
}

fn with_present_keys(mut tree: Tree, diagnostics: &mut Diagnostics) -> Tree {
    tree.rename_keys(&RENAMED, diagnostics);
    for list in ["findings", "checks"] {
        if let Some(Value::List(items)) = tree.value_mut(list).map(|node| &mut node.value) {
            for item in items {
                item.rename_keys(&RENAMED_OF_FINDINGS, diagnostics);
            }
        }
    }
    tree
}

/// A value and its position.
#[derive(Clone, Copy)]
pub(crate) struct Node<'t>(pub(crate) &'t Tree);

impl<'t> Node<'t> {
    pub(crate) fn error(&self, what: impl Into<String>) -> ReadError {
        let place = self.0.place;
        ReadError { line: place.line, column: place.column, what: what.into() }
    }

    /// A scalar as it is written, without quotation marks; `None` for `~`, `null` and nothing.
    pub(crate) fn scalar(&self) -> Result<Option<&'t str>, ReadError> {
        match &self.0.value {
            Value::Nothing => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            _ => Err(self.error("one value is needed here and there is a list or a mapping")),
        }
    }

    /// A text that is not empty.
    pub(crate) fn text(&self) -> Result<String, ReadError> {
        match self.scalar()? {
            // Line breaks in the file are not line breaks of the text.
            Some(text) if !text.trim().is_empty() => {
                Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            _ => Err(self.error("a text is needed here and there is nothing")),
        }
    }

    pub(crate) fn truth(&self) -> Result<bool, ReadError> {
        let truth = self.0.text().and_then(|text| text.parse().ok());
        truth.ok_or_else(|| self.error("true or false is needed here"))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.0.value, Value::List(_))
    }

    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.0.value, Value::Map(_))
    }

    pub(crate) fn items(&self) -> Result<Vec<Node<'t>>, ReadError> {
        match &self.0.value {
            Value::List(items) => Ok(items.iter().map(Node).collect()),
            _ => Err(self.error("a list is needed here")),
        }
    }

    /// All fields of a mapping, whatever their names.
    pub(crate) fn entries(&self) -> Result<Vec<(String, Node<'t>)>, ReadError> {
        let Value::Map(mapping) = &self.0.value else {
            return Err(self.error("a mapping (`key: value`) is needed here"));
        };
        mapping.iter().map(|(key, value)| Ok((Node(key).text()?, Node(value)))).collect()
    }

    /// The fields of a mapping that may have only these.
    pub(crate) fn fields(&self, known: &[&str]) -> Result<Fields<'t>, ReadError> {
        let Value::Map(mapping) = &self.0.value else {
            return Err(self.error(format!("a mapping with {} is needed here", known.join(", "))));
        };
        for (key, _) in mapping {
            let name = Node(key).text()?;
            if !known.contains(&name.as_str()) {
                let known = known.join(", ");
                return Err(
                    Node(key).error(format!("`{name}` means nothing here; there are {known}"))
                );
            }
        }
        Ok(Fields { of: *self, entries: self.entries()? })
    }
}

/// The fields of a mapping.
pub(crate) struct Fields<'t> {
    of: Node<'t>,
    entries: Vec<(String, Node<'t>)>,
}

impl<'t> Fields<'t> {
    pub(crate) fn get(&self, name: &str) -> Option<Node<'t>> {
        self.entries.iter().find(|(found, _)| found == name).map(|(_, node)| *node)
    }

    pub(crate) fn need(&self, name: &str) -> Result<Node<'t>, ReadError> {
        self.get(name).ok_or_else(|| self.of.error(format!("`{name}` is missing here")))
    }

    pub(crate) fn text(&self, name: &str) -> Result<String, ReadError> {
        self.need(name)?.text()
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<String>, ReadError> {
        self.get(name).map(|node| node.text()).transpose()
    }
}
