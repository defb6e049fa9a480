//! The steps of a trial of fixed work, as rows and back.

use rusqlite::{Connection, Result, params};
use stormeter_trial::StepTime;

use crate::column::{count, int};

pub(crate) fn write(connection: &Connection, trial_id: i64, steps: &[StepTime]) -> Result<()> {
    let mut insert = connection.prepare("INSERT INTO step VALUES (?, ?, ?, ?, ?, ?)")?;
    for (number, step) in (0i64..).zip(steps) {
        let StepTime { name, times, total_ns, max_ns } = step;
        insert.execute(params![
            trial_id,
            number,
            name,
            int(*times)?,
            int(*total_ns)?,
            int(*max_ns)?
        ])?;
    }
    Ok(())
}

pub(crate) fn read(connection: &Connection, trial_id: i64) -> Result<Vec<StepTime>> {
    let mut select = connection.prepare_cached(
        "SELECT name, times, total_ns, max_ns FROM step WHERE trial_id = ? ORDER BY number",
    )?;
    let steps = select.query_map([trial_id], |row| {
        Ok(StepTime {
            name: row.get(0)?,
            times: count(row, 1)?,
            total_ns: count(row, 2)?,
            max_ns: count(row, 3)?,
        })
    })?;
    steps.collect()
}
