//! Other values of cells than those of their trials: what a prediction would have if an unknown value were
//! another one.

use std::collections::HashMap;

use stormeter_study::Metric;

/// By cell and metric: its supposed value divided by the one that trials have. Others stay as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SupposedRatios {
    ratios: HashMap<(usize, Metric), f64>,
}

impl SupposedRatios {
    /// Supposes that a metric of a cell is this many times as large.
    pub fn set(&mut self, cell: usize, metric: Metric, ratio: f64) {
        self.ratios.insert((cell, metric), ratio);
    }

    /// The ratio of a cell's metric.
    pub(super) fn of(&self, cell: usize, metric: Metric) -> f64 {
        self.ratios.get(&(cell, metric)).copied().unwrap_or(1.0)
    }
}
