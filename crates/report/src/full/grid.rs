//! The cells of a study as rows of loads and columns of datastores, which is the order in every table and chart.

use stormeter_statistics::{
    CellSummary, FailedTrials, Interval, LEAST_PREDICTED, MetricSummary, Relative,
};
use stormeter_study::{Cell, Metric};

use crate::label::{datastore_labels, elide};
use crate::model::Report;
use crate::quantity::Quantity;
use crate::title::Titles;

/// How many characters of a name fit into the head of a column or next to a chart.
const LONGEST_NAME: usize = 26;

/// The cells of a study in that order.
pub(crate) struct Grid<'a> {
    pub(crate) report: &'a Report,
    pub(crate) cells: Vec<Cell>,
    pub(crate) loads: Vec<Load>,
}

/// The load of a row, shared by its datastores.
pub(crate) struct Load {
    pub(crate) workload: usize,
    pub(crate) vms: u32,
    pub(crate) outstanding: Option<u32>,
    /// `16 VMs × 4`.
    pub(crate) label: String,
    /// The cell of each datastore.
    pub(crate) cells: Vec<usize>,
}

impl<'a> Grid<'a> {
    pub(crate) fn of(report: &'a Report) -> Self {
        let plan = report.plan();
        let cells = plan.cells();
        let mut loads: Vec<Load> = Vec::new();
        for (index, cell) in cells.iter().enumerate() {
            let fits = |load: &Load| load.cells.first().is_some_and(|&c| cells[c].same_load(cell));
            match loads.last_mut().filter(|load| fits(load)) {
                Some(load) => load.cells.push(index),
                None => loads.push(Load {
                    workload: cell.workload,
                    vms: cell.vms,
                    outstanding: cell.outstanding,
                    label: plan.load_label(cell),
                    cells: vec![index],
                }),
            }
        }
        Self { report, cells, loads }
    }

    pub(crate) fn baseline(&self) -> usize {
        self.report.plan().baseline
    }

    pub(crate) fn datastores(&self) -> usize {
        self.report.plan().datastores.len()
    }

    /// The datastores, the baseline first: the order of columns, marks and legends.
    pub(crate) fn columns(&self) -> Vec<usize> {
        let others = (0..self.datastores()).filter(|&d| d != self.baseline());
        std::iter::once(self.baseline()).chain(others).collect()
    }

    /// The index of a datastore's colour, mark and line pattern: the baseline is always grey.
    pub(crate) fn hue(&self, datastore: usize) -> usize {
        self.columns().iter().position(|&d| d == datastore).unwrap_or(datastore)
    }

    /// The name of a datastore in tables and charts.
    pub(crate) fn datastore(&self, datastore: usize) -> String {
        let named = self.report.plan().datastores.get(datastore);
        named.map_or_else(|| format!("#{datastore}"), |named| elide(&named.name, LONGEST_NAME))
    }

    pub(crate) fn workload(&self, workload: usize) -> String {
        let named = self.report.plan().workloads.get(workload);
        named.map_or_else(|| format!("#{workload}"), |named| elide(&named.name, LONGEST_NAME))
    }

    /// What metrics are called here.
    pub(crate) fn titles(&self) -> Titles {
        Titles::of_study(self.report.plan())
    }

    /// What metrics of a cell are called.
    pub(crate) fn titles_of(&self, cell: usize) -> Titles {
        Titles::of_cell(self.report.plan(), self.cells.get(cell))
    }

    /// A value of a cell for people. Where workloads of other kinds share the title, it has a unit of its own.
    pub(crate) fn quantity(&self, cell: usize, metric: Metric, value: f64) -> Quantity {
        let titles = self.titles_of(cell);
        match titles == self.titles() {
            true => titles.quantity(metric, value),
            false => titles.alone(metric, value),
        }
    }

