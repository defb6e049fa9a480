//! Interaction plots: the metrics of the matrix against the load, and the primary one against the
//! workload where a question was about that.

use stormeter_study::Metric;

use super::figure;
use crate::markup::Markup;
use crate::study::draw::lines::{Panel, Point, lines};
use crate::study::grid::{Grid, Load};

/// More panels than this are not looked at side by side.
const MOST_PANELS: usize = 16;

pub(super) fn shapes(grid: &Grid<'_>) -> Option<Markup> {
    let mut page = Markup::default();
    let mut is_empty = true;
    for metric in grid.headline_metrics() {
        let title = format!("{} against load", metric.title());
        let id = format!("load-{}", metric.name());
        let Some(chart) = lines(&against_load(grid, metric), metric, &id, &title, true) else {
            continue;
        };
        page.leaf("h3", &title);
        figure(&mut page, chart, "");
        is_empty = false;
    }
    if asks_for_workload(grid) {
        let metric = grid.report.plan().design.metric;
        let title = format!("{} by workload and datastore", metric.title());
        if let Some(chart) =
            lines(&against_workload(grid, metric), metric, "by-workload", &title, false)
        {
            page.leaf("h3", &title);
            figure(&mut page, chart, "");
            is_empty = false;
        }
    }
    page.tag("p").at("class", "caption").text(
        "Absolute values with their intervals. Lines that run side by side say that the difference between \
         datastores is the same everywhere; lines that part or cross say that it depends on the load.",
    );
    (!is_empty).then_some(page)
}

/// Whether an analysis of variance looked at datastore and workload together.
fn asks_for_workload(grid: &Grid<'_>) -> bool {
    let mut tables = grid.report.analysis.answers.iter().filter_map(|answer| answer.table.as_ref());
    tables.any(|table| {
        table.rows.iter().any(|row| row.term.contains("datastore") && row.term.contains("workload"))
    })
}

/// A panel a workload and number of outstanding I/Os, the VMs from left to right; where there is one
/// number of VMs only, the outstanding I/Os.
fn against_load(grid: &Grid<'_>, metric: Metric) -> Vec<Panel> {
    let plan = grid.report.plan();
    let mut panels = Vec::new();
    for workload in 0..plan.workloads.len() {
        let loads = grid.loads_of(workload);
        if plan.vms.len() < 2 {
            let levels = loads.iter().map(|load| match load.outstanding {
                Some(outstanding) => format!("{outstanding} outst."),
                None => load.label.clone(),
            });
            panels.push(panel(grid, metric, grid.workload(workload), levels.collect(), &loads));
            continue;
        }
        let mut outstanding: Vec<Option<u32>> = loads.iter().map(|load| load.outstanding).collect();
        outstanding.dedup();
        outstanding.sort_unstable();
        outstanding.dedup();
        for level in &outstanding {
            let loads: Vec<&Load> =
                loads.iter().copied().filter(|load| load.outstanding == *level).collect();
            let title = match level {
                Some(level) if outstanding.len() > 1 => {
                    format!("{}, {level} outstanding", grid.workload(workload))
                }
                _ => grid.workload(workload),
            };
            let levels = loads
                .iter()
                .map(|load| format!("{} VM{}", load.vms, if load.vms == 1 { "" } else { "s" }));
            panels.push(panel(grid, metric, title, levels.collect(), &loads));
        }
    }
    panels.truncate(MOST_PANELS);
    panels
}

/// A panel a load, the workloads from left to right.
fn against_workload(grid: &Grid<'_>, metric: Metric) -> Vec<Panel> {
    let mut labels: Vec<&str> = grid.loads.iter().map(|load| load.label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    // In the order of the plan, not of the alphabet.
    labels.sort_by_key(|label| grid.loads.iter().position(|load| load.label == *label));
    let mut panels: Vec<Panel> = labels
        .into_iter()
        .map(|label| {
            let loads: Vec<&Load> = grid.loads.iter().filter(|load| load.label == label).collect();
            let levels = loads.iter().map(|load| grid.workload(load.workload)).collect();
            panel(grid, metric, label.to_string(), levels, &loads)
        })
        .filter(|panel| panel.levels.len() > 1)
        .collect();
    panels.truncate(MOST_PANELS);
    panels
}

fn panel(
    grid: &Grid<'_>,
    metric: Metric,
    title: String,
    levels: Vec<String>,
    loads: &[&Load],
) -> Panel {
    let point = |load: &&Load, datastore: usize| {
        let value = grid.value(*load.cells.get(datastore)?, metric)?;
        let ends = value.interval.map(|interval| (interval.low, interval.high));
        Some(Point { value: value.value, ends })
    };
    let series = grid.columns().into_iter().enumerate().map(|(place, datastore)| {
        let values = loads.iter().map(|load| point(load, datastore)).collect();
        (place, grid.datastore(datastore), values)
    });
    Panel { title, levels, series: series.collect() }
}
