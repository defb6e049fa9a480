//! The trials of a study, sorted by cell and block, and the values that tests are made of.

use std::collections::BTreeMap;

use stormeter_study::{Blocks, Cell, Metric, StudyPlan, StudyWorkload, Unit, WorkloadKind};
use stormeter_trial::{Interval, Recovery, Sample};

use super::conclusion::CellTrial;
use super::load::{Load, LoadedDatastore};
use super::supposed::SupposedRatios;
use super::unanswered::Unanswered;
use crate::finding::LawFinding;
use crate::metrics::{mean_resolution, value_of};
use crate::stopping::{Looks, MIN_BLOCKS};
use crate::touched::Touched;

/// A predicted difference below this share counts as none: the model's error is larger, and a
/// measurement would not find it.
pub const LEAST_PREDICTED: f64 = 0.01;

/// The trials of a study, by cell.
pub(super) struct Measured<'a> {
    /// Its plan.
    pub(super) plan: &'a StudyPlan,
    /// Its cells, in the plan's order.
    pub(super) cells: Vec<Cell>,
    by_cell: Vec<Vec<CellTrial<'a>>>,
    /// Per cell: why nothing may be concluded from it, if so.
    pub(super) invalid: Vec<Option<LawFinding>>,
    /// Whether they come from a model.
    pub(super) is_predicted: bool,
    /// What is supposed of their values instead.
    pub(super) supposed: Option<&'a SupposedRatios>,
}

/// Trials that ended before throughput was back.
pub(super) struct Unrecovered {
    /// How many.
    pub(super) trials: usize,
    /// The least time after the last step at which one ended.
    pub(super) least_ns: u64,
}

