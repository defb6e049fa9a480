//! Plain figures of a trial that earlier forms did not have, as rows of a name and a value: adding one does
//! not change a table. An unknown figure has no row.

use rusqlite::{Connection, OptionalExtension, Result};

use crate::column::{count, int};

pub(crate) const TURN_WAIT_NS: &str = "turn_wait_ns";
pub(crate) const FLUSH_WAIT_NS: &str = "flush_wait_ns";
pub(crate) const SPUN_NS: &str = "spun_ns";
pub(crate) const TOUCHED_BYTES: &str = "touched_bytes";
pub(crate) const DRIVING_THREADS: &str = "driving_threads";
pub(crate) const REDO_NUMBER: &str = "redo_number";
pub(crate) const ATTEMPT_NUMBER: &str = "attempt_number";
pub(crate) const RUN_DELAY_NS: &str = "run_delay_ns";
pub(crate) const TOOL_NS: &str = "tool_ns";
pub(crate) const HOST_CAPACITY_NS: &str = "host_capacity_ns";
pub(crate) const HOST_BACKGROUND_NS: &str = "host_background_ns";
pub(crate) const PRESSURE_CPU_NS: &str = "pressure_cpu_ns";
pub(crate) const PRESSURE_IO_NS: &str = "pressure_io_ns";
pub(crate) const PRESSURE_MEMORY_NS: &str = "pressure_memory_ns";
pub(crate) const COVERED_WRITES: &str = "covered_writes";
pub(crate) const UPDATES: &str = "updates";
pub(crate) const CPU_LATE_NS: &str = "cpu_late_ns";

pub(crate) fn write(
    connection: &Connection,
    trial_id: i64,
    name: &str,
    value: Option<u64>,
) -> Result<()> {
    let Some(value) = value else { return Ok(()) };
    let mut insert = connection.prepare_cached("INSERT INTO fact VALUES (?, ?, ?)")?;
    insert.execute((trial_id, name, int(value)?)).map(drop)
}

pub(crate) fn read(connection: &Connection, trial_id: i64, name: &str) -> Result<Option<u64>> {
    let mut select =
        connection.prepare_cached("SELECT value FROM fact WHERE trial_id = ? AND name = ?")?;
    select.query_row((trial_id, name), |row| count(row, 0)).optional()
}
