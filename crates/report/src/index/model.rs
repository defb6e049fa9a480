//! What an index has of each results file.

/// Results files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The directories that were listed.
    pub directories: Vec<String>,
    /// The files, in the order in which they are shown.
    pub rows: Vec<IndexRow>,
}

/// A results file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRow {
    /// When it began; of a file that cannot be read, when it was written. Milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// What it is of; empty if it cannot be read.
    pub subject: String,
    /// How far it got.
    pub state: IndexState,
    /// How much there is of it: `96 trials in 38.2min`; may be empty.
    pub extent: String,
    /// What it says, or why it cannot be read.
    pub says: String,
    /// The program that made it, with its version; empty if that is not known.
    pub made_by: String,
    /// Its path.
    pub path: String,
    /// Its size in words.
    pub size: String,
    /// The address of its report, relative to the page and escaped for URLs.
    pub href: Option<String>,
}

/// How far a run got, as a table shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    /// It ended by itself.
    Complete(&'static str),
    /// It runs, or results of another tool were imported: neither good nor bad.
    Neutral(&'static str),
    /// It did not end by itself, or cannot be read.
    Incomplete(&'static str),
}

impl IndexState {
    /// The state in words.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Complete(words) | Self::Neutral(words) | Self::Incomplete(words) => words,
        }
    }
}
