//! What is exported: cells and the trials that count.

use stormeter_statistics::metrics::value_of;
use stormeter_study::{Metric, StudyPlan, WorkloadKind};
use stormeter_trial::{CpuUsage, Sample, Workload};

/// A run.
#[derive(Debug, Clone)]
pub struct Results<'a> {
    /// The run's identity.
    pub run: &'a str,
    /// The version of the program that measured.
    pub version: &'a str,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub began_unix_ms: u64,
    /// The cells, in the plan's order.
    pub cells: Vec<Cell>,
    /// The trials that count, in the order in which they were made.
    pub trials: Vec<Trial<'a>>,
}

/// One load on one datastore.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The datastore's name.
    pub datastore: String,
    /// The workload's name.
    pub workload: String,
    /// Virtual machines driven at once.
    pub vms: u32,
    /// Outstanding I/Os of each, if the study sets them.
    pub outstanding: Option<u32>,
    /// Its I/Os; `None` for fixed work, users and services.
    pub io: Option<Workload>,
    /// Each metric over all its trials: the mean; of a percentile that of the merged histograms.
    pub values: Vec<(Metric, f64)>,
}

/// A trial.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// Its cell.
    pub cell: usize,
    /// Its block, from 0.
    pub block: u32,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub began_unix_ms: u64,
    /// What was measured.
    pub sample: &'a Sample,
    /// What it cost.
    pub cpu: &'a CpuUsage,
}

impl Trial<'_> {
    /// Its value of each metric that it has.
    pub(crate) fn values(&self) -> impl Iterator<Item = (Metric, f64)> + '_ {
        Metric::ALL
            .into_iter()
            .filter_map(|metric| Some((metric, value_of(metric, self.sample, self.cpu)?)))
    }
}

impl Cell {
    /// The cells of a plan, without values.
    pub fn all_of(plan: &StudyPlan) -> Vec<Cell> {
        let of = |cell: stormeter_study::Cell| Cell {
            datastore: plan.datastores[cell.datastore].name.clone(),
            workload: plan.workloads[cell.workload].name.clone(),
            vms: cell.vms,
            outstanding: cell.outstanding,
            io: match &plan.workloads[cell.workload].kind {
                WorkloadKind::Io(io) => Some(io.clone()),
                _ => None,
            },
            values: Vec::new(),
        };
        plan.cells().into_iter().map(of).collect()
    }

    /// Its value of a metric.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        self.values.iter().find(|(found, _)| *found == metric).map(|(_, value)| *value)
    }
}

/// What a metric's values are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    BytesPerSecond,
    Nanoseconds,
    Share,
}

pub(crate) fn unit(metric: Metric) -> Unit {
    match metric {
        Metric::Iops | Metric::Updates => Unit::PerSecond,
        Metric::Throughput => Unit::BytesPerSecond,
        Metric::HostCpu => Unit::Share,
        _ => Unit::Nanoseconds,
    }
}
