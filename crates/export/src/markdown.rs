//! A table for a pull request or a page, in GitHub's and GitLab's Markdown.

use stormeter_study::Metric;

use crate::results::Results;

/// A row for each cell that was measured.
pub fn markdown(results: &Results<'_>) -> String {
    let mut text = String::from(
        "| Datastore | Workload | VMs | Trials | IOPS | MiB/s | Mean latency | p99 latency |\n|---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for (index, cell) in results.cells.iter().enumerate() {
        let trials = results.trials.iter().filter(|trial| trial.cell == index).count();
        if trials == 0 {
            continue;
        }
        let value = |metric: Metric| cell.value(metric);
        let shown = |value: Option<f64>, show: fn(f64) -> String| {
            value.map_or_else(|| "–".to_owned(), show)
        };
        let mut load = cell.workload.clone();
        if let Some(outstanding) = cell.outstanding {
            load += &format!(", {outstanding} outstanding");
        }
        text += &format!(
            "| {} | {} | {} | {trials} | {} | {} | {} | {} |\n",
            escaped(&cell.datastore),
            escaped(&load),
            cell.vms,
            shown(value(Metric::Iops), |iops| format!("{iops:.0}")),
            shown(value(Metric::Throughput), |rate| format!("{:.1}", rate / 1_048_576.0)),
            shown(value(Metric::LatencyMean), milliseconds),
            shown(value(Metric::LatencyP99), milliseconds),
        );
    }
    text
}

fn milliseconds(ns: f64) -> String {
    format!("{:.3} ms", ns / 1e6)
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
