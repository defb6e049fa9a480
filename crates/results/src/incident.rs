//! The incidents of a trial: each with its count, and what happened as JSON. SQL reads it with
//! `what ->> '$.event'`. Files before form 8 have a sentence there.

use rusqlite::{Connection, Result, params};
use serde::{Deserialize, Serialize};
use stormeter_disk::{Incident, StorageEvent};

use crate::column::{int, strange, to_json, word};

/// An incident without its count, which has a column of its own.
#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(flatten)]
    event: StorageEvent,
}

pub(crate) fn write(connection: &Connection, trial_id: u64, incidents: &[Incident]) -> Result<()> {
    let mut insert = connection.prepare("INSERT INTO incident VALUES (?, ?, ?, ?)")?;
    for (number, incident) in (0i64..).zip(incidents) {
        let Incident { host, path, event, times } = incident.clone();
        let what = to_json(&Stored { host, path, event })?;
        insert.execute(params![int(trial_id)?, number, what, times])?;
    }
    Ok(())
}

/// Reads the incidents of a trial; `as_facts` says whether the file has more than sentences.
pub(crate) fn read(connection: &Connection, as_facts: bool, id: i64) -> Result<Vec<Incident>> {
    let mut select =
        connection.prepare_cached("SELECT * FROM incident WHERE trial_id = ? ORDER BY number")?;
    let incidents = select.query_map([id], |row| {
        let what = word(row, "what")?;
        let times = row.get("times")?;
        if !as_facts {
            // As in upgrade-8.sql.
            let event = StorageEvent::Other { said: what.into() };
            return Ok(Incident { host: None, path: None, event, times });
        }
        let Stored { host, path, event } = serde_json::from_str(&what)
            .map_err(|error| strange(format!("the incident {what:?}: {error}")))?;
        Ok(Incident { host, path, event, times })
    })?;
    incidents.collect()
}
