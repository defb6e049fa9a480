//! What can go wrong with a results file, and what to do about it.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// A results file that cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// There is one already.
    #[error("{} exists already; go on with it by --resume, or choose another --output", path.display())]
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
    /// Something else is there.
    #[error("{} is not a stormeter results file; check the path", path.display())]
    NotResults {
        /// The file.
        path: PathBuf,
    },
    /// Its pages or rows are damaged.
    #[error(
        "{} is damaged ({what}); use a copy of it, or what `sqlite3 FILE .recover` saves",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A later version wrote it, in a form that this one does not know.
    #[error("{} was made by stormeter {made_by}; this is {this}: update stormeter", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version that made it.
        made_by: String,
        /// The version that runs.
        this: &'static str,
    },
    /// Another run writes it.
    #[error(
        "{} is being written by another run of stormeter; wait for it to end, \
         or choose another --output",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// Another program holds a lock in it.
    #[error("{} is locked by another program; close it there and try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// No room for it.
    #[error("no space is left for {}; free some, then go on by --resume", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refuses it.
    #[error("cannot use {}: {source}; choose another --output", path.display())]
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
    /// Anything else that SQLite says.
    #[error("cannot use {}: {source}", path.display())]
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
