//! The notes of a trial, each as JSON. SQL reads it with `note ->> '$.note'`. Files before form 8 have a sentence there.

use rusqlite::{Connection, Result, params};
use stormeter_trial::{NoteFact, TrialNote};

use crate::column::{int, strange, to_json, word};

pub(crate) fn write(connection: &Connection, trial_id: u64, notes: &[TrialNote]) -> Result<()> {
    let mut insert = connection.prepare("INSERT INTO note VALUES (?, ?, ?)")?;
    for (number, note) in (0i64..).zip(notes) {
        insert.execute(params![int(trial_id)?, number, to_json(note)?])?;
    }
    Ok(())
}

/// Reads the notes of a trial; `as_facts` says whether the file has more than sentences.
pub(crate) fn read(connection: &Connection, as_facts: bool, id: i64) -> Result<Vec<TrialNote>> {
    let mut select =
        connection.prepare_cached("SELECT note FROM note WHERE trial_id = ? ORDER BY number")?;
    let notes = select.query_map([id], |row| {
        let text = word(row, "note")?;
        if !as_facts {
            // As in upgrade-8.sql.
            return Ok(NoteFact::Early { said: text }.into());
        }
        serde_json::from_str(&text).map_err(|error| strange(format!("the note {text:?}: {error}")))
    })?;
    notes.collect()
}
