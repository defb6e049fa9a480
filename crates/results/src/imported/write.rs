//! Results of other tools as rows.

use rusqlite::types::Value;
use rusqlite::{Connection, Result, params_from_iter};
use stormeter_import::{Direction, Figure, Interval, Run};

use super::row::{name_of_way, words_of_pattern};
use super::source::ImportedSource;
use crate::column::{int, to_json};

pub(super) fn sources(connection: &Connection, sources: &[ImportedSource]) -> Result<()> {
    let mut next_run = 0;
    for (id, ImportedSource { file, imported }) in (0i64..).zip(sources) {
        Columns::default()
            .set("id", id)
            .set("file", file.clone())
            .set("tool", imported.tool.clone().into_owned())
            .set("version", imported.version.clone())
            .set("left_out", to_json(&imported.left_out)?)
            .insert(connection, "source")?;
        for run in &imported.runs {
            self::run(connection, (id, next_run), &run)?;
            next_run += 1;
        }
    }
    Ok(())
}

fn run(connection: &Connection, (source, id): (i64, i64), run: &Run) -> Result<()> {
    let load = &run.load;
    let (pattern, random_share) = words_of_pattern(load.pattern);
    Columns::default()
        .set("id", id)
        .set("source_id", source)
        .set("name", run.name.clone())
        .set("place", run.place.clone())
        .set("target", run.target.clone())
        .set("began_s", run.began_s)
        .count("errors", run.errors)?
        .count("request_bytes", load.request_bytes)?
        .set("read_share", load.read_share)
        .set("pattern", pattern.map(str::to_owned))
        .set("random_share", random_share)
        .count("outstanding", load.outstanding)?
        .count("workers", load.workers)?
        .set("rate_per_s", load.rate_per_s)
        .count("working_set_bytes", load.working_set_bytes)?
        .set("direct", load.direct.map(i64::from))
        .set("durability", load.durability.clone())
        .set("engine", load.engine.clone())
        .set("ramp_s", load.ramp_s)
        .set("duration_s", load.duration_s)
        .figure("window_s", run.window_s)
        .figure("outstanding_mean", run.outstanding_mean)
        .figure("cpu_busy", run.cpu_busy)
        .insert(connection, "run")?;
    for (number, direction) in (0i64..).zip(&run.directions) {
        self::direction(connection, (id, number), direction)?;
    }
    for (number, interval) in (0i64..).zip(&run.intervals) {
        self::interval(connection, (id, number), &interval)?;
    }
    Ok(())
}

fn direction(connection: &Connection, (run, number): (i64, i64), it: &Direction) -> Result<()> {
    Columns::default()
        .set("run_id", run)
        .set("number", number)
        .set("way", name_of_way(it.way).to_owned())
        .figure("operations", it.operations)
        .figure("bytes", it.bytes)
        .figure("iops", it.iops)
        .figure("bytes_per_s", it.bytes_per_s)
        .figure("runtime_s", it.runtime_s)
        .figure("latency_mean_ns", it.latency.mean)
        .figure("latency_sd_ns", it.latency.sd)
        .figure("latency_min_ns", it.latency.min)
        .figure("latency_max_ns", it.latency.max)
        .insert(connection, "direction")?;
    let mut insert =
        connection.prepare_cached("INSERT INTO percentile VALUES (?, ?, ?, ?, ?, ?)")?;
    for (place, percentile) in (0i64..).zip(&it.latency.percentiles) {
        let Figure { value, half } = percentile.ns;
        insert.execute((run, number, place, percentile.share, value, half))?;
    }
    let mut insert = connection.prepare_cached("INSERT INTO bucket VALUES (?, ?, ?, ?, ?, ?)")?;
    for (place, bucket) in (0i64..).zip(&it.latency.histogram) {
        let count = int(bucket.count)?;
        insert.execute((run, number, place, bucket.low_ns, bucket.high_ns, count))?;
    }
    Ok(())
}

fn interval(connection: &Connection, (run, number): (i64, i64), it: &Interval) -> Result<()> {
    Columns::default()
        .set("run_id", run)
        .set("number", number)
        .set("start_s", it.start_s)
        .set("length_s", it.length_s)
        .set("way", it.way.map(|way| name_of_way(way).to_owned()))
        .figure("iops", it.iops)
        .figure("bytes_per_s", it.bytes_per_s)
        .figure("latency_mean_ns", it.latency_mean)
        .figure("latency_p99_ns", it.latency_p99)
        .figure("latency_max_ns", it.latency_max)
        .insert(connection, "interval")
}

/// The columns of a row, by their names.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    values: Vec<Value>,
}

impl Columns {
    fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.names.push(name.to_owned());
        self.values.push(value.into());
        self
    }

    fn count(self, name: &str, value: Option<u64>) -> Result<Self> {
        let value = value.map(int).transpose()?;
        Ok(self.set(name, value))
    }

    fn figure(self, name: &str, figure: Option<Figure>) -> Self {
        let half = format!("{name}_half");
        self.set(name, figure.map(|it| it.value)).set(&half, figure.map(|it| it.half))
    }

    fn insert(self, connection: &Connection, table: &str) -> Result<()> {
        let places = vec!["?"; self.names.len()].join(", ");
        let insert = format!("INSERT INTO {table} ({}) VALUES ({places})", self.names.join(", "));
        connection.prepare_cached(&insert)?.execute(params_from_iter(self.values))?;
        Ok(())
    }
}
