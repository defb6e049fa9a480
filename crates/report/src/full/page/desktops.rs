//! Desktops on demand: tables of users and of steps for each load, and both over the window.

use super::figure::figure;
use crate::full::desktops::{CAPTION, MADE, OVER_TIME, USERS, loads, made, troubles, users};
use crate::full::grid::Grid;
use crate::markup::Markup;
use crate::model::DesktopTrace;
use crate::page::{tables, typographic};
use crate::quantity::Quantity;
use crate::svg::over_time::{Form, Frame, Line, Panel, Unit, panel, time_axis};
use crate::svg::{WIDTH, chart, dashes, repeated_chart};

/// Of a chart with one cell below the other, for narrow screens.
const NARROW: f64 = WIDTH / 2.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 22.0;
const PLOT: f64 = 86.0;
const GAP: f64 = 34.0;
const AXIS: f64 = 6.0;

/// The section; `None` if the study has no desktops.
pub(super) fn desktops(grid: &Grid<'_>) -> Option<Markup> {
    let loads = loads(grid);
    if loads.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    for (number, (load, cells)) in loads.iter().enumerate() {
        let heading = format!("{}, {}", grid.workload(load.workload), load.label);
        page.leaf("h3", &heading);
        let rows = users(grid, cells, Quantity::typeset).into_iter().map(|row| row.to_vec());
        tables::plain(&mut page, &USERS.map(String::from), rows.collect());
        let rows = made(grid, cells, Quantity::typeset).into_iter().map(|row| row.to_vec());
        tables::plain(&mut page, &MADE.map(String::from), rows.collect());
        for trouble in troubles(grid, cells) {
            page.leaf("p", &typographic(&trouble));
        }
        let traces = cells
            .iter()
            .filter_map(|of| grid.report.desktop_traces.iter().find(|trace| trace.cell == of.cell));
        let panels: Vec<(Panel, f64)> = traces.map(|trace| of_trace(grid, trace)).collect();
        if let Some(drawn) = drawn(&format!("desktops-{number}"), &heading, panels) {
            figure(&mut page, drawn, &legend());
        }
    }
    page.tag("p").at("class", "caption").text(&typographic(CAPTION));
    Some(page)
}

fn legend() -> String {
    let names: Vec<&str> = OVER_TIME.iter().map(|(name, _)| *name).collect();
    let strokes = ["full", "dashes", "dots", "dash and dot", "dash and two dots"];
    let words: Vec<String> =
        names.iter().zip(strokes).map(|(name, stroke)| format!("{name} ({stroke})")).collect();
    format!(
        "Numbers over the window, as means over its intervals and trials: {}.",
        words.join(", ")
    )
}

fn of_trace(grid: &Grid<'_>, trace: &DesktopTrace) -> (Panel, f64) {
    let at = |start_ns: u64, length_ns: u64| start_ns as f64 + length_ns as f64 / 2.0;
    let lines = OVER_TIME.iter().enumerate().map(|(number, (name, value))| {
        let points = trace.rows.iter().map(|row| (at(row.start_ns, row.length_ns), value(row)));
        let points: Vec<(f64, f64)> = points.collect();
        let is_never = points.iter().all(|point| point.1 == 0.0);
        Line {
            class: format!("line s{number}"),
            dashes: if number == 0 { "none" } else { dashes(number) },
            tooltip: Some((*name).into()),
            form: Form::Points(if is_never { vec![] } else { points }),
        }
    });
    let end_ns = trace.rows.iter().map(|row| row.start_ns.saturating_add(row.length_ns)).max();
    let title = grid.datastore(grid.cells[trace.cell].datastore);
    (Panel { title, unit: Unit::Count, lines: lines.collect() }, end_ns.unwrap_or(0) as f64)
}

/// Two datastores side by side; before it the same with one below the other, for narrow screens.
fn drawn(id: &str, title: &str, mut panels: Vec<(Panel, f64)>) -> Option<Markup> {
    panels.retain(|(panel, end_ns)| !panel.is_empty() && *end_ns > 0.0);
    if panels.is_empty() {
        return None;
    }
    let height = |columns: usize| TOP + panels.len().div_ceil(columns) as f64 * (PLOT + GAP) + AXIS;
    let mut markup = repeated_chart((NARROW, height(1)));
    fill(&mut markup, &panels, 1);
    markup.close();
    let names: Vec<&str> = panels.iter().map(|(panel, _)| panel.title.as_str()).collect();
    let described = format!("{}.", names.join(", "));
    let mut wide = chart(id, height(2), &format!("Users and desktops: {title}"), &described);
    fill(&mut wide, &panels, 2);
    markup.append(wide);
    Some(markup)
}

fn fill(markup: &mut Markup, panels: &[(Panel, f64)], columns: usize) {
    for (index, (one, end_ns)) in panels.iter().enumerate() {
        let left = LEFT + (index % columns) as f64 * NARROW;
        let top = TOP + (index / columns) as f64 * (PLOT + GAP);
        let right = left + NARROW - LEFT - RIGHT;
        let frame = Frame { left, right, top, bottom: top + PLOT, span: (0.0, *end_ns) };
        panel(markup, one, frame);
        // Under the lowest panel of each column.
        if index + columns >= panels.len() {
            time_axis(markup, frame, 5);
        }
    }
}
