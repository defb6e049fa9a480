//! What was done to the storage during a trial, as rows and back.
//!
//! The effect on throughput is stored as well, so that SQL users need not derive it from the intervals;
//! only the actions are read back.

use rusqlite::{Connection, Result, params};
use stormeter_trial::{Disturbance, Recovery, Sample};

use crate::column::{count, int};

pub(crate) fn write(connection: &Connection, trial_id: i64, sample: &Sample) -> Result<()> {
    if sample.disturbances.is_empty() {
        return Ok(());
    }
    let after = |recovery: &Recovery| match recovery {
        Recovery::After(ns) => Some(*ns),
        Recovery::NotWithin(_) | Recovery::Overtaken => None,
    };
    let recoveries = sample.recoveries().unwrap_or_default();
    let mut insert =
        connection.prepare("INSERT INTO disturbance VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (number, step) in sample.disturbances.iter().enumerate() {
        let Disturbance { what, planned_ns, begun_ns, took_ns, failure } = step;
        insert.execute(params![
            trial_id,
            int(number as u64)?,
            what,
            planned_ns,
            begun_ns,
            int(*took_ns)?,
            failure,
            recoveries.get(number).and_then(after).map(int).transpose()?,
        ])?;
    }
    let recovery = sample.recovery();
    let never = match recovery {
        Some(Recovery::NotWithin(ns)) => Some(ns),
        _ => None,
    };
    connection.execute(
        "INSERT INTO disturbed_trial VALUES (?, ?, ?, ?, ?, ?)",
        params![
            trial_id,
            sample.undisturbed_iops(),
            sample.dip_share(),
            recovery.as_ref().and_then(after).map(int).transpose()?,
            never.map(int).transpose()?,
            int(sample.outage_ns().unwrap_or(0))?,
        ],
    )?;
    Ok(())
}

pub(crate) fn read(connection: &Connection, trial_id: i64) -> Result<Vec<Disturbance>> {
    let mut select = connection.prepare_cached(
        "SELECT what, planned_ns, begun_ns, took_ns, failure FROM disturbance WHERE trial_id = ? \
         ORDER BY number",
    )?;
    let steps = select.query_map([trial_id], |row| {
        Ok(Disturbance {
            what: row.get(0)?,
            planned_ns: row.get(1)?,
            begun_ns: row.get(2)?,
            took_ns: count(row, 3)?,
            failure: row.get(4)?,
        })
    })?;
    steps.collect()
}
