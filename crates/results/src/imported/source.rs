//! A file of another tool.

use stormeter_import::Imported;

/// A file of another tool, and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSource {
    /// Its path, as it was named.
    pub file: String,
    /// What it says.
    pub imported: Imported,
}
