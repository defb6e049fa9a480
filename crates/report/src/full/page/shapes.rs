//! Interaction plots: the metrics of the matrix over the load, and the primary one by workload where a question
//! is about that.

use stormeter_study::Metric;
use stormeter_study::question::Factor;

use super::figure::{figure, legend};
use crate::full::grid::{Grid, Load};
use crate::markup::Markup;
use crate::svg::dots::{Axis, Better, Dot, Dots, Mark, Row, dots};
use crate::svg::lines::{Panel, Point, lines};
use crate::wording::plural;

/// More panels than this are not looked at side by side.
const MOST_PANELS: usize = 16;
/// Values of workloads that differ by more than this factor are drawn on a logarithmic axis.
const LINEAR_UP_TO: f64 = 20.0;

pub(super) fn shapes(grid: &Grid<'_>) -> Option<Markup> {
    let mut page = Markup::default();
    let mut is_empty = true;
    for metric in grid.page_metrics() {
        let title = format!("{} against load", grid.title(metric));
        let id = format!("load-{}", metric.name());
        let Some(chart) = lines(&against_load(grid, metric), metric, &id, &title) else {
            continue;
        };
        page.leaf("h3", &title);
        figure(&mut page, chart, "");
        is_empty = false;
    }
    if asks_for_workload(grid) {
        let metric = grid.report.plan().design.metric;
        let title = format!("{} by workload and datastore", grid.title(metric));
        if let Some(chart) = by_workload(grid, metric, &title) {
            page.leaf("h3", &title);
            legend(&mut page, grid);
            figure(&mut page, chart, "");
            is_empty = false;
        }
    }
    page.tag("p").at("class", "caption").text(
        "Absolute values with their intervals. Parallel lines: the difference between datastores is the same \
         at every load. Lines that diverge or cross: it depends on the load.",
    );
    (!is_empty).then_some(page)
}

/// Whether an analysis of variance has both datastore and workload as factors.
fn asks_for_workload(grid: &Grid<'_>) -> bool {
    let mut tables = grid.report.analysis.answers.iter().filter_map(|answer| answer.table.as_ref());
    tables.any(|table| {
        [Factor::Datastore, Factor::Workload].iter().all(|factor| table.factors.contains(factor))
    })
}

/// A panel for each workload and number of outstanding I/Os, over the number of VMs; where there is only one
/// number of VMs, over the outstanding I/Os.
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
            let has_desktops = plan.workloads[workload].kind.desktops().is_some();
            let what = if has_desktops { "desktop" } else { "VM" };
            let levels = loads.iter().map(|load| plural(load.vms.into(), what));
            panels.push(panel(grid, metric, title, levels.collect(), &loads));
        }
    }
    panels.truncate(MOST_PANELS);
    panels
}

/// A row for each workload at each load. Workloads have no order, so no lines join them.
fn by_workload(grid: &Grid<'_>, metric: Metric, title: &str) -> Option<Markup> {
    let values = || {
        let cells = grid.loads.iter().flat_map(|load| &load.cells);
        cells.filter_map(|&cell| grid.value(cell, metric)).map(|value| value.value)
    };
    let finite = || values().filter(|value| value.is_finite() && *value > 0.0);
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
    if most <= 0.0 {
        return None;
    }
    let is_log = most / least > LINEAR_UP_TO;
    let titles = grid.titles();
    let rows = grid.loads.iter().map(|load| {
        let dots = grid.columns().into_iter().filter_map(|datastore| {
            let value = grid.value(*load.cells.get(datastore)?, metric)?;
            let words = grid.quantity(load.cells[datastore], metric, value.value).typeset();
            let (name, workload) = (grid.datastore(datastore), grid.workload(load.workload));
            Some(Dot {
                mark: Mark::Series(grid.hue(datastore)),
                tooltip: format!("{name}, {workload}, {}: {words}", load.label),
                words,
                tone: "",
                value: Some(value.value),
                ends: grid.interval_of(value).map(|interval| (interval.low, interval.high)),
                is_settled: true,
            })
        });
        let label = match grid.has_many_loads() {
            true => format!("{}, {}", grid.workload(load.workload), load.label),
            false => grid.workload(load.workload),
        };
        Row { label, dots: dots.collect(), ..Row::default() }
    });
    dots(&Dots {
        id: "by-workload".into(),
        title: title.into(),
        rows: rows.collect(),
        axis: Axis::between(if is_log { least } else { 0.0 }, most, is_log, Better::of(metric))
            .of(metric),
        reference: None,
        tick: Box::new(move |value| titles.tick(metric, value)),
    })
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
        // In the unit of the title, so that the ticks of the axis are round.
        let shown = |value| grid.titles().value(metric, value);
        let ends = grid.interval_of(value);
        let ends = ends.map(|interval| (shown(interval.low), shown(interval.high)));
        Some(Point { value: shown(value.value), ends })
    };
    let series = grid.columns().into_iter().enumerate().map(|(place, datastore)| {
        let values = loads.iter().map(|load| point(load, datastore)).collect();
        (place, grid.datastore(datastore), values)
    });
    Panel { title, levels, series: series.collect() }
}
