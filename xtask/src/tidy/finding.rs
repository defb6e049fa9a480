//! One violation of the rules, and where it is.

use std::fmt;

/// Something to fix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    file: String,
    line: usize,
    /// What is wrong and what to do.
    text: String,
}

impl Finding {
    pub(crate) fn in_file(file: &str, line: usize, text: String) -> Self {
        Self { file: file.to_owned(), line, text }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}
