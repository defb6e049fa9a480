//! The figures that a site is fitted to: measured figures of cells, or published ratios between cells.

use serde::Serialize;
use stormeter_statistics::metrics::value_of;
use stormeter_study::{Cell, Metric, StudyPlan};
use stormeter_trial::{CpuUsage, Sample};

/// One figure that the site should reproduce.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observation {
    /// Its description, for people.
    pub label: String,
    /// The cells and the metric.
    pub of: Observed,
    /// The value: in the metric's unit, or a ratio. Positive.
    pub value: f64,
}

/// The cells and the metric of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// A metric of a cell.
    Figure {
        /// The cell.
        cell: Cell,
        /// The metric.
        metric: Metric,
    },
    /// A metric of a cell over that of another.
    Ratio {
        /// The cell.
        cell: Cell,
        /// The cell of the denominator.
        base: Cell,
        /// The metric.
        metric: Metric,
    },
}

/// The outcome of a cell, measured or predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The driver's counts.
    pub sample: Sample,
    /// CPU usage.
    pub cpu: CpuUsage,
}

impl Outcome {
    /// The value of a metric.
    fn value(&self, metric: Metric) -> Option<f64> {
        value_of(metric, &self.sample, &self.cpu)
    }
}

impl Observed {
    /// The cells whose outcomes it needs.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let (first, second) = match *self {
            Observed::Figure { cell, .. } => (cell, None),
            Observed::Ratio { cell, base, .. } => (cell, Some(base)),
        };
        std::iter::once(first).chain(second)
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        match self {
            Observed::Figure { metric, .. } | Observed::Ratio { metric, .. } => *metric,
        }
    }

    /// Its value, given the outcomes of cells; `None` if a cell has no such figure.
    pub fn value<'o>(&self, outcome: impl Fn(Cell) -> Option<&'o Outcome>) -> Option<f64> {
        match *self {
            Observed::Figure { cell, metric } => outcome(cell)?.value(metric),
            Observed::Ratio { cell, base, metric } => {
                Some(outcome(cell)?.value(metric)? / outcome(base)?.value(metric)?)
            }
        }
    }
}

/// The figures of a study's cells: for each metric, the mean over the trials of a cell. `trials` holds the number of
/// the cell in [`StudyPlan::cells`] and the outcome. Cells without a figure are left out.
pub fn observations(
    plan: &StudyPlan,
    trials: &[(usize, Outcome)],
    metrics: &[Metric],
) -> Vec<Observation> {
    let mut found = Vec::new();
    for (number, cell) in plan.cells().into_iter().enumerate() {
        for &metric in metrics {
            let values: Vec<f64> = trials
                .iter()
                .filter(|(of, _)| *of == number)
                .filter_map(|(_, outcome)| outcome.value(metric))
                .collect();
            if values.is_empty() {
                continue;
            }
            found.push(Observation {
                label: format!("{} of {}", metric.name(), cell_label(plan, &cell)),
                of: Observed::Figure { cell, metric },
                value: values.iter().sum::<f64>() / values.len() as f64,
            });
        }
    }
    found
}

/// The label of a cell: `nfs, vm-4k, 4 VMs x 16`.
pub fn cell_label(plan: &StudyPlan, cell: &Cell) -> String {
    let datastore = &plan.datastores[cell.datastore].name;
    let workload = &plan.workloads[cell.workload].name;
    let vms = match cell.vms {
        1 => "1 VM".to_owned(),
        vms => format!("{vms} VMs"),
    };
    match cell.outstanding {
        Some(outstanding) => format!("{datastore}, {workload}, {vms} x {outstanding}"),
        None => format!("{datastore}, {workload}, {vms}"),
    }
}
