//! What the guests of a rack did during a trial, as rows and back.

use rusqlite::{Connection, Result, params};
use stormeter_trial::{GuestActivity, GuestKind, GuestRow};

use crate::column::{count, int, number, strange};

/// Creates the tables if the file has none, and writes what the guests did; does nothing without guests.
pub(crate) fn write(
    connection: &Connection,
    trial_id: u64,
    guests: &[GuestActivity],
) -> Result<()> {
    if guests.is_empty() {
        return Ok(());
    }
    connection.execute_batch(include_str!("guest.sql"))?;
    let id = int(trial_id)?;
    let mut insert = connection.prepare("INSERT INTO guest VALUES (?, ?, ?, ?)")?;
    let mut insert_row = connection
        .prepare("INSERT INTO guest_monitor VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (guest, activity) in (0i64..).zip(guests) {
        insert.execute((id, guest, &activity.name, activity.kind.name()))?;
        for (number, row) in (0i64..).zip(&activity.rows) {
            insert_row.execute(params![
                id,
                guest,
                number,
                int(row.at_ns)?,
                int(row.length_ns)?,
                row.cpus_busy,
                row.waited,
                int(row.memory_bytes)?,
                row.disk_read_bytes_per_s,
                row.disk_write_bytes_per_s,
                row.network_receive_bytes_per_s,
                row.network_transmit_bytes_per_s,
            ])?;
        }
    }
    Ok(())
}

/// Whether the file has the tables.
pub(crate) fn has_tables(connection: &Connection) -> Result<bool> {
    connection
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'guest'")?
        .exists([])
}

/// What the guests did in a trial, in a file that has the tables.
pub(crate) fn read(connection: &Connection, id: i64) -> Result<Vec<GuestActivity>> {
    let mut select = connection.prepare_cached(
        "SELECT number, name, kind FROM guest WHERE trial_id = ? ORDER BY number",
    )?;
    let mut next = 0u64;
    let mut guests = select
        .query_map([id], |row| {
            // The rows below refer to their guest by this number.
            if count(row, 0)? != next {
                return Err(strange("guests that are not counted from 0"));
            }
            next += 1;
            let kind: String = row.get(2)?;
            let kind = GuestKind::from_name(&kind)
                .ok_or_else(|| strange(format!("the kind of guest {kind:?}")))?;
            Ok(GuestActivity { name: row.get(1)?, kind, rows: Vec::new() })
        })?
        .collect::<Result<Vec<_>>>()?;
    // Columns by position: a study has many of these rows.
    let mut select = connection.prepare_cached(
        "SELECT guest, number, at_ns, length_ns, cpus_busy, waited, memory_bytes, \
         disk_read_bytes_per_s, disk_write_bytes_per_s, network_receive_bytes_per_s, \
         network_transmit_bytes_per_s FROM guest_monitor WHERE trial_id = ? ORDER BY guest, number",
    )?;
    let mut all = select.query([id])?;
    while let Some(row) = all.next()? {
        let rows = usize::try_from(row.get::<_, i64>(0)?)
            .ok()
            .and_then(|guest| guests.get_mut(guest))
            .map(|guest| &mut guest.rows)
            .ok_or_else(|| strange("an interval of a guest that is not there"))?;
        if count(row, 1)? != rows.len() as u64 {
            return Err(strange("intervals of a guest that are not counted from 0"));
        }
        rows.push(GuestRow {
            at_ns: count(row, 2)?,
            length_ns: count(row, 3)?,
            cpus_busy: number(row, 4)?,
            waited: number(row, 5)?,
            memory_bytes: count(row, 6)?,
            disk_read_bytes_per_s: row.get(7)?,
            disk_write_bytes_per_s: row.get(8)?,
            network_receive_bytes_per_s: row.get(9)?,
            network_transmit_bytes_per_s: row.get(10)?,
        });
    }
    Ok(guests)
}
