//! What became of users and desktops in a trial, as rows and back.

use rusqlite::{Connection, OptionalExtension, Result, params};
use stormeter_disk::Kind;
use stormeter_trial::{DesktopRow, DesktopStep, DesktopTotals, KindTotals, StepTime};

use crate::column::{count, histogram_of, int, number, strange, write_histogram};
use crate::fact;

/// The kinds of [`DesktopTotals::work`], in order.
const KINDS: [Kind; 2] = [Kind::Read, Kind::Write];

/// Creates the tables if the file has none, and writes the totals.
pub(crate) fn write(connection: &Connection, id: i64, totals: &DesktopTotals) -> Result<()> {
    connection.execute_batch(include_str!("desktop.sql"))?;
    let DesktopTotals { came, usable, refused, gone, replaced, waiting, at_once, .. } = *totals;
    let DesktopTotals { deployed, failed, died, idled_out, storage_most_bytes, .. } = *totals;
    connection.execute(
        "INSERT INTO desktop_total VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            id,
            int(came)?,
            int(usable)?,
            int(refused)?,
            int(gone)?,
            int(replaced)?,
            int(waiting)?,
            int(at_once)?,
            int(deployed)?,
            int(failed)?,
            int(died)?,
            int(idled_out)?,
            int(storage_most_bytes)?,
        ],
    )?;
    let mut insert = connection.prepare("INSERT INTO desktop_step VALUES (?, ?, ?, ?, ?, ?)")?;
    for (number, step) in (0i64..).zip(&totals.steps) {
        let StepTime { name, times, total_ns, max_ns } = step;
        insert.execute(params![id, number, name, int(*times)?, int(*total_ns)?, int(*max_ns)?])?;
    }
    for (kind, work) in KINDS.into_iter().zip(&totals.work) {
        write_work(connection, id, kind, work)?;
    }
    write_unserved(connection, id, &totals.unserved)?;
    headline(connection, id, totals)?;
    let mut insert =
        connection.prepare("INSERT INTO desktop_interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (number, row) in (0i64..).zip(&totals.rows) {
        let DesktopRow { start_ns, length_ns, waiting, deploying, ready, used, idle, leaving } =
            *row;
        let (start_ns, length_ns) = (int(start_ns)?, int(length_ns)?);
        insert.execute(params![
            id, number, start_ns, length_ns, waiting, deploying, ready, used, idle, leaving
        ])?;
    }
    Ok(())
}

/// The metrics of desktops, for queries: nothing is read back from them.
fn headline(connection: &Connection, id: i64, totals: &DesktopTotals) -> Result<()> {
    let whole = |ns: Option<f64>| ns.map(|ns| ns.round() as u64);
    for step in DesktopStep::ALL {
        let name = format!("{}_time_ns", step.name());
        fact::write(connection, id, &name, whole(totals.step_mean_ns(step)))?;
    }
    let p99_ns = totals.work().histogram.percentile_ns(0.99);
    fact::write(connection, id, "work_p99_ns", whole(p99_ns))
}

fn write_work(connection: &Connection, id: i64, kind: Kind, work: &KindTotals) -> Result<()> {
    connection.execute(
        "INSERT INTO desktop_work VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![
            id,
            kind.name(),
            int(work.operations)?,
            int(work.bytes)?,
            int(work.latency_sum_ns)?,
            int(work.latency_min_ns)?,
            int(work.latency_max_ns)?,
        ],
    )?;
    let insert = "INSERT INTO desktop_work_histogram VALUES (?, ?, ?, ?, ?, ?)";
    write_histogram(connection, insert, (id, kind.name()), &work.histogram)
}

/// The kind under which their histogram is kept.
const UNSERVED: &str = "unserved";

fn write_unserved(connection: &Connection, id: i64, waits: &KindTotals) -> Result<()> {
    connection.execute(
        "INSERT INTO desktop_unserved VALUES (?, ?, ?, ?, ?)",
        params![
            id,
            int(waits.operations)?,
            int(waits.latency_sum_ns)?,
            int(waits.latency_min_ns)?,
            int(waits.latency_max_ns)?,
        ],
    )?;
    let insert = "INSERT INTO desktop_unserved_histogram VALUES (?, ?, ?, ?, ?, ?)";
    write_histogram(connection, insert, (id, UNSERVED), &waits.histogram)
}

/// Whether the file has the tables.
pub(crate) fn has_tables(connection: &Connection) -> Result<bool> {
    has_table(connection, "desktop_total")
}

