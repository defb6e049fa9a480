//! What fio prints of a direction: reads, writes, trims.

use serde_json::{Value, json};
use stormeter_trial::{Interval, IntervalTotals, KindTotals, Sample};

use super::latency::latency;

/// The directions with their names and totals, and what they did in each whole interval. Scripts expect all three of
/// them, so trims, which there are none of, have zeros.
pub(super) fn sections(sample: &Sample) -> [(&'static str, KindTotals, Vec<Row>); 3] {
    let mut writes = sample.writes.clone();
    writes.merge(&sample.durable);
    let rows = |of: fn(&Interval) -> &IntervalTotals| {
        let whole = sample.intervals.iter().filter(|row| row.length_ns >= sample.interval_ns);
        whole.map(|row| Row::of(of(row), row.length_ns)).collect()
    };
    [
        ("read", sample.reads.clone(), rows(|row| &row.reads)),
        ("write", writes, rows(|row| &row.writes)),
        ("trim", KindTotals::default(), Vec::new()),
    ]
}

/// Rates in an interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    iops: f64,
    kib_per_s: f64,
}

impl Row {
    fn of(totals: &IntervalTotals, length_ns: u64) -> Self {
        let per_s = 1e9 / length_ns.max(1) as f64;
        Self {
            iops: totals.operations as f64 * per_s,
            kib_per_s: totals.bytes as f64 * per_s / 1024.0,
        }
    }
}

pub(super) fn section(totals: &KindTotals, rows: &[Row], window_ns: u64) -> Value {
    let seconds = window_ns.max(1) as f64 / 1e9;
    let rate = totals.bytes as f64 / seconds;
    let bandwidth = Spread::of(rows, |row| row.kib_per_s);
    let iops = Spread::of(rows, |row| row.iops);
    // What was not done took no time.
    let runtime_ms = if totals.operations > 0 { window_ns / 1_000_000 } else { 0 };
    json!({
        "io_bytes": totals.bytes,
        "io_kbytes": totals.bytes >> 10,
        "bw_bytes": rate as u64,
        "bw": (rate / 1024.0) as u64,
        "iops": totals.operations as f64 / seconds,
        "runtime": runtime_ms,
        "total_ios": totals.operations,
        "short_ios": totals.short_operations,
        "drop_ios": 0,
        "lat_ns": latency(totals),
        "bw_min": bandwidth.least.floor() as u64,
        "bw_max": bandwidth.most.ceil() as u64,
        "bw_mean": bandwidth.mean,
        "bw_dev": bandwidth.sd,
        "bw_samples": rows.len(),
        "iops_min": iops.least.floor() as u64,
        "iops_max": iops.most.ceil() as u64,
        "iops_mean": iops.mean,
        "iops_stddev": iops.sd,
        "iops_samples": rows.len(),
    })
}

/// How intervals differ; zeros without any, as fio has them.
struct Spread {
    least: f64,
    most: f64,
    mean: f64,
    sd: f64,
}

impl Spread {
    fn of(rows: &[Row], value: impl Fn(&Row) -> f64) -> Self {
        let values: Vec<f64> = rows.iter().map(value).collect();
        if values.is_empty() {
            return Self { least: 0.0, most: 0.0, mean: 0.0, sd: 0.0 };
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(0.0, f64::max),
            mean,
            sd: (squares / (count - 1.0).max(1.0)).sqrt(),
        }
    }
}
