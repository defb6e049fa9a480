//! How long it took after a trial until written data was on storage, as a row and back.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::column::{count, int};

pub(crate) fn write(connection: &Connection, trial_id: i64, settled_ns: u64) -> Result<()> {
    if settled_ns > 0 {
        let row = params![trial_id, int(settled_ns)?];
        connection.execute("INSERT INTO settled VALUES (?, ?)", row)?;
    }
    Ok(())
}

pub(crate) fn read(connection: &Connection, trial_id: i64) -> Result<u64> {
    let mut select =
        connection.prepare_cached("SELECT settled_ns FROM settled WHERE trial_id = ?")?;
    let settled_ns = select.query_row([trial_id], |row| count(row, 0)).optional()?;
    Ok(settled_ns.unwrap_or(0))
}
