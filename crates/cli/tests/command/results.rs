//! What a results file says, read as any program reads it: with SQL.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row};

/// A trial of the blocks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trial {
    pub(crate) id: i64,
    pub(crate) block: i64,
    pub(crate) position: i64,
    pub(crate) datastore: i64,
    pub(crate) seed: String,
    pub(crate) outcome: String,
    pub(crate) iops: Option<f64>,
}

/// The compared trials; none while there is no file or no table yet.
pub(crate) fn trials(path: &Path) -> Vec<Trial> {
    rows(
        path,
        "SELECT id, block, position, datastore, seed, outcome, iops FROM trial \
         WHERE phase = 'main' ORDER BY id",
        |row| {
            Ok(Trial {
                id: row.get(0)?,
                block: row.get(1)?,
                position: row.get(2)?,
                datastore: row.get(3)?,
                seed: row.get(4)?,
                outcome: row.get(5)?,
                iops: row.get(6)?,
            })
        },
    )
}

/// One row a result of the query; nothing while the file or its tables are not there yet.
pub(crate) fn rows<T>(
    path: &Path,
    query: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let look = || {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut statement = connection.prepare(query)?;
        statement.query_map([], |row| read(row))?.collect::<rusqlite::Result<Vec<T>>>()
    };
    match look() {
        Ok(rows) => rows,
        Err(error) => {
            let text = error.to_string();
            let is_early = ["unable to open", "no such table", "locked"];
            assert!(is_early.iter().any(|words| text.contains(words)), "{query}: {error}");
            Vec::new()
        }
    }
}

/// The first column of the first row.
pub(crate) fn one<T: rusqlite::types::FromSql>(path: &Path, query: &str) -> T {
    let connection = Connection::open(path).unwrap();
    connection.query_row(query, [], |row| row.get(0)).unwrap()
}

/// Changes a file, as no stormeter would.
pub(crate) fn change(path: &Path, statement: &str) {
    Connection::open(path).unwrap().execute_batch(statement).unwrap();
}
