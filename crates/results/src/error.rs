//! What can go wrong with a results file, and what to do about it.
//!
//! A file may come from anywhere, and a terminal interprets what is printed on it: text from the
//! file is shown without control characters.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// A results file cannot be created, read or written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file exists already.
    #[error("{} exists already; resume it, or choose another results file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file does not exist.
    #[error("there is no results file {}; check the path", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The path is a directory, a device or similar.
    #[error("{} is not a regular file; give the path of one", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a stormeter results file; check the path", path.display())]
    NotResults {
        /// The file.
        path: PathBuf,
    },
    /// The file keeps results of other tools.
    #[error("{} keeps results of other tools, not of stormeter; give a results file of a run", path.display())]
    Imported {
        /// The file.
        path: PathBuf,
    },
    /// The file's pages or rows are damaged.
    #[error(
        "{} is damaged ({}); use a copy of it, or what `sqlite3 FILE .recover` saves",
        path.display(),
        visible(what)
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The damage that was found.
        what: String,
    },
    /// A later version wrote the file, in a form that this version does not know.
    #[error(
        "{} was made by stormeter {} in format {format}; this is {this}, which reads formats up to \
         {latest}: update stormeter",
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
        /// The running version.
        this: &'static str,
        /// The latest format that it reads.
        latest: i32,
    },
    /// Another run is writing the file.
    #[error(
        "{} is being written by another run of stormeter; wait for it to end, \
         or choose another results file",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The name of the run's lock file is taken by a file that stormeter did not create.
    #[error(
        "{} was not made by stormeter, but a run needs that name for its lock; move it away, or \
         choose another results file",
        path.display()
    )]
    LockTaken {
        /// The path of that file.
        path: PathBuf,
    },
    /// Another program has locked the file.
    #[error("{} is locked by another program; close it there and try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file system is full.
    #[error("no space is left for {}; free some, then resume the run", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused access.
    #[error("cannot use {}: {source}; choose another results file", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A trial of that number is in the file.
    #[error("trial {id} is in {} already", path.display())]
    DuplicateTrial {
        /// The file.
        path: PathBuf,
        /// The number.
        id: u64,
    },
    /// Any other SQLite error.
    #[error("cannot use {}: {}", path.display(), visible(&source.to_string()))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: rusqlite::Error,
    },
}

impl ResultsError {
    /// Maps an SQLite error to one that tells the user what to do.
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

/// Text from a file, fit for printing: shortened, and with control characters and bidirectional
/// overrides replaced by their numbers.
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
                latest: 1,
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