    /// The title of a metric.
    pub(crate) fn title(&self, metric: Metric) -> &'static str {
        self.titles().of(metric)
    }

    /// The loads of a workload, in order.
    pub(crate) fn loads_of(&self, workload: usize) -> Vec<&Load> {
        self.loads.iter().filter(|load| load.workload == workload).collect()
    }

    /// `nas, vm-4k, 16 VMs × 4`.
    pub(crate) fn name(&self, cell: usize) -> String {
        cell_name(self.report, &self.cells, cell)
    }

    pub(crate) fn summary(&self, cell: usize) -> Option<&'a CellSummary> {
        self.report.analysis.cells.get(cell)
    }

    pub(crate) fn value(&self, cell: usize, metric: Metric) -> Option<&'a MetricSummary> {
        self.summary(cell)?.values.iter().find(|value| value.metric == metric)
    }

    pub(crate) fn relative(&self, cell: usize, metric: Metric) -> Option<&'a Relative> {
        self.summary(cell)?.relative.iter().find(|relative| relative.metric == metric)
    }

    /// Whether the cell is one of the baseline.
    pub(crate) fn is_baseline(&self, cell: usize) -> bool {
        self.cells.get(cell).is_some_and(|cell| cell.datastore == self.baseline())
    }

    /// The metrics that at least one cell has, in the order of tables, the primary one first.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let primary = self.report.plan().design.metric;
        std::iter::once(primary)
            .chain(Metric::ALL.into_iter().filter(|&metric| metric != primary))
            .filter(|&metric| self.has(metric))
            .collect()
    }

    /// The metrics of the matrix: the primary one, the CPU cost, the latency, that of the work at desktops, and those of
    /// flushes and durable writes, as far as they were measured.
    pub(crate) fn headline_metrics(&self) -> Vec<Metric> {
        let cpu = [Metric::HostCpuPerIo, Metric::CpuPerIo, Metric::HostCpu];
        let cpu = cpu.into_iter().find(|&metric| self.has(metric));
        let mut metrics = vec![self.report.plan().design.metric];
        let durability =
            [Metric::FlushP50, Metric::FlushP99, Metric::DurableWriteP50, Metric::DurableWriteP99];
        let others = [Metric::LatencyMean, Metric::WorkP99].into_iter().chain(durability);
        for metric in cpu.into_iter().chain(others) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        metrics.retain(|&metric| self.has(metric));
        metrics
    }

    /// The metrics that the page draws: those of the matrix, and the tail of the latency, which users of the
    /// guests notice.
    pub(crate) fn page_metrics(&self) -> Vec<Metric> {
        let mut metrics = self.headline_metrics();
        if !metrics.contains(&Metric::LatencyP99) && self.has(Metric::LatencyP99) {
            metrics.push(Metric::LatencyP99);
        }
        metrics
    }

    /// Whether at least one workload has several loads.
    pub(crate) fn has_many_loads(&self) -> bool {
        self.loads.windows(2).any(|two| two[0].workload == two[1].workload)
    }

    /// Whether the figures come from a model.
    pub(crate) fn is_predicted(&self) -> bool {
        super::words::is_predicted(self.report)
    }

    /// Whether to show a relative spread or half width: that of a model which repeats itself says nothing
    /// about the model's error.
    pub(crate) fn is_shown(&self, relative: f64) -> bool {
        !self.is_predicted() || relative >= LEAST_PREDICTED
    }

    /// The interval of a ratio; of a model none is shown, which would be taken for its error.
    pub(crate) fn interval(&self, relative: &Relative) -> Option<Interval> {
        let comparison = relative.comparison.as_ref()?;
        (!self.is_predicted()).then_some(comparison.interval)
    }

    /// The interval of a value; of a model none is shown.
    pub(crate) fn interval_of(&self, value: &MetricSummary) -> Option<Interval> {
        value.interval.filter(|_| !self.is_predicted())
    }

    fn has(&self, metric: Metric) -> bool {
        (0..self.cells.len()).any(|cell| self.value(cell, metric).is_some())
    }

    /// The cells with failed trials: how many failed, and why the first did.
    pub(crate) fn failed(&self) -> impl Iterator<Item = (usize, &'a FailedTrials)> {
        let cells = self.report.analysis.cells.iter().enumerate();
        cells.filter_map(|(cell, summary)| Some((cell, summary.failed.as_ref()?)))
    }
}

/// The name of a cell in a sentence; in a comparison, where each datastore has one cell, the datastore's.
pub(crate) fn cell_name(report: &Report, cells: &[Cell], cell: usize) -> String {
    let plan = report.plan();
    if report.is_comparison() {
        return datastore_labels(plan).get(cell).cloned().unwrap_or_default();
    }
    let Some(place) = cells.get(cell) else { return format!("cell {}", cell + 1) };
    let datastore = plan.datastores.get(place.datastore).map_or("?", |d| d.name.as_str());
    let workload = plan.workloads.get(place.workload).map_or("?", |w| w.name.as_str());
    let (datastore, workload) = (elide(datastore, LONGEST_NAME), elide(workload, LONGEST_NAME));
    format!("{datastore}, {workload}, {}", plan.load_label(place))
}
