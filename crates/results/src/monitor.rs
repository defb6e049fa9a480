//! What the host did while a trial ran, interval by interval: plain values, as rows and back.
//!
//! The busy shares of single CPUs are a table of their own, one share a row: people ask for "CPU 3
//! over time", and a host has any number of CPUs.

use rusqlite::{Connection, Result, params};
use serde::{Deserialize, Serialize};

use crate::read::{count, number, strange};
use crate::write::int;

/// One interval of the host's life during a trial, ramp included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MonitorRow {
    /// Begin of the interval, in nanoseconds since the trial began.
    pub at_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Busy share of all CPUs together, 0 to 1.
    pub cpu_busy: f64,
    /// Busy share of each CPU.
    pub cores_busy: Vec<f64>,
    /// Memory in use at the interval's end: total less available, in bytes.
    pub memory_used_bytes: u64,
    /// Bytes a second that came in from networks, loopback left out.
    pub network_receive_bytes_per_s: f64,
    /// Bytes a second that went out to networks, loopback left out.
    pub network_transmit_bytes_per_s: f64,
    /// Bytes a second over the loopback interface, which are sent and received at once.
    pub loopback_bytes_per_s: f64,
    /// Bytes a second read from block devices, each counted once (partitions and stacked devices left
    /// out).
    pub disk_read_bytes_per_s: f64,
    /// Bytes a second written to block devices.
    pub disk_write_bytes_per_s: f64,
}

impl MonitorRow {
    /// The rows' means over windows of `window_ns` since the trial began, each row weighing as much
    /// as it is long: what charts of a longer run show (20 s in the `mpls-servers` study). A row
    /// belongs to the window in which its middle lies and is not cut, so rows that are longer than
    /// the window stay as they are, and there are never more means than rows. A CPU that a row does
    /// not name was off: it counts as idle. Rows come in their order; windows without any are left
    /// out.
    pub fn averages(rows: &[MonitorRow], window_ns: u64) -> Vec<MonitorRow> {
        let window_of =
            |row: &MonitorRow| row.at_ns.saturating_add(row.length_ns / 2) / window_ns.max(1);
        rows.chunk_by(|row, next| window_of(row) == window_of(next)).map(mean).collect()
    }
}

/// The mean of rows that follow one another.
fn mean(rows: &[MonitorRow]) -> MonitorRow {
    let length_ns = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.length_ns));
    // Rows without a length, which nobody writes, weigh alike.
    let weight = |row: &MonitorRow| match length_ns {
        0 => 1.0 / rows.len() as f64,
        all => row.length_ns as f64 / all as f64,
    };
    let of = |value: &dyn Fn(&MonitorRow) -> f64| -> f64 {
        rows.iter().map(|row| weight(row) * value(row)).sum()
    };
    let cores = rows.iter().map(|row| row.cores_busy.len()).max().unwrap_or(0);
    MonitorRow {
        at_ns: rows.first().map_or(0, |row| row.at_ns),
        length_ns,
        cpu_busy: of(&|row| row.cpu_busy),
        cores_busy: (0..cores)
            .map(|core| of(&|row| row.cores_busy.get(core).copied().unwrap_or(0.0)))
            .collect(),
        memory_used_bytes: of(&|row| row.memory_used_bytes as f64).round() as u64,
        network_receive_bytes_per_s: of(&|row| row.network_receive_bytes_per_s),
        network_transmit_bytes_per_s: of(&|row| row.network_transmit_bytes_per_s),
        loopback_bytes_per_s: of(&|row| row.loopback_bytes_per_s),
        disk_read_bytes_per_s: of(&|row| row.disk_read_bytes_per_s),
        disk_write_bytes_per_s: of(&|row| row.disk_write_bytes_per_s),
    }
}

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
    // Columns by their places: a study has many of these rows.
    let mut select = connection.prepare_cached(
        "SELECT at_ns, length_ns, cpu_busy, memory_used_bytes, network_receive_bytes_per_s, \
         network_transmit_bytes_per_s, loopback_bytes_per_s, disk_read_bytes_per_s, \
         disk_write_bytes_per_s, number FROM monitor WHERE trial_id = ? ORDER BY number",
    )?;
    let mut next = 0u64;
    let mut rows = select
        .query_map([id], |row| {
            // The shares below find their interval by it.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A row whose every rate is `value`.
    fn row(at_s: u64, length_s: u64, value: f64) -> MonitorRow {
        MonitorRow {
            at_ns: at_s * 1_000_000_000,
            length_ns: length_s * 1_000_000_000,
            cpu_busy: value,
            cores_busy: vec![value, 0.0],
            memory_used_bytes: value as u64,
            network_receive_bytes_per_s: value,
            network_transmit_bytes_per_s: value,
            loopback_bytes_per_s: value,
            disk_read_bytes_per_s: value,
            disk_write_bytes_per_s: value,
        }
    }

    const WINDOW_NS: u64 = 20_000_000_000;

    #[test]
    fn a_long_row_weighs_more_than_a_short_one() {
        let rows = [row(0, 15, 1.0), row(15, 5, 5.0), row(20, 20, 7.0), row(40, 2, 9.0)];
        let averages = MonitorRow::averages(&rows, WINDOW_NS);
        assert_eq!(averages, [row(0, 20, 2.0), row(20, 20, 7.0), row(40, 2, 9.0)]);
    }

    #[test]
    fn a_row_across_an_edge_belongs_to_its_middle() {
        let rows = [row(0, 18, 1.0), row(18, 6, 2.0), row(24, 6, 4.0)];
        assert_eq!(MonitorRow::averages(&rows, WINDOW_NS), [row(0, 18, 1.0), row(18, 12, 3.0)]);
    }

    #[test]
    fn a_cpu_that_was_off_counts_as_idle() {
        let mut without = row(10, 10, 4.0);
        without.cores_busy.clear();
        let averages = MonitorRow::averages(&[row(0, 10, 4.0), without], WINDOW_NS);
        assert_eq!(averages[0].cores_busy, [2.0, 0.0]);
        assert_eq!(averages[0].cpu_busy, 4.0);
    }

    /// A results file may come from anywhere.
    #[test]
    fn rows_that_nobody_writes_make_no_more_windows_than_rows() {
        let endless = MonitorRow { length_ns: u64::MAX, ..row(3, 1, 1.0) };
        let late = MonitorRow { at_ns: u64::MAX, ..endless.clone() };
        let rows = [endless, late, row(0, 0, 2.0), row(0, 0, 4.0)];
        for window_ns in [0, 1, WINDOW_NS, u64::MAX] {
            let averages = MonitorRow::averages(&rows, window_ns);
            assert!((1..=4).contains(&averages.len()), "{window_ns}: {averages:?}");
            assert!(averages.iter().all(|row| row.cpu_busy.is_finite()), "{averages:?}");
        }
        assert_eq!(MonitorRow::averages(&rows[2..], WINDOW_NS)[0].cpu_busy, 3.0);
        assert_eq!(MonitorRow::averages(&[], WINDOW_NS), []);
    }
}
