//! The activity of the host: over the whole study as means of up to 20 s next to the I/O that caused it, as in
//! the `mpls-servers` study (2012), and for one trial of each cell in full.

use stormeter_study::Metric;
use stormeter_trial::MonitorRow;

use super::figure::{figure, legend};
use crate::assemble::AVERAGE_NS;
use crate::capital::capital;
use crate::full::grid::Grid;
use crate::markup::Markup;
use crate::model::{MonitorAverage, TrialTrace};
use crate::svg::over_time::{Form, Frame, Line, Panel, Unit, marks, panel, time_axis};
use crate::svg::{WIDTH, chart, color_class, dashes, small_chart};
use crate::title::Titles;

const LEFT: f64 = 66.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 22.0;
const PLOT: f64 = 84.0;
const GAP: f64 = 30.0;
/// More points in a line than this only make the page heavy.
const MOST_POINTS: usize = 1500;
/// Most lines of single CPUs on the page; with more, only the least and the most busy CPU are drawn.
const MOST_CORE_LINES: usize = 400;
/// With more trials than this, their strokes do not say what they are: the page would grow heavy.
const MOST_TOOLTIPS: usize = 400;

fn line(class: &str, dashes: &'static str, points: Vec<(f64, f64)>) -> Line {
    Line { class: format!("line {class}"), dashes, tooltip: None, form: Form::Points(points) }
}

/// The section on the whole study; `None` when no trial was measured.
pub(super) fn whole_study(grid: &Grid<'_>) -> Option<Markup> {
    let traces = &grid.report.traces;
    let end = traces.iter().map(|trace| trace.end_ns).max()? as f64;
    let is_monitored = traces.iter().any(|trace| !trace.averages.is_empty());
    let mut panels = vec![iops(grid)];
    if is_monitored {
        panels.extend(host(traces));
    }
    panels.retain(|panel| !panel.is_empty());
    if panels.is_empty() || end <= 0.0 {
        return None;
    }
    let height = TOP + panels.len() as f64 * (PLOT + GAP);
    let description = format!(
        "{} trials; {}.",
        traces.len(),
        panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>().join(", ")
    );
    let title = match grid.titles() {
        Titles::Usual => "I/O and the host over the whole study",
        Titles::Users => "Users and the host over the whole study",
    };
    let mut markup = chart("whole-study", height, title, &description);
    let (mut top, mut last) = (TOP, None);
    for one in &panels {
        let (right, bottom) = (WIDTH - RIGHT, top + PLOT);
        let frame = Frame { left: LEFT, right, top, bottom, span: (0.0, end) };
        panel(&mut markup, one, frame);
        top += PLOT + GAP;
        last = Some(frame);
    }
    if let Some(frame) = last {
        time_axis(&mut markup, frame, 8);
    }
    let mut page = Markup::default();
    legend(&mut page, grid);
    let caption = if is_monitored {
        format!(
            "Time since the study started. {}: a stroke for each trial, in its datastore's colour. The host: means \
             over {}, ramps included; network without loopback, which has a dotted line of its own; dashed: \
             writes. The details of a cell show its middle trial in full.",
            capital(grid.title(Metric::Iops)),
            means_over(traces)
        )
    } else {
        "Time since the study started: a stroke for each trial, in its datastore's colour. The host was not \
         monitored."
            .to_string()
    };
    figure(&mut page, markup, &caption);
    Some(page)
}

/// The length of the host's means in words; 20 s are mentioned only where trials are that long.
fn means_over(traces: &[TrialTrace]) -> String {
    let is_cut = traces.iter().any(|trace| trace.averages.len() > 1);
    match is_cut {
        true => format!("{} s within each trial", AVERAGE_NS / 1_000_000_000),
        false => "each trial".into(),
    }
}

