//! Why a file cannot be read.

use thiserror::Error;

/// Why the results in a file cannot be read. Nothing of such a file is used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The content is of this format and wrong at a place.
    #[error("{format}, line {line}, column {column}: {what}")]
    Malformed {
        /// The format's name, such as `fio JSON`.
        format: &'static str,
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The content is of this format and has a value, at a path within the file, that cannot be.
    #[error("{format}, {path}: {what}")]
    Wrong {
        /// The format's name.
        format: &'static str,
        /// Where: names and numbers of entries, such as `jobs[2].read.iops`.
        path: String,
        /// What is wrong there.
        what: String,
    },
    /// The file ends within an entry.
    #[error("{format}, line {line}: the file ends here, and the entry that began is not complete")]
    Truncated {
        /// The format's name.
        format: &'static str,
        /// The last line, from 1.
        line: usize,
    },
}
