//! What cells of a prediction would be if assumed values of the site were other ones, as rows and back.

use rusqlite::{Connection, Result, params};
use serde::{Deserialize, Serialize};
use stormeter_study::Metric;

use crate::column::{count, int, number, strange};

/// A value of a site that is assumed, and another one that it may plausibly have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherValue {
    /// Its path in the site file, after the changes of a what-if, if it has some.
    pub parameter: String,
    /// The value, in the notation of site files.
    pub value: String,
    /// The other one.
    pub other: String,
    /// Whether the site file leaves the value open.
    pub is_default: bool,
}

/// By how much a metric of a cell changes with another value, from a rerun of the cell's first block with the same seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssumedEffect {
    /// Index of the cell.
    pub cell: usize,
    /// The two values.
    pub of: OtherValue,
    /// The metric.
    pub metric: Metric,
    /// The metric with the other value, divided by the metric with the assumed one.
    pub ratio: f64,
}

/// Replaces all existing rows with these.
pub(crate) fn write(connection: &Connection, all: &[AssumedEffect]) -> Result<()> {
    connection.execute("DELETE FROM assumed", [])?;
    let mut insert = connection.prepare("INSERT INTO assumed VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut place = (usize::MAX, 0);
    for AssumedEffect { cell, of, metric, ratio } in all {
        place = if place.0 == *cell { (*cell, place.1 + 1) } else { (*cell, 0i64) };
        let OtherValue { parameter, value, other, is_default } = of;
        let cell = int(*cell as u64)?;
        let metric = metric.name();
        insert
            .execute(params![cell, place.1, parameter, value, other, is_default, metric, ratio])?;
    }
    Ok(())
}

pub(crate) fn read(connection: &Connection) -> Result<Vec<AssumedEffect>> {
    let mut select = connection.prepare(
        "SELECT cell, parameter, value, other, is_default, metric, ratio FROM assumed \
         ORDER BY cell, number",
    )?;
    let rows = select.query_map([], |row| {
        let metric: String = row.get(5)?;
        Ok(AssumedEffect {
            cell: count(row, 0)? as usize,
            of: OtherValue {
                parameter: row.get(1)?,
                value: row.get(2)?,
                other: row.get(3)?,
                is_default: row.get(4)?,
            },
            metric: Metric::from_name(&metric)
                .ok_or_else(|| strange(format!("the metric {metric:?}")))?,
            ratio: number(row, 6)?,
        })
    })?;
    rows.collect()
}
