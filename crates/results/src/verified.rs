//! The results of verification, as rows and back.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};
use stormeter_trial::{Corruption, ExpectedBlock, FoundBlock, Verified};

use crate::column::{count, int, json, to_json};
use crate::fact;

/// What a block contained, and what was known of the write that it should contain.
#[derive(Serialize, Deserialize)]
struct Found {
    #[serde(flatten)]
    block: FoundBlock,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    covered: bool,
}

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
    let covered_writes = (verified.covered_writes > 0).then_some(verified.covered_writes);
    fact::write(connection, id, fact::COVERED_WRITES, covered_writes)?;
    for (number, corruption) in (0i64..).zip(&verified.corruptions) {
        let Corruption { expected, found, at_ns, covered } = corruption;
        let found = Found { block: *found, covered: *covered };
        connection.execute(
            "INSERT INTO corruption VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                id,
                number,
                expected.disk,
                int(expected.offset_bytes)?,
                int(*at_ns)?,
                to_json(&expected.generations)?,
                to_json(&found)?,
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
pub(crate) fn read(
    connection: &Connection,
    id: i64,
    covered_writes: Option<u64>,
) -> Result<Option<Verified>> {
    let mut select = connection.prepare_cached("SELECT * FROM verified WHERE trial_id = ?")?;
    select
        .query_row([id], |row| {
            Ok(Verified {
                blocks: count(row, "blocks")?,
                unknown_blocks: count(row, "unknown_blocks")?,
                wrong_blocks: count(row, "wrong_blocks")?,
                covered_writes: covered_writes.unwrap_or(0),
                corruptions: corruptions(connection, id)?,
            })
        })
        .optional()
}

fn corruptions(connection: &Connection, id: i64) -> Result<Vec<Corruption>> {
    let mut select =
        connection.prepare_cached("SELECT * FROM corruption WHERE trial_id = ? ORDER BY number")?;
    let corruptions = select.query_map([id], |row| {
        let Found { block, covered } = json(row, "found")?;
        Ok(Corruption {
            expected: ExpectedBlock {
                disk: row.get("disk")?,
                offset_bytes: count(row, "offset_bytes")?,
                generations: json(row, "expected")?,
            },
            found: block,
            at_ns: count(row, "at_ns")?,
            covered,
        })
    })?;
    corruptions.collect()
}