impl<'a> Measured<'a> {
    /// Sorts trials. One of a cell that the plan does not have is left out, and so is a second one
    /// of the same cell and block.
    pub(super) fn new(plan: &'a StudyPlan, trials: &[CellTrial<'a>]) -> Self {
        let cells = plan.cells();
        let mut by_cell: Vec<Vec<CellTrial<'a>>> = vec![Vec::new(); cells.len()];
        for trial in trials {
            if let Some(own) = by_cell.get_mut(trial.cell)
                && !own.iter().any(|known| known.block == trial.block)
            {
                own.push(*trial);
            }
        }
        for own in &mut by_cell {
            own.sort_by_key(|trial| trial.block);
        }
        let invalid = vec![None; cells.len()];
        Self { plan, cells, by_cell, invalid, is_predicted: false, supposed: None }
    }

    /// Whether it is a measured comparison: an invalid result ends it, and it has one verdict for each candidate.
    pub(super) fn is_comparison(&self) -> bool {
        !self.is_predicted && self.plan.is_comparison()
    }

    /// The metrics that trials are compared in, in the order of tables. The busy share of the host is its CPU time
    /// per I/O times the rate: in a comparison it would take a place in the family of metrics and add nothing, unless
    /// it carries the verdict.
    pub(super) fn metrics(&self) -> impl Iterator<Item = Metric> {
        let repeats = self.is_comparison() && self.plan.design.metric != Metric::HostCpu;
        Metric::ALL.into_iter().filter(move |&metric| !(repeats && metric == Metric::HostCpu))
    }

    /// On the scale of logarithms, the least difference that counts: any, in measurements.
    pub(super) fn least_difference(&self) -> f64 {
        if self.is_predicted { LEAST_PREDICTED.ln_1p() } else { 0.0 }
    }

    /// Whether a model gave nearly the same each time: an interval that is narrower than the least
    /// difference that counts does not include the model's error, and a test would only measure the
    /// model's own repeatability.
    pub(super) fn is_exact(&self, interval: &crate::estimate::Interval) -> bool {
        self.is_predicted && (interval.high - interval.low) / 2.0 < self.least_difference()
    }

    /// A cell's trials, block by block.
    pub(super) fn trials(&self, cell: usize) -> &[CellTrial<'a>] {
        self.by_cell.get(cell).map_or(&[], Vec::as_slice)
    }

    /// A metric of a cell in each block that has it.
    ///
    /// The target's CPU time may be known for some trials and not for others (its process was restarted); the
    /// rest would be a biased selection, so then it counts as unknown. Where it carries the verdict, a block
    /// without it does not count, like one with a failed trial. The recovery time is also unknown where some trials
    /// ended before.
    pub(super) fn values(&self, cell: usize, metric: Metric) -> BTreeMap<u32, f64> {
        let own = self.trials(cell);
        let half_known = metric == Metric::TargetCpuPerIo
            && metric != self.plan.design.metric
            && own.iter().any(|trial| trial.cpu.target_ns.is_none());
        if half_known || (metric == Metric::Recovery && self.unrecovered(cell).is_some()) {
            return BTreeMap::new();
        }
        let ratio = self.supposed_ratio(cell, metric);
        let value = |trial: &CellTrial<'_>| value_of(metric, trial.sample, trial.cpu);
        own.iter().filter_map(|trial| Some((trial.block, ratio * value(trial)?))).collect()
    }

    /// What a cell's values are multiplied by: 1, unless other values are supposed.
    fn supposed_ratio(&self, cell: usize, metric: Metric) -> f64 {
        self.supposed.map_or(1.0, |supposed| supposed.of(cell, metric))
    }

    /// The trials of a cell in which throughput was not back when they ended; `None` if it was back in all. The
    /// others' times by themselves would be a biased selection, so then the cell has none.
    pub(super) fn unrecovered(&self, cell: usize) -> Option<Unrecovered> {
        let never = self.trials(cell).iter().filter_map(|trial| match trial.sample.recovery()? {
            Recovery::NotWithin(ns) => Some(ns),
            Recovery::After(_) | Recovery::Overtaken => None,
        });
        let never: Vec<u64> = never.collect();
        let least_ns = *never.iter().min()?;
        Some(Unrecovered { trials: never.len(), least_ns })
    }

    /// What a cell's trials touched of their disks; `None` for a trial of fixed work.
    pub(super) fn touched(&self, cell: usize) -> Option<Touched> {
        let workload = self.cells.get(cell)?.workload;
        let WorkloadKind::Io(io) = &self.plan.workloads.get(workload)?.kind else { return None };
        let started = self.trials(cell).iter();
        let started = started.map(|trial| (trial.sample, self.plan.start_of(trial.block, cell)));
        Touched::of(io, self.plan.disk_bytes_of(workload), started)
    }

    /// A metric in the intervals of a cell's trials, in the order in which they were measured;
    /// `None` for a metric that intervals do not have.
    pub(super) fn intervals(&self, cell: usize, metric: Metric) -> Option<Vec<f64>> {
        let ratio = self.supposed_ratio(cell, metric);
        has_intervals(metric).then(|| {
            let trials = self.trials(cell).iter();
            let values = trials.flat_map(|trial| interval_values(trial.sample, metric));
            values.map(|value| ratio * value).collect()
        })
    }

    /// What counts as one observation of this metric.
    pub(super) fn unit(&self, metric: Metric) -> Unit {
        if has_intervals(metric) { self.plan.design.unit } else { Unit::Trial }
    }

    /// How blocks were added, as far as a test of this metric must know; without the resolution, which
    /// depends on the cells.
    ///
    /// IOPS, throughput and mean latency of a closed loop are functions of one another (Little), so a run
    /// that ended by the width of one ended by that of all; the width of another metric stopped
    /// nothing.
    pub(super) fn looks(&self, metric: Metric) -> Looks {
        let design = &self.plan.design;
        let bound = [Metric::Iops, Metric::Throughput, Metric::LatencyMean];
        // What a session of a service moves in an operation varies, and so do its pauses.
        let all_io = self.plan.workloads.iter().all(|workload| workload.kind.service().is_none());
        let is_bound =
            self.is_closed() && all_io && bound.contains(&metric) && bound.contains(&design.metric);
        let decided = metric == design.metric || is_bound;
        let (precision, min_blocks) = match design.blocks {
            Blocks::Auto { min, .. } if decided => (design.precision, min as usize),
            Blocks::Auto { .. } | Blocks::Fixed(_) => (0.0, 0),
        };
        let min_blocks = min_blocks.max(MIN_BLOCKS);
        Looks { precision, min_blocks, level: design.level, resolution: 0.0 }
    }

    /// [`Measured::looks`] at ratios to the baseline, which share the error among the candidates of a load.
    pub(super) fn looks_at_ratios(&self, metric: Metric) -> Looks {
        Looks { level: self.plan.level_of_ratios(), ..self.looks(metric) }
    }

    /// Whether no load is driven at a rate.
    pub(super) fn is_closed(&self) -> bool {
        let has_rate = |workload: &StudyWorkload| {
            workload.kind.io().is_some_and(|io| io.arrivals.rate_per_s().is_some())
        };
        self.plan.design.equal_load.is_none() && !self.plan.workloads.iter().any(has_rate)
    }

    /// By how much the logarithm of a cell's value may be off because it was read in steps.
    pub(super) fn resolution(&self, cell: usize, metric: Metric) -> f64 {
        mean_resolution(metric, self.trials(cell).iter().map(|trial| (trial.sample, trial.cpu)))
    }

    /// A datastore's place in the plan.
    pub(super) fn datastore(&self, name: &str) -> Option<usize> {
        self.plan.datastores.iter().position(|datastore| datastore.name == name)
    }

    pub(super) fn workload(&self, name: &str) -> Option<usize> {
        self.plan.workloads.iter().position(|workload| workload.name == name)
    }

    /// Where workloads are compared, what they have in common: the datastore of a cell, and the levels of its load.
    pub(super) fn place(&self, cell: &Cell) -> Load {
        let datastore = self.plan.datastores.get(cell.datastore).map(|spec| spec.name.clone());
        Load { workload: datastore.unwrap_or_default(), ..self.load(cell) }
    }

    /// A cell's load.
    pub(super) fn load(&self, cell: &Cell) -> Load {
        let workload = self.plan.workloads.get(cell.workload).map(|spec| spec.name.clone());
        let workload = workload.unwrap_or_default();
        match self.plan.vms.len() > 1 || !self.plan.outstanding.is_empty() {
            true => Load { workload, vms: Some(cell.vms), outstanding: cell.outstanding },
            false => Load { workload, vms: None, outstanding: None },
        }
    }

    /// A cell by its datastore and its load.
    pub(super) fn loaded(&self, cell: usize) -> LoadedDatastore {
        let own = &self.cells[cell];
        let datastore = self.plan.datastores[own.datastore].name.clone();
        LoadedDatastore { datastore, load: self.load(own) }
    }

    /// Blocks in which every cell has a trial.
    pub(super) fn complete_blocks(&self) -> u32 {
        let Some((first, others)) = self.by_cell.split_first() else { return 0 };
        let has = |own: &Vec<CellTrial<'a>>, block| own.iter().any(|trial| trial.block == block);
        let complete = first.iter().filter(|trial| others.iter().all(|own| has(own, trial.block)));
        complete.count() as u32
    }
}