fn iops(grid: &Grid<'_>) -> Panel {
    let lines = grid.columns().into_iter().enumerate().map(|(place, datastore)| {
        let traces = grid.report.traces.iter();
        let own = traces.filter(|trace| {
            grid.cells.get(trace.cell).is_some_and(|cell| cell.datastore == datastore)
        });
        let own: Vec<&TrialTrace> = own.collect();
        let level = |trace: &&TrialTrace| {
            let rate = grid.titles().value(Metric::Iops, trace.iops);
            (trace.start_ns as f64, trace.end_ns as f64, rate)
        };
        let levels = own.iter().map(level).collect();
        let has_tooltips = grid.report.traces.len() <= MOST_TOOLTIPS;
        let tooltips = own.iter().filter(|_| has_tooltips).map(|trace| {
            let titles = grid.titles_of(trace.cell);
            let iops = titles.quantity(Metric::Iops, trace.iops).typeset();
            format!(
                "{}, block {}: {iops} {}",
                grid.name(trace.cell),
                trace.block + 1,
                titles.of(Metric::Iops)
            )
        });
        Line {
            class: format!("line level {}", color_class(place)),
            dashes: "none",
            tooltip: None,
            form: Form::Levels(levels, tooltips.collect()),
        }
    });
    Panel {
        title: format!("{} of each trial", grid.title(Metric::Iops)),
        unit: Unit::Count,
        lines: lines.collect(),
    }
}

/// The host's panels over the whole study.
fn host(traces: &[TrialTrace]) -> Vec<Panel> {
    let count: usize = traces.iter().map(|trace| trace.averages.len()).sum();
    let group = count.div_ceil(MOST_POINTS).max(1);
    let series = |value: fn(&MonitorAverage) -> f64| -> Vec<(f64, f64)> {
        let points: Vec<(f64, f64)> = traces
            .iter()
            .flat_map(|trace| {
                trace.averages.iter().map(move |average| {
                    let middle = trace.start_ns + average.at_ns + average.length_ns / 2;
                    (middle as f64, value(average))
                })
            })
            .collect();
        let mean = |chunk: &[(f64, f64)]| {
            let sum = chunk.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
            (sum.0 / chunk.len() as f64, sum.1 / chunk.len() as f64)
        };
        points.chunks(group).map(mean).collect()
    };
    let some = |points: Vec<(f64, f64)>| {
        if points.iter().any(|point| point.1 > 0.0) { points } else { vec![] }
    };
    vec![
        Panel {
            title: "CPU, all together".into(),
            unit: Unit::Share,
            lines: vec![line("h0", "none", series(|a| a.cpu_busy))],
        },
        Panel {
            title: "network, in and out".into(),
            unit: Unit::Rate,
            lines: vec![
                line("h0", "none", series(|a| a.network_bytes_per_s)),
                line("h1", dashes(2), some(series(|a| a.loopback_bytes_per_s))),
            ],
        },
        Panel {
            title: "block devices, reads and writes".into(),
            unit: Unit::Rate,
            lines: vec![
                line("h0", "none", series(|a| a.disk_read_bytes_per_s)),
                line("h1", dashes(1), series(|a| a.disk_write_bytes_per_s)),
            ],
        },
        Panel {
            title: "memory in use".into(),
            unit: Unit::Bytes,
            lines: vec![line("h0", "none", series(|a| a.memory_used_bytes))],
        },
    ]
}

/// A cell's trials over time and the host's activity in the middle one; `None` without a trial.
pub(super) fn of_cell(grid: &Grid<'_>, cell: usize) -> Option<Markup> {
    let traces: Vec<&TrialTrace> =
        grid.report.traces.iter().filter(|trace| trace.cell == cell).collect();
    let middle = traces.iter().find(|trace| trace.is_representative)?;
    let end = traces.iter().map(|trace| trace.end_ns.saturating_sub(trace.start_ns)).max()? as f64;
    let color = color_class(grid.cells.get(cell).map_or(0, |cell| grid.hue(cell.datastore)));
    let mut panels = load(&traces, middle, &color, grid.titles_of(cell));
    panels.extend(host_of_trial(grid, &middle.monitor));
    panels.retain(|panel| !panel.is_empty());
    if panels.is_empty() || end <= 0.0 {
        return None;
    }
    let rows = panels.len().div_ceil(2);
    let height = TOP + rows as f64 * (PLOT * 0.85 + GAP) + 4.0;
    let description = format!(
        "{} trials; the activity of the host is that of block {}.",
        traces.len(),
        middle.block + 1
    );
    let name = format!("{} over time", grid.name(cell));
    let mut markup = small_chart((WIDTH, height), &name, &description);
    for (index, one) in panels.iter().enumerate() {
        let width = WIDTH / 2.0;
        let left = LEFT + (index % 2) as f64 * width;
        let top = TOP + (index / 2) as f64 * (PLOT * 0.85 + GAP);
        let right = left + width - LEFT - 14.0;
        let frame = Frame { left, right, top, bottom: top + PLOT * 0.85, span: (0.0, end) };
        panel(&mut markup, one, frame);
        marks(&mut markup, &middle.disturbed.steps, frame);
        if index + 2 >= panels.len() {
            time_axis(&mut markup, frame, 5);
        }
    }
    Some(markup)
}

