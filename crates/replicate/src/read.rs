//! From the text of a `published.yaml` to a [`Published`], with the position of every error.
//!
//! Everything that can be checked without a computation is checked here: unknown fields, rows of the
//! wrong length, duplicate names, invalid expressions, paths that do not exist.

use crate::published::Published;
use crate::read_sheet::{KEYS, KEYS_OF_STUDIES, sheet};
use crate::source::{Node, ReadError, document_of};

impl Published {
    /// Reads the text of a `published.yaml`.
    ///
    /// # Errors
    /// With line and column: invalid YAML, an unknown or missing field, a table whose rows do not fit
    /// its columns, a duplicate name, an expression that cannot be parsed or refers to a table that
    /// does not exist.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let document = document_of(text)?;
        let keys: Vec<&str> = KEYS.into_iter().chain(KEYS_OF_STUDIES).collect();
        let fields = Node(&document.tree).fields(&keys)?;
        fields.need("findings")?;
        let sheet = sheet(&fields)?;
        let about = fields
            .need("study")?
            .fields(&["name", "title", "authors", "year", "where", "question"])?;
        let authors = about.need("authors")?.items()?;
        let testbed = match fields.get("testbed") {
            Some(node) => node.entries()?,
            None => Vec::new(),
        };
        Ok(Self {
            name: about.text("name")?,
            title: about.text("title")?,
            authors: authors.iter().map(Node::text).collect::<Result<_, _>>()?,
            year: about.text("year")?,
            place: about.text("where")?,
            question: about.text("question")?,
            testbed: testbed
                .into_iter()
                .map(|(part, node)| Ok((part, node.text()?)))
                .collect::<Result<_, ReadError>>()?,
            weak: fields.optional_text("weak")?,
            sound: fields.optional_text("sound")?,
            stands_for: fields.optional_text("stands-for")?,
            tables: sheet.tables,
            findings: sheet.findings,
            checks: sheet.checks,
            notes: document.notes,
        })
    }
}
