//! Results of other tools from rows.

use rusqlite::{Connection, Params, Result, Row};
use stormeter_import::{
    Bucket, Direction, Figure, Imported, Interval, Latency, Load, Percentile, Run, Series,
};

use super::row::{figure, pattern, way};
use super::source::ImportedSource;
use crate::column::{count, json, optional_count, strange, word};

pub(super) fn sources(connection: &Connection) -> Result<Vec<ImportedSource>> {
    let mut sources = all(connection, "SELECT * FROM source ORDER BY id", [], |row| {
        let id: i64 = row.get("id")?;
        let imported = Imported {
            tool: word(row, "tool")?.into(),
            version: row.get("version")?,
            runs: Series::default(),
            left_out: json(row, "left_out")?,
        };
        Ok((id, ImportedSource { file: word(row, "file")?, imported }))
    })?;
    let runs = all(connection, "SELECT * FROM run ORDER BY id", [], |row| {
        Ok((row.get::<_, i64>("id")?, row.get::<_, i64>("source_id")?, run(row)?))
    })?;
    let mut known = Vec::new();
    for (id, source, mut run) in runs {
        known.push(id);
        run.directions = directions(connection, id)?;
        run.intervals = all(
            connection,
            "SELECT * FROM interval WHERE run_id = ? ORDER BY number",
            [id],
            interval,
        )?
        .into_iter()
        .collect();
        let source = sources.iter_mut().find(|(id, _)| *id == source);
        let (_, source) = source.ok_or_else(|| strange("a run of no source"))?;
        source.imported.runs.push(run);
    }
    let stray =
        all(connection, "SELECT DISTINCT run_id FROM direction", [], |row| row.get::<_, i64>(0))?;
    if stray.iter().any(|id| !known.contains(id)) {
        return Err(strange("figures of no run"));
    }
    Ok(sources.into_iter().map(|(_, source)| source).collect())
}

fn all<T>(
    connection: &Connection,
    select: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection.prepare_cached(select)?.query_map(parameters, read)?.collect()
}

fn run(row: &Row<'_>) -> Result<Run> {
    let word_of_pattern: Option<String> = row.get("pattern")?;
    let direct: Option<i64> = row.get("direct")?;
    Ok(Run {
        name: word(row, "name")?,
        place: word(row, "place")?,
        target: row.get("target")?,
        began_s: row.get("began_s")?,
        load: Load {
            request_bytes: optional_count(row, "request_bytes")?,
            read_share: row.get("read_share")?,
            pattern: pattern(word_of_pattern.as_deref(), row.get("random_share")?)?,
            outstanding: optional_count(row, "outstanding")?,
            workers: optional_count(row, "workers")?,
            rate_per_s: row.get("rate_per_s")?,
            working_set_bytes: optional_count(row, "working_set_bytes")?,
            direct: direct.map(|direct| direct != 0),
            durability: row.get("durability")?,
            engine: row.get("engine")?,
            ramp_s: row.get("ramp_s")?,
            duration_s: row.get("duration_s")?,
        },
        window_s: figure(row, "window_s")?,
        directions: Vec::new(),
        outstanding_mean: figure(row, "outstanding_mean")?,
        cpu_busy: figure(row, "cpu_busy")?,
        intervals: Series::default(),
        errors: optional_count(row, "errors")?,
    })
}

fn directions(connection: &Connection, run: i64) -> Result<Vec<Direction>> {
    let select = "SELECT * FROM direction WHERE run_id = ? ORDER BY number";
    let mut directions = all(connection, select, [run], |row| {
        let direction = Direction {
            way: way(&word(row, "way")?)?,
            operations: figure(row, "operations")?,
            bytes: figure(row, "bytes")?,
            iops: figure(row, "iops")?,
            bytes_per_s: figure(row, "bytes_per_s")?,
            runtime_s: figure(row, "runtime_s")?,
            latency: Latency {
                mean: figure(row, "latency_mean_ns")?,
                sd: figure(row, "latency_sd_ns")?,
                min: figure(row, "latency_min_ns")?,
                max: figure(row, "latency_max_ns")?,
                ..Latency::default()
            },
        };
        Ok((row.get::<_, i64>("number")?, direction))
    })?;
    for (number, direction) in &mut directions {
        let latency = &mut direction.latency;
        let of = [run, *number];
        latency.percentiles = all(
            connection,
            "SELECT share, latency_ns, latency_ns_half FROM percentile \
             WHERE run_id = ? AND direction = ? ORDER BY number",
            of,
            |row| {
                let ns = Figure { value: row.get(1)?, half: row.get(2)? };
                Ok(Percentile { share: row.get(0)?, ns })
            },
        )?
        .into_iter()
        .collect();
        latency.histogram = all(
            connection,
            "SELECT low_ns, high_ns, count FROM bucket \
             WHERE run_id = ? AND direction = ? ORDER BY number",
            of,
            |row| Ok(Bucket { low_ns: row.get(0)?, high_ns: row.get(1)?, count: count(row, 2)? }),
        )?
        .into_iter()
        .collect();
    }
    Ok(directions.into_iter().map(|(_, direction)| direction).collect())
}

fn interval(row: &Row<'_>) -> Result<Interval> {
    let name: Option<String> = row.get("way")?;
    Ok(Interval {
        start_s: row.get("start_s")?,
        length_s: row.get("length_s")?,
        way: name.as_deref().map(way).transpose()?,
        iops: figure(row, "iops")?,
        bytes_per_s: figure(row, "bytes_per_s")?,
        latency_mean: figure(row, "latency_mean_ns")?,
        latency_p99: figure(row, "latency_p99_ns")?,
        latency_max: figure(row, "latency_max_ns")?,
    })
}