/// IOPS of all trials, pale, and of the middle one; its mean latency.
fn load(traces: &[&TrialTrace], middle: &TrialTrace, color: &str, titles: Titles) -> Vec<Panel> {
    let rate = |per_s| titles.value(Metric::Iops, per_s);
    // All other trials are one broken line: a path for each would be most of the page.
    let mut others = Vec::new();
    for trace in traces.iter().filter(|trace| !trace.is_representative) {
        others.extend(trace.points.iter().map(|point| (point.at_ns as f64, rate(point.iops))));
        others.push((0.0, f64::NAN));
    }
    let own = middle.points.iter().map(|point| (point.at_ns as f64, rate(point.iops))).collect();
    let latency = middle.points.iter();
    let latency = latency
        .map(|point| (point.at_ns as f64, point.latency_mean_ns.unwrap_or(f64::NAN)))
        .collect();
    vec![
        Panel {
            title: format!("{}, all trials pale", titles.of(Metric::Iops)),
            unit: Unit::Count,
            lines: vec![line(&format!("pale {color}"), "none", others), line(color, "none", own)],
        },
        Panel {
            title: titles.of(Metric::LatencyMean).into(),
            unit: Unit::Duration,
            lines: vec![line(color, "none", latency)],
        },
    ]
}

fn host_of_trial(grid: &Grid<'_>, rows: &[MonitorRow]) -> Vec<Panel> {
    if rows.is_empty() {
        return vec![];
    }
    let at = |row: &MonitorRow| (row.at_ns + row.length_ns / 2) as f64;
    let series = |value: &dyn Fn(&MonitorRow) -> f64| -> Vec<(f64, f64)> {
        rows.iter().map(|row| (at(row), value(row))).collect()
    };
    let cores = rows.iter().map(|row| row.cores_busy.len()).min().unwrap_or(0);
    let mut cpu = Vec::new();
    let title = if cores == 0 {
        "CPU, all together"
    } else if cores * grid.cells.len() <= MOST_CORE_LINES {
        cpu.extend(
            (0..cores).map(|core| line("core", "none", series(&|row| row.cores_busy[core]))),
        );
        "CPU, all together and each (thin)"
    } else {
        let bound = |row: &MonitorRow, pick: fn(f64, f64) -> f64| {
            row.cores_busy.iter().copied().reduce(pick).unwrap_or(0.0)
        };
        cpu.push(line("core", "none", series(&|row| bound(row, f64::min))));
        cpu.push(line("core", "none", series(&|row| bound(row, f64::max))));
        "CPU, all together; thin: least and most busy"
    };
    cpu.push(line("h0", "none", series(&|row| row.cpu_busy)));
    let loopback = series(&|row| row.loopback_bytes_per_s);
    let is_idle = loopback.iter().all(|point| point.1 == 0.0);
    vec![
        Panel { title: title.into(), unit: Unit::Share, lines: cpu },
        Panel {
            title: "network, in; dashed: out; dotted: loopback".into(),
            unit: Unit::Rate,
            lines: vec![
                line("h0", "none", series(&|row| row.network_receive_bytes_per_s)),
                line("h1", dashes(1), series(&|row| row.network_transmit_bytes_per_s)),
                line("h1", dashes(2), if is_idle { vec![] } else { loopback }),
            ],
        },
        Panel {
            title: "block devices, reads; dashed: writes".into(),
            unit: Unit::Rate,
            lines: vec![
                line("h0", "none", series(&|row| row.disk_read_bytes_per_s)),
                line("h1", dashes(1), series(&|row| row.disk_write_bytes_per_s)),
            ],
        },
        Panel {
            title: "memory in use".into(),
            unit: Unit::Bytes,
            lines: vec![line("h0", "none", series(&|row| row.memory_used_bytes as f64))],
        },
    ]
}
