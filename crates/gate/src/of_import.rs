//! Results of another tool as a run. A file is one run: its entries of one name are workers of it, or repetitions under
//! one boot, and not independent runs.

use stormeter_import::{Direction, Imported, Load, Run, Way};
use stormeter_study::Metric;

use crate::run::{Aspect, GateCell, GateRun};

/// The run of a file.
pub fn of_import(source: &str, imported: &Imported) -> GateRun {
    let mut cells: Vec<(GateCell, usize)> = Vec::new();
    for run in imported.runs.iter() {
        let found = cell(&run);
        if found.values.is_empty() {
            continue;
        }
        match cells.iter_mut().find(|(known, _)| known.is_same(&found)) {
            Some((known, count)) => merge(known, count, &found),
            None => cells.push((found, 1)),
        }
    }
    let mut made_with = vec![(Aspect::Generator, vec![imported.tool.clone().into_owned()])];
    made_with.extend(imported.version.clone().map(|version| (Aspect::Version, vec![version])));
    let errors: u64 = imported.runs.iter().filter_map(|run| run.errors).sum();
    GateRun {
        source: source.to_owned(),
        began_s: imported.runs.iter().find_map(|run| run.began_s),
        made_with,
        cells: cells.into_iter().map(|(cell, _)| cell).collect(),
        invalid: (errors > 0).then(|| format!("{errors} I/Os failed")),
    }
}

fn cell(run: &Run) -> GateCell {
    let mut values = Vec::new();
    let of = |way: Way| run.directions.iter().find(|direction| direction.way == way);
    let [both, read, write] = [Way::Both, Way::Read, Way::Write].map(of);
    let parts: Vec<&Direction> = match both {
        Some(both) => vec![both],
        None => read.into_iter().chain(write).filter(|part| did_something(part)).collect(),
    };
    let sum = |of: fn(&Direction) -> Option<f64>| -> Option<f64> {
        let values: Option<Vec<f64>> = parts.iter().map(|part| of(part)).collect();
        values.map(|values| values.iter().sum()).filter(|sum| *sum > 0.0)
    };
    let iops = sum(|part| part.iops.map(|figure| figure.value));
    values.extend(iops.map(|value| (Metric::Iops, value)));
    let rate = sum(|part| part.bytes_per_s.map(|figure| figure.value));
    values.extend(rate.map(|value| (Metric::Throughput, value)));
    let waited = sum(|part| Some(part.iops?.value * part.latency.mean?.value));
    values.extend(waited.zip(iops).map(|(waited, iops)| (Metric::LatencyMean, waited / iops)));
    // A percentile of reads and writes together needs their histograms.
    if let [part] = parts[..] {
        values.extend(percentiles(part));
    }
    GateCell {
        datastore: run.target.clone().unwrap_or_default(),
        load: run.name.clone(),
        made_with: made_with(&run.load),
        values,
        within: Vec::new(),
    }
}

fn did_something(part: &Direction) -> bool {
    part.iops.is_none_or(|iops| iops.value > 0.0)
        && part.operations.is_none_or(|operations| operations.value > 0.0)
}

fn percentiles(part: &Direction) -> impl Iterator<Item = (Metric, f64)> {
    const KNOWN: [(f64, Metric); 4] = [
        (0.5, Metric::LatencyP50),
        (0.95, Metric::LatencyP95),
        (0.99, Metric::LatencyP99),
        (0.999, Metric::LatencyP999),
    ];
    part.latency.percentiles.iter().filter_map(|percentile| {
        let known = KNOWN.iter().find(|(share, _)| (share - percentile.share).abs() < 1e-9)?;
        (percentile.ns.value > 0.0).then_some((known.1, percentile.ns.value))
    })
}

/// What a load is, as far as the file says.
fn made_with(load: &Load) -> Vec<(Aspect, Vec<String>)> {
    let mut words = Vec::new();
    words.extend(load.request_bytes.map(|bytes| format!("requests of {bytes} bytes")));
    words.extend(load.read_share.map(|share| format!("{} % reads", 100.0 * share)));
    words.extend(load.pattern.map(|pattern| format!("{pattern:?}")));
    words.extend(load.outstanding.map(|outstanding| format!("{outstanding} outstanding")));
    words.extend(load.workers.map(|workers| format!("{workers} workers")));
    words.extend(load.rate_per_s.map(|rate| format!("{rate} I/Os a second")));
    words.extend(load.working_set_bytes.map(|bytes| format!("{bytes} bytes")));
    words.extend(load.engine.clone().map(|engine| format!("engine {engine}")));
    words.extend(load.duration_s.map(|seconds| format!("{seconds} s")));
    let mut made_with = Vec::new();
    if !words.is_empty() {
        made_with.push((Aspect::Load, words));
    }
    if load.durability.is_some() || load.direct.is_some() {
        let flushes = load.durability.as_deref().unwrap_or("no flushes");
        let cache = if load.direct == Some(false) { ", through the page cache" } else { "" };
        made_with.push((Aspect::Durability, vec![format!("{flushes}{cache}")]));
    }
    made_with
}

/// The mean over entries of one name; percentiles cannot be averaged and are left out.
fn merge(known: &mut GateCell, count: &mut usize, other: &GateCell) {
    let is_mean =
        |metric: Metric| matches!(metric, Metric::Iops | Metric::Throughput | Metric::LatencyMean);
    known.values.retain(|(metric, _)| is_mean(*metric) && other.value(*metric).is_some());
    for (metric, value) in &mut known.values {
        if let Some(more) = other.value(*metric) {
            *value = (*value * *count as f64 + more) / (*count + 1) as f64;
        }
    }
    *count += 1;
}
