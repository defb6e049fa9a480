//! Results as metrics: a gauge for each metric, a sample for each cell. Units are the base units of the formats: seconds,
//! bytes per second, ratios. A run in progress is shown under the same names.

use stormeter_study::Metric;

use crate::exposition::{Exposition, Family, Form, Kind, Labels};
use crate::results::{Cell, Results, Unit, unit};

/// Each cell's metrics over all its trials, as OpenMetrics text.
pub fn open_metrics(results: &Results<'_>) -> String {
    let mut text = Exposition::new(Form::OpenMetrics);
    let cells: Vec<&Cell> = results.cells.iter().collect();
    add_cells(&mut text, &cells);
    text.finish()
}

/// Adds a family for each metric that any of these cells has.
pub fn add_cells(text: &mut Exposition, cells: &[&Cell]) {
    for metric in Metric::ALL {
        let values = cells.iter().filter_map(|cell| Some((*cell, cell.value(metric)?)));
        add_metric(text, "stormeter_", metric, values);
    }
}

/// Adds a family of one metric, in the metric's own unit; `prefix` begins its name.
pub fn add_metric<'c>(
    text: &mut Exposition,
    prefix: &str,
    metric: Metric,
    values: impl IntoIterator<Item = (&'c Cell, f64)>,
) {
    let (unit, factor) = match unit(metric) {
        Unit::PerSecond => ("per_second", 1.0),
        Unit::BytesPerSecond => ("bytes_per_second", 1.0),
        Unit::Nanoseconds => ("seconds", 1e-9),
        Unit::Share => ("ratio", 1.0),
    };
    let name = format!("{prefix}{}_{unit}", metric.name().replace('-', "_"));
    let family = Family { name: &name, kind: Kind::Gauge, unit, help: metric.title() };
    text.add(family, values.into_iter().map(|(cell, value)| (labels(cell), value * factor)));
}

/// The labels of a cell.
pub fn labels(cell: &Cell) -> Labels<'static> {
    let mut labels = vec![
        ("datastore", cell.datastore.clone()),
        ("workload", cell.workload.clone()),
        ("vms", cell.vms.to_string()),
    ];
    labels.extend(cell.outstanding.map(|outstanding| ("outstanding", outstanding.to_string())));
    labels
}
