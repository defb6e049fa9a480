//! The activity of every guest of the rack over the whole study, so that a reader sees whether its limits were compared
//! or the machine that runs it: CPU first, then disks, networks and memory.

use stormeter_trial::GuestRow;

use super::figure::figure;
use crate::assemble::AVERAGE_NS;
use crate::full::grid::Grid;
use crate::full::guests::{HEAD, caption, rows};
use crate::markup::Markup;
use crate::model::{GuestTrace, StudyGuestRow};
use crate::page::{tables, typographic};
use crate::svg::over_time::{Form, Frame, Line, Panel, Unit, panel, time_axis};
use crate::svg::{WIDTH, chart, dashes, repeated_chart};

/// Of a chart with one guest below the other, for narrow screens.
const NARROW: f64 = WIDTH / 2.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 22.0;
const PLOT: f64 = 66.0;
const GAP: f64 = 28.0;
const AXIS: f64 = 6.0;
/// More points in all lines of a kind than this only make the page heavy.
const MOST_POINTS: usize = 3000;

/// A value of a row, where it is known.
type Value = fn(&GuestRow) -> Option<f64>;

/// What is drawn of every guest.
struct Kind {
    id: &'static str,
    heading: &'static str,
    title: &'static str,
    caption: &'static str,
    unit: Unit,
    /// The full line, and the dashed one.
    lines: [Option<Value>; 2],
}

const KINDS: [Kind; 4] = [
    Kind {
        id: "guests-cpu",
        heading: "CPU",
        title: "CPU of the guests",
        caption: "CPUs of the machine that each guest used; dashed: the share of the time that it waited for one.",
        unit: Unit::Cpus,
        lines: [Some(|row| Some(row.cpus_busy)), Some(|row| Some(row.waited))],
    },
    Kind {
        id: "guests-disk",
        heading: "Disks",
        title: "Disks of the guests",
        caption: "Bytes that each guest's process read from files and devices of the machine; dashed: wrote.",
        unit: Unit::Rate,
        lines: [Some(|row| row.disk_read_bytes_per_s), Some(|row| row.disk_write_bytes_per_s)],
    },
    Kind {
        id: "guests-network",
        heading: "Networks",
        title: "Networks of the guests",
        caption: "Bytes that each guest with an agent received; dashed: sent. Those of the others are not counted.",
        unit: Unit::Rate,
        lines: [
            Some(|row| row.network_receive_bytes_per_s),
            Some(|row| row.network_transmit_bytes_per_s),
        ],
    },
    Kind {
        id: "guests-memory",
        heading: "Memory",
        title: "Memory of the guests",
        caption: "Resident memory of each guest's process.",
        unit: Unit::Bytes,
        lines: [Some(|row| Some(row.memory_bytes as f64)), None],
    },
];

/// The section; `None` if the study ran on no guests.
pub(super) fn guests(grid: &Grid<'_>) -> Option<Markup> {
    let report = grid.report;
    if report.guests.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    let cells = rows(grid).into_iter().map(|row| row.to_vec()).collect();
    tables::plain(&mut page, &HEAD.map(String::from), cells);
    page.tag("p").at("class", "caption").text(&typographic(&caption()));
    let end = report.traces.iter().map(|trace| trace.end_ns).max().unwrap_or(0) as f64;
    let means = format!(
        "Means over {}, ramps included, since the study started.",
        match report.guest_traces.iter().any(is_cut) {
            true => format!("{} s within each trial", AVERAGE_NS / 1_000_000_000),
            false => "each trial".into(),
        }
    );
    for kind in &KINDS {
        let guests = report.guests.iter().zip(&report.guest_traces);
        let panels: Vec<Panel> = guests
            .map(|(guest, trace)| of_guest(kind, guest, trace, report.guests.len()))
            .collect();
        if let Some(chart) = drawn(kind, panels, end) {
            page.leaf("h3", kind.heading);
            figure(&mut page, chart, &format!("{} {means}", kind.caption));
        }
    }
    Some(page)
}

/// Whether a trial has more than one mean: the next begins where the last ends.
fn is_cut(trace: &GuestTrace) -> bool {
    trace.rows.windows(2).any(|two| two[0].at_ns.saturating_add(two[0].length_ns) == two[1].at_ns)
}

fn of_guest(kind: &Kind, guest: &StudyGuestRow, trace: &GuestTrace, guests: usize) -> Panel {
    let group = (trace.rows.len() * guests).div_ceil(MOST_POINTS).max(1);
    let mean = |chunk: &[(f64, f64)]| {
        let sum = chunk.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        (sum.0 / chunk.len() as f64, sum.1 / chunk.len() as f64)
    };
    let lines = kind.lines.iter().flatten().enumerate().map(|(number, value)| {
        let at = |row: &GuestRow| row.at_ns as f64 + row.length_ns as f64 / 2.0;
        let points = trace.rows.iter().filter_map(|row| Some((at(row), value(row)?)));
        let points: Vec<(f64, f64)> = points.collect();
        let is_idle = points.iter().all(|point| point.1 == 0.0);
        let points: Vec<(f64, f64)> = points.chunks(group).map(mean).collect();
        Line {
            class: format!("line h{number}"),
            dashes: if number == 0 { "none" } else { dashes(1) },
            tooltip: None,
            form: Form::Points(if is_idle { vec![] } else { points }),
        }
    });
    Panel {
        title: format!("{} ({})", guest.name, guest.kind),
        unit: kind.unit,
        lines: lines.collect(),
    }
}

/// Two guests side by side, all over the same time; before it the same with one below the other, for narrow screens.
/// `None` if none did anything.
fn drawn(kind: &Kind, mut panels: Vec<Panel>, end: f64) -> Option<Markup> {
    panels.retain(|panel| !panel.is_empty());
    if panels.is_empty() || end <= 0.0 {
        return None;
    }
    let height = |columns: usize| TOP + panels.len().div_ceil(columns) as f64 * (PLOT + GAP) + AXIS;
    let mut markup = repeated_chart((NARROW, height(1)));
    fill(&mut markup, &panels, 1, end);
    markup.close();
    let names: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
    let mut wide = chart(kind.id, height(2), kind.title, &format!("{}.", names.join(", ")));
    fill(&mut wide, &panels, 2, end);
    markup.append(wide);
    Some(markup)
}

/// Draws the panels in this many columns of equal width.
fn fill(markup: &mut Markup, panels: &[Panel], columns: usize, end: f64) {
    for (index, one) in panels.iter().enumerate() {
        let left = LEFT + (index % columns) as f64 * NARROW;
        let top = TOP + (index / columns) as f64 * (PLOT + GAP);
        let right = left + NARROW - LEFT - RIGHT;
        let frame = Frame { left, right, top, bottom: top + PLOT, span: (0.0, end) };
        panel(markup, one, frame);
        // Under the lowest panel of each column.
        if index + columns >= panels.len() {
            time_axis(markup, frame, 5);
        }
    }
}
