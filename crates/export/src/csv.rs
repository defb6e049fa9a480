//! Tidy CSV: one observation a row, one variable a column (H. Wickham, *Journal of Statistical Software* 59(10), 2014).

use crate::results::{Results, Unit, unit};

const COLUMNS: [&str; 9] =
    ["run", "datastore", "workload", "vms", "outstanding", "block", "metric", "unit", "value"];

/// All observations, RFC 4180 with a header. Values have all their digits; what has no value has no row.
pub fn csv(results: &Results<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(COLUMNS);
    for trial in &results.trials {
        let Some(cell) = results.cells.get(trial.cell) else { continue };
        for (metric, value) in trial.values() {
            let unit = match unit(metric) {
                Unit::PerSecond => "1/s",
                Unit::BytesPerSecond => "B/s",
                Unit::Nanoseconds => "ns",
                Unit::Share => "share",
            };
            let outstanding = cell.outstanding.map(|count| count.to_string()).unwrap_or_default();
            let _ = writer.write_record([
                results.run,
                &cell.datastore,
                &cell.workload,
                &cell.vms.to_string(),
                &outstanding,
                &trial.block.to_string(),
                metric.name(),
                unit,
                &value.to_string(),
            ]);
        }
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
