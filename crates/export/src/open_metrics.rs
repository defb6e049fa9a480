//! OpenMetrics text (OpenMetrics 1.0, openmetrics.io): a gauge for each metric, a sample for each cell. Units are the
//! base units of the format: seconds, bytes per second, ratios.

use std::fmt::Write as _;

use stormeter_study::Metric;

use crate::results::{Cell, Results, Unit, unit};

/// Each cell's metrics over all its trials.
pub fn open_metrics(results: &Results<'_>) -> String {
    let mut text = String::new();
    for metric in Metric::ALL {
        let samples: Vec<(&Cell, f64)> =
            results.cells.iter().filter_map(|cell| Some((cell, cell.value(metric)?))).collect();
        if samples.is_empty() {
            continue;
        }
        let (suffix, factor) = match unit(metric) {
            Unit::PerSecond => ("_per_second", 1.0),
            Unit::BytesPerSecond => ("_bytes_per_second", 1.0),
            Unit::Nanoseconds => ("_seconds", 1e-9),
            Unit::Share => ("_ratio", 1.0),
        };
        let name = format!("stormeter_{}{suffix}", metric.name().replace('-', "_"));
        let _ = writeln!(
            text,
            "# TYPE {name} gauge\n# UNIT {name} {}\n# HELP {name} {}",
            &suffix[1..],
            metric.title()
        );
        for (cell, value) in samples {
            let mut labels = format!(
                "datastore=\"{}\",workload=\"{}\",vms=\"{}\"",
                escaped(&cell.datastore),
                escaped(&cell.workload),
                cell.vms
            );
            if let Some(outstanding) = cell.outstanding {
                let _ = write!(labels, ",outstanding=\"{outstanding}\"");
            }
            let _ = writeln!(text, "{name}{{{labels}}} {}", value * factor);
        }
    }
    text + "# EOF\n"
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
