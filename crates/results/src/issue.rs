//! Service times and lateness of an open loop, as rows and back.
//!
//! The figures that are needed most are rows of the table `fact`, so that the view of observations has them
//! without merging histograms; they are computed from the histograms and not read back.

use rusqlite::{Connection, Result};
use stormeter_trial::{Durations, IssueTimes};

use crate::column::{histogram_of, write_histogram};
use crate::fact;

const SERVICE: &str = "service";
const LATENESS: &str = "lateness";
const SERVICE_SUM_NS: &str = "service_sum_ns";
const SERVICE_MAX_NS: &str = "service_max_ns";
const LATENESS_SUM_NS: &str = "lateness_sum_ns";
const LATENESS_MAX_NS: &str = "lateness_max_ns";
const HELD_OPERATIONS: &str = "held_operations";

/// Creates the table if the file has none, and writes the times of a trial.
pub(crate) fn write(connection: &Connection, id: i64, issue: &IssueTimes) -> Result<()> {
    connection.execute_batch(include_str!("issue.sql"))?;
    let IssueTimes { service, lateness, held_operations } = issue;
    let insert = "INSERT INTO issue_histogram VALUES (?, ?, ?, ?, ?, ?)";
    for (what, times) in [(SERVICE, service), (LATENESS, lateness)] {
        write_histogram(connection, insert, (id, what), &times.histogram)?;
    }
    let whole = |ns: Option<f64>| ns.map(|ns| ns.round() as u64);
    let service_at = |fraction| whole(service.histogram.percentile_ns(fraction));
    let facts = [
        (SERVICE_SUM_NS, Some(service.sum_ns)),
        (SERVICE_MAX_NS, Some(service.max_ns)),
        (LATENESS_SUM_NS, Some(lateness.sum_ns)),
        (LATENESS_MAX_NS, Some(lateness.max_ns)),
        (HELD_OPERATIONS, Some(*held_operations)),
        ("service_mean_ns", whole(service.mean_ns())),
        ("service_p50_ns", service_at(0.5)),
        ("service_p95_ns", service_at(0.95)),
        ("service_p99_ns", service_at(0.99)),
        ("service_p999_ns", service_at(0.999)),
        ("lateness_p99_ns", whole(lateness.histogram.percentile_ns(0.99))),
    ];
    facts.into_iter().try_for_each(|(name, value)| fact::write(connection, id, name, value))
}

/// Whether the file has the table.
pub(crate) fn has_table(connection: &Connection) -> Result<bool> {
    connection
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'issue_histogram'")?
        .exists([])
}

/// The times of a trial, in a file that has the table; `None` if there are none.
pub(crate) fn read(connection: &Connection, id: i64) -> Result<Option<IssueTimes>> {
    let Some(service_sum_ns) = fact::read(connection, id, SERVICE_SUM_NS)? else {
        return Ok(None);
    };
    let fact = |name| Ok::<_, rusqlite::Error>(fact::read(connection, id, name)?.unwrap_or(0));
    let times = |what, sum_ns, max_ns| {
        let select = "SELECT bucket, low_ns, high_ns, count FROM issue_histogram \
                      WHERE trial_id = ? AND what = ? ORDER BY bucket";
        let histogram = histogram_of(connection, select, id, what)?;
        Ok::<_, rusqlite::Error>(Durations { sum_ns, max_ns, histogram })
    };
    Ok(Some(IssueTimes {
        service: times(SERVICE, service_sum_ns, fact(SERVICE_MAX_NS)?)?,
        lateness: times(LATENESS, fact(LATENESS_SUM_NS)?, fact(LATENESS_MAX_NS)?)?,
        held_operations: fact(HELD_OPERATIONS)?,
    }))
}
