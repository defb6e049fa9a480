//! JSON as fio 3 prints it (`--output-format=json+`): a job for each trial, so that scripts that read fio's results read
//! ours. Facts of the format are from fio's documentation ("JSON output", "JSON+ output") and from what fio 3.33 prints.
//!
//! Latency is total latency (`lat_ns`): from when a request was due or submitted. There is no submission latency, and
//! what fio has of disks of the machine is left out.

mod latency;
mod options;
mod section;

use serde_json::{Map, Value, json};

use crate::results::{Cell, Results, Trial};

/// All trials as jobs, each a group of its own.
pub fn fio_json(results: &Results<'_>) -> Value {
    let jobs = results.trials.iter().enumerate().filter_map(|(number, trial)| {
        Some(Value::Object(job(results.cells.get(trial.cell)?, trial, number)))
    });
    json!({
        "fio version": "fio-3.33",
        "timestamp": results.began_unix_ms / 1000,
        "timestamp_ms": results.began_unix_ms,
        "global options": {"stormeter version": results.version, "stormeter run": results.run},
        "jobs": jobs.collect::<Vec<Value>>(),
    })
}

fn job(cell: &Cell, trial: &Trial<'_>, number: usize) -> Map<String, Value> {
    let (sample, cpu) = (trial.sample, trial.cpu);
    let window_ns = sample.window_ns.max(1) as f64;
    let percent_of_window = |ns: u64| 100.0 * ns as f64 / window_ns;
    let mut job = Map::new();
    let mut insert = |key: &str, value: Value| job.insert(key.to_owned(), value);
    insert("jobname", json!(cell.workload));
    insert("desc", json!(format!("block {}", trial.block)));
    insert("groupid", json!(number));
    insert("error", json!(0));
    insert("elapsed", json!(sample.window_ns.div_ceil(1_000_000_000)));
    insert("job options", Value::Object(options::options(cell)));
    for (name, totals, rows) in section::sections(sample) {
        insert(name, section::section(&totals, &rows, sample.window_ns));
    }
    insert(
        "sync",
        json!({"total_ios": sample.flushes.operations, "lat_ns": latency::latency(&sample.flushes)}),
    );
    insert("job_runtime", json!(sample.window_ns / 1_000_000));
    insert("usr_cpu", json!(percent_of_window(cpu.threads_user_ns)));
    insert("sys_cpu", json!(percent_of_window(cpu.threads_system_ns)));
    insert("ctx", json!(cpu.voluntary_switches + cpu.involuntary_switches));
    for (name, shares) in latency::distribution(&sample.total()) {
        insert(name, Value::Object(shares));
    }
    job
}
