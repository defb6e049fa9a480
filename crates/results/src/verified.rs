//! The results of verification, as rows and back.

use rusqlite::{Connection, OptionalExtension, Result, params};
use stormeter_trial::{Corruption, ExpectedBlock, Verified};

use crate::column::{count, int, json, to_json};

/// Creates the tables if the file has none, and writes what was verified in a trial.
pub(crate) fn write(connection: &Connection, id: i64, verified: &Verified) -> Result<()> {
    connection.execute_batch(include_str!("verified.sql"))?;
    connection.execute(
        "INSERT INTO verified VALUES (?, ?, ?, ?)",
        params![
            id,
            int(verified.blocks)?,
            int(verified.unknown_blocks)?,
            int(verified.wrong_blocks)?
        ],
    )?;
    for (number, corruption) in (0i64..).zip(&verified.corruptions) {
        let Corruption { expected, found, at_ns } = corruption;
        connection.execute(
            "INSERT INTO corruption VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                id,
                number,
                expected.disk,
                int(expected.offset_bytes)?,
                int(*at_ns)?,
                to_json(&expected.generations)?,
                to_json(found)?,
                corruption.to_string(),
            ],
        )?;
    }
    Ok(())
}

/// Whether the file has the tables.
pub(crate) fn has_tables(connection: &Connection) -> Result<bool> {
    connection
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'verified'")?
        .exists([])
}

/// What was verified in a trial, in a file that has the tables; `None` if nothing was.
pub(crate) fn read(connection: &Connection, id: i64) -> Result<Option<Verified>> {
    let mut select = connection.prepare_cached("SELECT * FROM verified WHERE trial_id = ?")?;
    select
        .query_row([id], |row| {
            Ok(Verified {
                blocks: count(row, "blocks")?,
                unknown_blocks: count(row, "unknown_blocks")?,
                wrong_blocks: count(row, "wrong_blocks")?,
                corruptions: corruptions(connection, id)?,
            })
        })
        .optional()
}

fn corruptions(connection: &Connection, id: i64) -> Result<Vec<Corruption>> {
    let mut select =
        connection.prepare_cached("SELECT * FROM corruption WHERE trial_id = ? ORDER BY number")?;
    let corruptions = select.query_map([id], |row| {
        Ok(Corruption {
            expected: ExpectedBlock {
                disk: row.get("disk")?,
                offset_bytes: count(row, "offset_bytes")?,
                generations: json(row, "expected")?,
            },
            found: json(row, "found")?,
            at_ns: count(row, "at_ns")?,
        })
    })?;
    corruptions.collect()
}
