//! Results as JSON: the measurements, along with derived values, so that a reader need not compute
//! them.

use serde_json::{Value, json};

use crate::cell::Cell;
use crate::throughput::Throughput;

/// `{"cells": […], "throughput": […]}`. A cell is [`Cell`] with its `summary`, its `rows` and the
/// `mean_of_rows_ns`; a throughput is [`Throughput`] with its `bits_per_second`. Times are
/// nanoseconds, lengths bytes.
///
/// # Errors
/// None that plain numbers and words can cause.
pub fn results_json(cells: &[Cell], throughput: &[Throughput]) -> Result<Value, serde_json::Error> {
    let cells = cells.iter().map(|cell| {
        let mut value = serde_json::to_value(cell)?;
        value["summary"] = serde_json::to_value(cell.summary())?;
        value["rows"] = serde_json::to_value(cell.rows())?;
        value["mean_of_rows_ns"] = cell.mean_of_rows_ns().into();
        Ok(value)
    });
    let throughput = throughput.iter().map(|one| {
        let mut value = serde_json::to_value(one)?;
        value["bits_per_second"] = one.bits_per_second().into();
        Ok(value)
    });
    Ok(json!({
        "cells": cells.collect::<Result<Vec<_>, serde_json::Error>>()?,
        "throughput": throughput.collect::<Result<Vec<_>, serde_json::Error>>()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Layout, Observed};
    use crate::request::Direction;

    #[test]
    fn what_was_measured_stands_next_to_what_follows() {
        let cell = Cell {
            observed: Observed::RoundTrip,
            length_bytes: 64,
            layout: Layout { rows: 2, repeats: 1 },
            samples_ns: vec![10, 30],
        };
        let moved = Throughput {
            direction: Direction::Send,
            warm_up_ns: 0,
            window_ns: 1_000_000_000,
            stream_bytes: vec![125],
        };
        let value = results_json(std::slice::from_ref(&cell), &[moved]).unwrap();
        assert_eq!(value["cells"][0]["probe"], "round-trip");
        assert_eq!(value["cells"][0]["samples_ns"], json!([10, 30]));
        assert_eq!(value["cells"][0]["summary"]["mean_ns"], 20.0);
        assert_eq!(value["cells"][0]["rows"][1]["summary"]["max_ns"], 30);
        assert_eq!(value["cells"][0]["mean_of_rows_ns"], 20.0);
        assert_eq!(value["throughput"][0]["bits_per_second"], 1000.0);
        let read: Cell = serde_json::from_value(value["cells"][0].clone()).unwrap();
        assert_eq!(read, cell);
    }
}
