//! Values of columns: read with a check that they are ones that a run writes, and made storable.

use rusqlite::types::Type;
use rusqlite::{Connection, Row, RowIndex, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stormeter_trial::{Histogram, LatencyBucket};

type Result<T> = rusqlite::Result<T>;

pub(crate) fn word(row: &Row, column: &str) -> Result<String> {
    row.get(column)
}

/// A count; SQLite has only signed integers.
pub(crate) fn count(row: &Row, column: impl RowIndex) -> Result<u64> {
    let place = column.idx(row.as_ref())?;
    let value: i64 = row.get(place)?;
    u64::try_from(value).map_err(|_| {
        strange(format!("{} = {value}", row.as_ref().column_name(place).unwrap_or("a count")))
    })
}

pub(crate) fn optional_count(row: &Row, column: &str) -> Result<Option<u64>> {
    let value: Option<i64> = row.get(column)?;
    value
        .map(|value| u64::try_from(value).map_err(|_| strange(format!("{column} = {value}"))))
        .transpose()
}

/// A float; SQLite stores NaN as NULL.
pub(crate) fn number(row: &Row, column: impl RowIndex) -> Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

pub(crate) fn json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| strange(format!("{column}: {error}")))
}

pub(crate) fn strange(what: impl Into<String>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, what.into().into())
}

/// SQLite integers end at 2^63 - 1; a larger count is an error and is never truncated.
pub(crate) fn int(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(unstorable)
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(unstorable)
}

fn unstorable(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// A histogram from a query's buckets (number, bounds, count), for one kind of a trial.
pub(crate) fn histogram_of(
    connection: &Connection,
    select: &str,
    id: i64,
    kind: &str,
) -> Result<Histogram> {
    let mut select = connection.prepare_cached(select)?;
    let bucket = |row: &Row<'_>| {
        Ok(LatencyBucket {
            number: row.get(0)?,
            low_ns: count(row, 1)?,
            high_ns: count(row, 2)?,
            count: count(row, 3)?,
        })
    };
    let buckets = select.query_map((id, kind), bucket)?.collect::<Result<Vec<LatencyBucket>>>()?;
    // Counts are summed everywhere: a sum that overflows must be rejected here.
    if buckets.iter().try_fold(0i64, |sum, it| sum.checked_add_unsigned(it.count)).is_none() {
        return Err(strange("a histogram whose counts do not add up"));
    }
    Histogram::of_buckets(&buckets).ok_or_else(|| strange("a histogram of unknown buckets"))
}

/// Writes the buckets of a histogram with `insert`, for one kind of a trial.
pub(crate) fn write_histogram(
    connection: &Connection,
    insert: &str,
    (id, kind): (i64, &str),
    histogram: &Histogram,
) -> Result<()> {
    let mut insert = connection.prepare_cached(insert)?;
    for LatencyBucket { number, low_ns, high_ns, count } in histogram.buckets() {
        insert.execute(params![id, kind, number, int(low_ns)?, int(high_ns)?, int(count)?])?;
    }
    Ok(())
}