fn has_intervals(metric: Metric) -> bool {
    matches!(metric, Metric::Iops | Metric::Throughput | Metric::LatencyMean | Metric::LatencyMax)
}

/// A metric in the intervals of one trial. A last row of less than half the length is left out: it
/// is noisier than the others. For a latency, a row without an I/O is left out too.
pub(super) fn interval_values(sample: &Sample, metric: Metric) -> Vec<f64> {
    let long = |row: &&Interval| row.length_ns > 0 && 2 * row.length_ns >= sample.interval_ns;
    sample.intervals.iter().filter(long).filter_map(|row| interval_value(row, metric)).collect()
}

fn interval_value(row: &Interval, metric: Metric) -> Option<f64> {
    let operations = row.reads.operations + row.writes.operations;
    match metric {
        Metric::Iops => Some(row.iops()),
        Metric::Throughput => {
            Some((row.reads.bytes + row.writes.bytes) as f64 * 1e9 / row.length_ns as f64)
        }
        Metric::LatencyMean => row.latency_mean_ns(),
        Metric::LatencyMax => {
            (operations > 0).then(|| row.reads.latency_max_ns.max(row.writes.latency_max_ns) as f64)
        }
        _ => None,
    }
}

/// Whether the results of a cell can answer anything.
///
/// # Errors
/// They are invalid.
pub(super) fn sound(measured: &Measured<'_>, cell: usize) -> Result<(), Unanswered> {
    measured.invalid[cell].clone().map_or(Ok(()), |by| {
        Err(Unanswered::Invalid { cell: measured.loaded(cell), by: Box::new(by) })
    })
}
