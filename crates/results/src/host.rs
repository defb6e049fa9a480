//! What each host did in a trial on several hosts, as rows and back.
//!
//! The trial's own rows combine all hosts; these show which of them were busy, and whether they started
//! at the same time.

use rusqlite::{Connection, Result, params};
use serde::{Deserialize, Serialize};
use stormeter_trial::{CpuUsage, MonitorRow};

use crate::column::{count, int, json, to_json};
use crate::write::busy_share;

/// What one of several hosts did in a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostShare {
    /// Its index in the study, from 0.
    pub number: u32,
    /// Its name in the study.
    pub name: String,
    /// Number of VMs that it drove.
    pub vms: u32,
    /// I/Os that ended in the window.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// The length of its window, in nanoseconds.
    pub window_ns: u64,
    /// Its time of day minus that of the machine that controls the study, in nanoseconds.
    pub clock_offset_ns: i64,
    /// Uncertainty of the offset, plus or minus, in nanoseconds.
    pub clock_error_ns: u64,
    /// How late it learned of the common start, in nanoseconds; 0 if in time.
    pub late_ns: u64,
    /// CPU usage of the trial on that host.
    pub cpu: CpuUsage,
    /// Host activity during the trial.
    pub monitor: Vec<MonitorRow>,
}

/// Creates the tables if the file has none, and writes what the hosts did; does nothing without
/// hosts.
pub(crate) fn write(connection: &Connection, trial_id: u64, hosts: &[HostShare]) -> Result<()> {
    if hosts.is_empty() {
        return Ok(());
    }
    connection.execute_batch(include_str!("host.sql"))?;
    let id = int(trial_id)?;
    for host in hosts {
        connection.execute(
            "INSERT INTO host_share VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                id,
                host.number,
                host.name,
                host.vms,
                int(host.operations)?,
                int(host.bytes)?,
                int(host.latency_sum_ns)?,
                int(host.window_ns)?,
                host.clock_offset_ns,
                int(host.clock_error_ns)?,
                int(host.late_ns)?,
                to_json(&host.cpu)?,
                int(host.cpu.initiator_ns())?,
                busy_share(&host.cpu.host),
            ],
        )?;
        let mut insert =
            connection.prepare_cached("INSERT INTO host_monitor VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        for (number, row) in (0i64..).zip(&host.monitor) {
            insert.execute(params![
                id,
                host.number,
                number,
                int(row.at_ns)?,
                row.cpu_busy,
                int(row.memory_used_bytes)?,
                to_json(row)?,
            ])?;
        }
    }
    Ok(())
}

/// What hosts did, by trial; empty for a file without the tables.
pub(crate) fn read(connection: &Connection) -> Result<Vec<(u64, HostShare)>> {
    let has_tables = connection
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'host_share'")?
        .exists([])?;
    if !has_tables {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare("SELECT * FROM host_share ORDER BY trial_id, number")?;
    let shares = select.query_map([], |row| {
        let (id, number) = (count(row, "trial_id")?, row.get("number")?);
        Ok((
            id,
            HostShare {
                number,
                name: row.get("name")?,
                vms: row.get("vms")?,
                operations: count(row, "operations")?,
                bytes: count(row, "bytes")?,
                latency_sum_ns: count(row, "latency_sum_ns")?,
                window_ns: count(row, "window_ns")?,
                clock_offset_ns: row.get("clock_offset_ns")?,
                clock_error_ns: count(row, "clock_error_ns")?,
                late_ns: count(row, "late_ns")?,
                cpu: json(row, "cpu")?,
                monitor: monitor(connection, id, number)?,
            },
        ))
    })?;
    shares.collect()
}

fn monitor(connection: &Connection, trial_id: u64, host: u32) -> Result<Vec<MonitorRow>> {
    let mut select = connection.prepare_cached(
        "SELECT row FROM host_monitor WHERE trial_id = ? AND host = ? ORDER BY number",
    )?;
    let rows = select.query_map(params![int(trial_id)?, host], |row| json(row, "row"))?;
    rows.collect()
}