fn has_table(connection: &Connection, name: &str) -> Result<bool> {
    connection
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?
        .exists([name])
}

/// The totals of a trial, in a file that has the tables; `None` if the trial had no broker.
pub(crate) fn read(connection: &Connection, id: i64) -> Result<Option<Box<DesktopTotals>>> {
    let mut select = connection.prepare_cached("SELECT * FROM desktop_total WHERE trial_id = ?")?;
    let totals = select.query_row([id], |row| {
        Ok(DesktopTotals {
            came: count(row, "came")?,
            usable: count(row, "usable")?,
            refused: count(row, "refused")?,
            gone: count(row, "gone")?,
            replaced: count(row, "replaced")?,
            waiting: count(row, "waiting")?,
            at_once: count(row, "at_once")?,
            deployed: count(row, "deployed")?,
            failed: count(row, "failed")?,
            died: count(row, "died")?,
            idled_out: count(row, "idled_out")?,
            storage_most_bytes: count(row, "storage_most_bytes")?,
            ..DesktopTotals::default()
        })
    });
    let Some(mut totals) = totals.optional()? else { return Ok(None) };
    let mut select = connection.prepare_cached(
        "SELECT name, times, total_ns, max_ns FROM desktop_step WHERE trial_id = ? ORDER BY number",
    )?;
    let steps = select.query_map([id], |row| {
        let (times, total_ns, max_ns) = (count(row, 1)?, count(row, 2)?, count(row, 3)?);
        Ok(StepTime { name: row.get(0)?, times, total_ns, max_ns })
    })?;
    totals.steps = steps.collect::<Result<_>>()?;
    for (kind, work) in KINDS.into_iter().zip(&mut totals.work) {
        *work = read_work(connection, id, kind)?;
    }
    totals.unserved = read_unserved(connection, id)?;
    let mut select = connection
        .prepare_cached("SELECT * FROM desktop_interval WHERE trial_id = ? ORDER BY number")?;
    let rows = select.query_map([id], |row| {
        Ok(DesktopRow {
            start_ns: count(row, "start_ns")?,
            length_ns: count(row, "length_ns")?,
            waiting: number(row, "waiting")?,
            deploying: number(row, "deploying")?,
            ready: number(row, "ready")?,
            used: number(row, "used")?,
            idle: number(row, "idle")?,
            leaving: number(row, "leaving")?,
        })
    })?;
    totals.rows = rows.collect::<Result<_>>()?;
    Ok(Some(Box::new(totals)))
}

fn read_work(connection: &Connection, id: i64, kind: Kind) -> Result<KindTotals> {
    let select = "SELECT bucket, low_ns, high_ns, count FROM desktop_work_histogram \
                  WHERE trial_id = ? AND kind = ? ORDER BY bucket";
    let histogram = histogram_of(connection, select, id, kind.name())?;
    let mut select =
        connection.prepare_cached("SELECT * FROM desktop_work WHERE trial_id = ? AND kind = ?")?;
    let totals = select.query_row((id, kind.name()), |row| {
        Ok(KindTotals {
            operations: count(row, "operations")?,
            bytes: count(row, "bytes")?,
            latency_sum_ns: count(row, "latency_sum_ns")?,
            latency_min_ns: count(row, "latency_min_ns")?,
            latency_max_ns: count(row, "latency_max_ns")?,
            histogram,
            ..KindTotals::default()
        })
    });
    totals.optional()?.ok_or_else(|| strange("desktops without totals of their users' work"))
}

/// Nothing in files from before these waits were kept.
fn read_unserved(connection: &Connection, id: i64) -> Result<KindTotals> {
    if !has_table(connection, "desktop_unserved")? {
        return Ok(KindTotals::default());
    }
    let select = "SELECT bucket, low_ns, high_ns, count FROM desktop_unserved_histogram \
                  WHERE trial_id = ? AND kind = ? ORDER BY bucket";
    let histogram = histogram_of(connection, select, id, UNSERVED)?;
    let mut select =
        connection.prepare_cached("SELECT * FROM desktop_unserved WHERE trial_id = ?")?;
    let totals = select.query_row([id], |row| {
        Ok(KindTotals {
            operations: count(row, "users")?,
            latency_sum_ns: count(row, "wait_sum_ns")?,
            latency_min_ns: count(row, "wait_min_ns")?,
            latency_max_ns: count(row, "wait_max_ns")?,
            histogram,
            ..KindTotals::default()
        })
    });
    Ok(totals.optional()?.unwrap_or_default())
}
