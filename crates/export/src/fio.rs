//! JSON as fio 3 prints it (`--output-format=json+`): a job for each trial, so that scripts that read fio's results read
//! ours. Facts of the format are from fio's documentation ("JSON output", "JSON+ output").
//!
//! Latency is total latency (`lat_ns`): from when a request was due or submitted. There is no submission latency, and
//! what fio has of the machine is left out.

use serde_json::{Map, Value, json};
use stormeter_trial::{KindTotals, Sample};

use crate::results::Results;

/// The percentiles that fio prints.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// All trials as jobs.
pub fn fio_json(results: &Results<'_>) -> Value {
    let jobs: Vec<Value> = results
        .trials
        .iter()
        .filter_map(|trial| {
            let cell = results.cells.get(trial.cell)?;
            let sample = trial.sample;
            let mut options = Map::new();
            options.insert("filename".into(), json!(cell.datastore));
            options.insert("numjobs".into(), json!(cell.vms.to_string()));
            if let Some(outstanding) = cell.outstanding {
                options.insert("iodepth".into(), json!(outstanding.to_string()));
            }
            Some(json!({
                "jobname": cell.workload,
                "groupid": trial.block,
                "error": 0,
                "elapsed": sample.window_ns.div_ceil(1_000_000_000),
                "job options": options,
                "read": direction(sample, &[&sample.reads]),
                "write": direction(sample, &[&sample.writes, &sample.durable]),
                "sync": {"total_ios": sample.flushes.operations, "lat_ns": latency(&sample.flushes)},
                "job_runtime": sample.window_ns / 1_000_000,
            }))
        })
        .collect();
    json!({
        "fio version": "fio-3.33",
        "timestamp": results.began_unix_ms / 1000,
        "timestamp_ms": results.began_unix_ms,
        "global options": {"stormeter version": results.version, "stormeter run": results.run},
        "jobs": jobs,
    })
}

fn direction(sample: &Sample, kinds: &[&KindTotals]) -> Value {
    let mut totals = KindTotals::default();
    kinds.iter().for_each(|kind| totals.merge(kind));
    let seconds = sample.window_ns.max(1) as f64 / 1e9;
    let rate = totals.bytes as f64 / seconds;
    json!({
        "io_bytes": totals.bytes,
        "io_kbytes": totals.bytes >> 10,
        "bw_bytes": rate as u64,
        "bw": (rate / 1024.0) as u64,
        "iops": totals.operations as f64 / seconds,
        "runtime": sample.window_ns / 1_000_000,
        "total_ios": totals.operations,
        "short_ios": totals.short_operations,
        "drop_ios": 0,
        "lat_ns": latency(&totals),
    })
}

fn latency(totals: &KindTotals) -> Value {
    let mut percentiles = Map::new();
    for percent in PERCENTILES {
        if let Some(ns) = totals.histogram.percentile_ns(percent / 100.0) {
            percentiles.insert(format!("{percent:.6}"), json!(ns.round() as u64));
        }
    }
    // fio names a bucket by its middle.
    let bins: Map<String, Value> = totals
        .histogram
        .buckets()
        .map(|bucket| (bucket.low_ns.midpoint(bucket.high_ns).to_string(), json!(bucket.count)))
        .collect();
    json!({
        "min": totals.latency_min_ns,
        "max": totals.latency_max_ns,
        "mean": totals.latency_mean_ns().unwrap_or(0.0),
        "N": totals.operations,
        "percentile": percentiles,
        "bins": bins,
    })
}
