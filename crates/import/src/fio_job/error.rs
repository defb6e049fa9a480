//! Why a job file is not translated, and what a translation has to add.
//!
//! All that is refused is reported at once: a user edits the file once, not once for each key.

use std::fmt;

use thiserror::Error;

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobPlace {
    /// The name of the included file; `None`: the job file itself.
    pub file: Option<String>,
    /// From 1.
    pub line: usize,
}

impl fmt::Display for JobPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}, line {}", self.line),
            None => write!(f, "line {}", self.line),
        }
    }
}

/// A key that is not translated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// Where it stands; of a key that is missing, where its job starts.
    pub place: JobPlace,
    /// The key as the file spells it.
    pub key: String,
    /// Why.
    pub reason: String,
    /// What to do.
    pub advice: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, key, reason, advice } = self;
        write!(f, "{place}: {key}: {reason}; {advice}")
    }
}

/// A key, or a default of fio, that the study file has in another way or does not need.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// Where it stands; of a default, where its job starts.
    pub place: JobPlace,
    /// The key as the file spells it.
    pub key: String,
    /// What becomes of it.
    pub text: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.key, self.text)
    }
}

/// Why a job file is not translated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FioJobError {
    /// The text is no job file.
    #[error("{place}: {what}")]
    Malformed {
        /// Where.
        place: JobPlace,
        /// What is wrong there, and what to write.
        what: String,
    },
    /// No section is a job.
    #[error("the file has no job; write a section such as [job] with rw=randread and size=1g")]
    NoJob,
    /// Keys that no study file can have, in the order of the file.
    #[error("{}", lines(.0))]
    Refused(Vec<Refusal>),
}

fn lines(refusals: &[Refusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
