//! Load and latencies over time: a column for each moment of a datastore's trials.

use stormeter_trial::{Interval, LatencyBands};

use crate::thinned::{Merge, Thinned};

/// Columns of all datastores together.
const MOST: usize = 1500;
const LEAST_EACH: usize = 60;

/// What ended in a span of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    /// Since the run started.
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// The time within it for which I/O was counted.
    pub(crate) counted_ns: u64,
    pub(crate) operations: u64,
    pub(crate) latency_sum_ns: u64,
    pub(crate) bands: LatencyBands,
}

impl Column {
    /// Counts a row.
    pub(crate) fn count(&mut self, row: &Interval) {
        self.counted_ns += row.length_ns;
        for kind in [&row.reads, &row.writes] {
            self.operations += kind.operations;
            self.latency_sum_ns += kind.latency_sum_ns;
        }
    }

    /// I/Os a second.
    pub(crate) fn iops(&self) -> f64 {
        match self.counted_ns {
            0 => 0.0,
            counted_ns => self.operations as f64 * 1e9 / counted_ns as f64,
        }
    }

    /// Their mean latency.
    pub(crate) fn latency_mean_ns(&self) -> Option<f64> {
        (self.operations > 0).then(|| self.latency_sum_ns as f64 / self.operations as f64)
    }
}

impl Merge for Column {
    fn merge(&mut self, next: Self) {
        self.end_ns = next.end_ns;
        self.counted_ns += next.counted_ns;
        self.operations += next.operations;
        self.latency_sum_ns += next.latency_sum_ns;
        self.bands.merge(&next.bands);
    }
}

/// The columns of a datastore.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    pub(crate) name: String,
    pub(crate) columns: Thinned<Column>,
}

/// An empty map for each datastore.
pub(crate) fn maps(names: Vec<String>) -> Vec<Map> {
    let each = (MOST / names.len().max(1)).max(LEAST_EACH);
    names.into_iter().map(|name| Map { name, columns: Thinned::new(each) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_testkit::interval;

    #[test]
    fn rates_are_of_the_time_that_was_counted() {
        let mut column = Column { start_ns: 5, end_ns: 9, ..Column::default() };
        assert_eq!((column.iops(), column.latency_mean_ns()), (0.0, None));
        column.count(&interval(0, 500_000_000, 100));
        let mut later = Column { start_ns: 90, end_ns: 99, ..Column::default() };
        later.count(&interval(0, 500_000_000, 300));
        column.merge(later);
        assert_eq!((column.start_ns, column.end_ns), (5, 99));
        assert_eq!(column.iops(), 400.0);
    }
}
