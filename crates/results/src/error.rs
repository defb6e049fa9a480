//! What can go wrong with a results file, and what to do about it.
//!
//! A file may come from anywhere, and a terminal obeys what is printed on it: text out of the file
//! is shown without control characters.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::contents::Contents;
use crate::file::FORMAT_VERSION;

/// A results file that cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// There is one already.
    #[error("{} exists already; resume it, or choose another results file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is none.
    #[error("there is no results file {}; check the path", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A directory, a device or the like is there.
    #[error("{} is not a regular file; give the path of one", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// Something else is there.
    #[error("{} is not a stormeter results file; check the path", path.display())]
    NotResults {
        /// The file.
        path: PathBuf,
    },
    /// Its pages or rows are damaged.
    #[error(
        "{} is damaged ({}); use a copy of it, or what `sqlite3 FILE .recover` saves",
        path.display(),
        visible(what)
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A later version wrote it, in a form that this one does not know.
    #[error(
        "{} was made by stormeter {} in format {format}; this is {this}, which reads formats up to \
         {FORMAT_VERSION}: update stormeter",
        path.display(),
        visible(made_by)
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's format.
        format: i32,
        /// The version that made it.
        made_by: String,
        /// The version that runs.
        this: &'static str,
    },
    /// Another run writes it.
    #[error(
        "{} is being written by another run of stormeter; wait for it to end, \
         or choose another results file",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// Something that is not stormeter's has the name of the run's lock file.
    #[error(
        "{} was not made by stormeter, but a run needs that name for its lock; move it away, or \
         choose another results file",
        path.display()
    )]
    LockTaken {
        /// What stands there.
        path: PathBuf,
    },
    /// Another program holds a lock in it.
    #[error("{} is locked by another program; close it there and try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// No room for it.
    #[error("no space is left for {}; free some, then resume the run", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refuses it.
    #[error("cannot use {}: {source}; choose another results file", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// It is of something else than what was asked for.
    #[error(
        "{} holds {found}, and this is for {wanted}; `stormeter report` reads both, `stormeter \
         compare` goes on with a comparison and `stormeter run` with a study",
        path.display()
    )]
    OtherContents {
        /// The file.
        path: PathBuf,
        /// What it is of.
        found: Contents,
        /// What was asked for.
        wanted: Contents,
    },
    /// A trial of that number is in the file.
    #[error("trial {id} is in {} already", path.display())]
    DuplicateTrial {
        /// The file.
        path: PathBuf,
        /// The number.
        id: u64,
    },
    /// Anything else that SQLite says.
    #[error("cannot use {}: {}", path.display(), visible(&source.to_string()))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: rusqlite::Error,
    },
}

impl ResultsError {
    /// Sorts what SQLite says into what a user can do about it.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::Error as E;
        let path = path.to_path_buf();
        match &source {
            E::SqliteFailure(failure, _) => match failure.code {
                ErrorCode::NotADatabase => ResultsError::NotResults { path },
                ErrorCode::DatabaseCorrupt => {
                    ResultsError::Corrupt { path, what: source.to_string() }
                }
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                    ResultsError::Locked { path }
                }
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
                    ResultsError::Io { path, source: std::io::ErrorKind::PermissionDenied.into() }
                }
                ErrorCode::DiskFull => ResultsError::NoSpace { path },
                _ => ResultsError::Sqlite { path, source },
            },
            // Values that this program never writes.
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::QueryReturnedNoRows
            | E::Utf8Error(..) => ResultsError::Corrupt { path, what: source.to_string() },
            _ => ResultsError::Sqlite { path, source },
        }
    }

    pub(crate) fn corrupt(path: &Path, what: impl Into<String>) -> Self {
        ResultsError::Corrupt { path: path.to_path_buf(), what: what.into() }
    }
}

/// Text from a file, fit to be printed: of bounded length, and with control characters and those
/// that turn the direction of writing as their numbers.
fn visible(text: &str) -> String {
    const MAX_CHARS: usize = 500;
    let turns = |c| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::new();
    for (number, c) in text.chars().enumerate() {
        if number == MAX_CHARS {
            shown.push('…');
            break;
        }
        if c.is_control() || turns(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_the_file_cannot_steer_a_terminal() {
        let path = PathBuf::from("results.db");
        let hostile = "\u{1b}[2J\u{9b}31m\r\u{202e}gone\u{7f}";
        let source = rusqlite::Error::InvalidParameterName(hostile.into());
        for error in [
            ResultsError::corrupt(&path, hostile),
            ResultsError::Newer {
                path: path.clone(),
                format: 2,
                made_by: hostile.into(),
                this: "0.1.0",
            },
            ResultsError::Sqlite { path, source },
        ] {
            let message = error.to_string();
            assert!(!message.contains(|c: char| c.is_control() || c == '\u{202e}'), "{message:?}");
            assert!(message.contains("\\u{1b}[2J") && message.contains("gone"), "{message}");
        }
        assert_eq!(visible("µs, 雪"), "µs, 雪");
        assert_eq!(visible(&"x".repeat(1_000_000)).chars().count(), 501);
    }
}
