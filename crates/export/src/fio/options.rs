//! A cell's load as the options of a job of fio, as far as fio has them.

use serde_json::{Map, Value, json};
use stormeter_trial::{Arrivals, Workload};

use crate::results::Cell;

/// In fio's notation for an engine that is none of its own. Without one, its default waits for every I/O, whatever
/// `iodepth` says.
const ENGINE: &str = "external:stormeter";

/// Values are text, as in fio's own output.
pub(super) fn options(cell: &Cell) -> Map<String, Value> {
    let mut options = Map::new();
    let mut insert = |key: &str, value: String| options.insert(key.to_owned(), json!(value));
    insert("filename", cell.datastore.clone());
    insert("ioengine", ENGINE.to_owned());
    insert("numjobs", cell.vms.to_string());
    let Some(io) = &cell.io else {
        if let Some(outstanding) = cell.outstanding {
            insert("iodepth", outstanding.to_string());
        }
        return options;
    };
    insert("rw", direction(io).to_owned());
    if io.read_percent > 0.0 && io.read_percent < 100.0 {
        insert("rwmixread", whole(io.read_percent));
    }
    if io.random_percent > 0.0 && io.random_percent < 100.0 {
        insert("percentage_random", whole(io.random_percent));
    }
    match &io.sizes[..] {
        [only] => insert("bs", only.bytes.to_string()),
        sizes => {
            let all: f64 = sizes.iter().map(|size| size.share).sum();
            let parts = sizes
                .iter()
                .map(|size| format!("{}/{}", size.bytes, whole(100.0 * size.share / all)));
            insert("bssplit", parts.collect::<Vec<_>>().join(":"))
        }
    };
    match (io.arrivals, cell.outstanding) {
        (Arrivals::Closed { outstanding }, own) => {
            insert("iodepth", own.unwrap_or(outstanding).to_string());
        }
        (Arrivals::Constant { rate_per_s } | Arrivals::Poisson { rate_per_s }, _) => {
            insert("rate_iops", whole(rate_per_s));
            if matches!(io.arrivals, Arrivals::Poisson { .. }) {
                insert("rate_process", "poisson".into());
            }
        }
    }
    options
}

/// fio's pattern.
fn direction(io: &Workload) -> &'static str {
    match (io.random_percent > 0.0, io.read_percent) {
        (true, 100.0) => "randread",
        (true, 0.0) => "randwrite",
        (true, _) => "randrw",
        (false, 100.0) => "read",
        (false, 0.0) => "write",
        (false, _) => "rw",
    }
}

/// fio's numbers are whole.
fn whole(value: f64) -> String {
    format!("{value:.0}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_testkit::workload;
    use stormeter_trial::SizeShare;

    fn of(io: Workload, outstanding: Option<u32>) -> Value {
        let cell = Cell {
            datastore: "nas".into(),
            workload: "w".into(),
            vms: 2,
            outstanding,
            io: Some(io),
            values: Vec::new(),
        };
        Value::Object(options(&cell))
    }

    #[test]
    fn a_load_has_the_options_that_fio_has_for_it() {
        let closed = of(workload(Arrivals::Closed { outstanding: 8 }), None);
        let expected = json!({"filename": "nas", "ioengine": ENGINE, "numjobs": "2", "rw": "randrw", "rwmixread": "75",
            "bs": "4096", "iodepth": "8"});
        assert_eq!(closed, expected);
        let sizes =
            vec![SizeShare { bytes: 512, share: 3.0 }, SizeShare { bytes: 8192, share: 1.0 }];
        let io = workload(Arrivals::Poisson { rate_per_s: 300.0 });
        let open = of(Workload { sizes, read_percent: 0.0, random_percent: 0.0, ..io }, None);
        let expected = json!({"filename": "nas", "ioengine": ENGINE, "numjobs": "2", "rw": "write",
            "bssplit": "512/75:8192/25", "rate_iops": "300", "rate_process": "poisson"});
        assert_eq!(open, expected);
        let own = of(workload(Arrivals::Closed { outstanding: 8 }), Some(4));
        assert_eq!(own["iodepth"], "4");
    }
}
