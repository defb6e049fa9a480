//! Host activity during a trial, as rows and back.
//!
//! The busy shares of single CPUs are in a separate table, one share per row: people ask for "CPU 3
//! over time", and a host has any number of CPUs.

use rusqlite::{Connection, Result, params};
use stormeter_trial::MonitorRow;

use crate::column::{count, int, number, strange};

pub(crate) fn write(connection: &Connection, trial_id: u64, rows: &[MonitorRow]) -> Result<()> {
    let id = int(trial_id)?;
    let mut insert =
        connection.prepare("INSERT INTO monitor VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut insert_core = connection.prepare("INSERT INTO monitor_core VALUES (?, ?, ?, ?)")?;
    for (number, row) in (0i64..).zip(rows) {
        insert.execute(params![
            id,
            number,
            int(row.at_ns)?,
            int(row.length_ns)?,
            row.cpu_busy,
            int(row.memory_used_bytes)?,
            row.network_receive_bytes_per_s,
            row.network_transmit_bytes_per_s,
            row.loopback_bytes_per_s,
            row.disk_read_bytes_per_s,
            row.disk_write_bytes_per_s,
        ])?;
        for (core, busy) in (0i64..).zip(&row.cores_busy) {
            insert_core.execute((id, number, core, busy))?;
        }
    }
    Ok(())
}

pub(crate) fn read(connection: &Connection, id: i64) -> Result<Vec<MonitorRow>> {
    // Columns by position: a study has many of these rows.
    let mut select = connection.prepare_cached(
        "SELECT at_ns, length_ns, cpu_busy, memory_used_bytes, network_receive_bytes_per_s, \
         network_transmit_bytes_per_s, loopback_bytes_per_s, disk_read_bytes_per_s, \
         disk_write_bytes_per_s, number FROM monitor WHERE trial_id = ? ORDER BY number",
    )?;
    let mut next = 0u64;
    let mut rows = select
        .query_map([id], |row| {
            // The shares below refer to their interval by this number.
            if count(row, 9)? != next {
                return Err(strange("intervals of the host that are not counted from 0"));
            }
            next += 1;
            Ok(MonitorRow {
                at_ns: count(row, 0)?,
                length_ns: count(row, 1)?,
                cpu_busy: number(row, 2)?,
                cores_busy: Vec::new(),
                memory_used_bytes: count(row, 3)?,
                network_receive_bytes_per_s: number(row, 4)?,
                network_transmit_bytes_per_s: number(row, 5)?,
                loopback_bytes_per_s: number(row, 6)?,
                disk_read_bytes_per_s: number(row, 7)?,
                disk_write_bytes_per_s: number(row, 8)?,
            })
        })?
        .collect::<Result<Vec<_>>>()?;
    let mut select = connection.prepare_cached(
        "SELECT number, core, busy FROM monitor_core WHERE trial_id = ? ORDER BY number, core",
    )?;
    let mut shares = select.query([id])?;
    while let Some(share) = shares.next()? {
        let cores = usize::try_from(share.get::<_, i64>(0)?)
            .ok()
            .and_then(|number| rows.get_mut(number))
            .map(|row| &mut row.cores_busy)
            .ok_or_else(|| strange("a CPU's share of an interval that is not there"))?;
        if count(share, 1)? != cores.len() as u64 {
            return Err(strange("an interval that leaves a CPU out"));
        }
        cores.push(number(share, 2)?);
    }
    Ok(rows)
}
