//! Desktops on demand on the page: tables of users, desktops and steps, and their course over time.

use stormeter_trial::DesktopRow;

use super::figure::figure;
use crate::full::desktops::{
    DESKTOPS, DESKTOPS_CAPTION, STEPS, STEPS_CAPTION, USERS, USERS_CAPTION, cells, changes,
    desktops_of, load_name, loads, steps, users,
};
use crate::full::grid::Grid;
use crate::markup::Markup;
use crate::model::DesktopTrace;
use crate::page::{swatches, tables, typographic};
use crate::quantity::Quantity;
use crate::svg::layers::{Layer, layers};
use crate::svg::over_time::{Form, Frame, Line, Panel, Unit, panel, time_axis};
use crate::svg::{WIDTH, chart, repeated_chart, text};

/// Of a chart with one cell below the other, for narrow screens.
const NARROW: f64 = WIDTH / 2.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 14.0;
/// The name of the cell.
const TITLE: f64 = 22.0;
/// The title of a panel.
const HEAD: f64 = 18.0;
const WAITING: f64 = 64.0;
const DESKTOPS_PLOT: f64 = 96.0;
const GAP: f64 = 12.0;
const AXIS: f64 = 34.0;
const CELL: f64 = TITLE + HEAD + WAITING + GAP + HEAD + DESKTOPS_PLOT + AXIS;
/// More cells than this are not looked at in one chart.
const MOST_CELLS: usize = 24;

/// What a desktop does: the class of its colour, the words, and its number in an interval.
type State = (&'static str, &'static str, fn(&DesktopRow) -> f64);

/// From the bottom up.
const STATES: [State; 5] = [
    ("p0", "in use", |row| row.used),
    ("p1", "idle", |row| row.idle),
    ("p2", "ready", |row| row.ready),
    ("p4", "being made", |row| row.deploying),
    ("p3", "being taken apart", |row| row.leaving),
];

/// The section; `None` without desktops.
pub(super) fn desktops(grid: &Grid<'_>) -> Option<Markup> {
    if loads(grid).is_empty() {
        return None;
    }
    let mut page = Markup::default();
    let typeset = Quantity::typeset;
    page.leaf("h3", "Users");
    let none = |_| Vec::new();
    table(&mut page, grid, &USERS, (&|cell| users(grid, cell, typeset), &none), USERS_CAPTION);
    page.leaf("h3", "Steps of making a desktop");
    let steps = |cell| steps(grid, cell, typeset);
    table(&mut page, grid, &STEPS, (&steps, &|cell| changes(grid, cell)), STEPS_CAPTION);
    page.leaf("h3", "Desktops");
    table(&mut page, grid, &DESKTOPS, (&|cell| desktops_of(grid, cell), &none), DESKTOPS_CAPTION);
    let traced = |(cell, _)| {
        let trace = grid.report.desktop_traces.iter().find(|trace| trace.cell == cell)?;
        (!trace.rows.is_empty()).then(|| (grid.name(cell), trace))
    };
    let drawn = loads(grid).into_iter().flat_map(|load| cells(grid, load)).filter_map(traced);
    let drawn: Vec<(String, &DesktopTrace)> = drawn.take(MOST_CELLS).collect();
    if !drawn.is_empty() {
        page.leaf("h3", "Over time");
        swatches(&mut page, STATES.iter().rev().map(|(class, words, _)| ((*class).into(), *words)));
        let caption = "Users who wait for a desktop, and below them the desktops by what they do: means over the trials, \
                       since the window opened. Every scale is the cell's own.";
        figure(&mut page, picture(&drawn), caption);
    }
    Some(page)
}

/// What a table has of a cell, column by column.
type Row<'a> = &'a dyn Fn(usize) -> Vec<String>;

/// The rows of all loads, each load a heading above those of its datastores: figures, and below them what `below` has.
fn table(
    page: &mut Markup,
    grid: &Grid<'_>,
    head: &[&str],
    (row, below): (Row<'_>, Row<'_>),
    caption: &str,
) {
    tables::table(page, "numbers grouped");
    page.tag("thead").open();
    page.tag("tr").open();
    for words in std::iter::once("datastore").chain(head.iter().copied()) {
        page.tag("th").at("scope", "col").text(words);
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    for load in loads(grid) {
        page.tag("tr").at("class", "group").open();
        let columns = head.len() + 1;
        let name = load_name(grid, load);
        page.tag("th").at("colspan", columns).at("scope", "rowgroup").text(&name);
        page.close();
        for (cell, datastore) in cells(grid, load) {
            page.tag("tr").open();
            page.tag("th").at("scope", "row").text(&datastore);
            let mut below = below(cell).into_iter();
            for words in row(cell) {
                page.tag("td").open();
                page.text(&words);
                if let Some(below) = below.next().filter(|below| !below.is_empty()) {
                    page.tag("span").at("class", "range").text(&below.replace(' ', "\u{202f}"));
                }
                page.close();
            }
            page.close();
        }
    }
    tables::close_table(page);
    page.tag("p").at("class", "caption").text(&typographic(caption));
}

/// Two cells side by side; before it the same with one below the other, for narrow screens.
fn picture(cells: &[(String, &DesktopTrace)]) -> Markup {
    let height = |columns: usize| cells.len().div_ceil(columns) as f64 * CELL;
    let mut markup = repeated_chart((NARROW, height(1)));
    fill(&mut markup, cells, 1);
    markup.close();
    let described: Vec<String> = cells.iter().map(|(name, trace)| described(name, trace)).collect();
    let title = "Users who wait, and desktops by what they do";
    let mut wide = chart("desktops-course", height(2), title, &described.join(" "));
    fill(&mut wide, cells, 2);
    markup.append(wide);
    markup
}

fn described(name: &str, trace: &DesktopTrace) -> String {
    let most = |value: fn(&DesktopRow) -> f64| trace.rows.iter().map(value).fold(0.0, f64::max);
    format!(
        "{name}: at most {:.1} users waited and {:.1} desktops were in use.",
        most(|row| row.waiting),
        most(|row| row.used)
    )
}

fn fill(markup: &mut Markup, cells: &[(String, &DesktopTrace)], columns: usize) {
    for (index, (name, trace)) in cells.iter().enumerate() {
        let left = LEFT + (index % columns) as f64 * NARROW;
        let top = (index / columns) as f64 * CELL;
        let right = left + NARROW - LEFT - RIGHT;
        let end = trace.rows.iter().map(end_ns).fold(1.0, f64::max);
        text(markup, "name start strong", (left, top + 14.0), name);
        let top = top + TITLE + HEAD;
        let frame = Frame { left, right, top, bottom: top + WAITING, span: (0.0, end) };
        panel(markup, &waiting(trace), frame);
        let top = frame.bottom + GAP + HEAD;
        let frame = Frame { top, bottom: top + DESKTOPS_PLOT, ..frame };
        let edges: Vec<(f64, f64)> =
            trace.rows.iter().map(|row| (row.start_ns as f64, end_ns(row))).collect();
        let states = STATES.map(|(class, words, value)| Layer {
            class,
            words,
            values: trace.rows.iter().map(value).collect(),
        });
        layers(markup, "desktops", &states, &edges, frame);
        time_axis(markup, frame, 5);
    }
}

fn end_ns(row: &DesktopRow) -> f64 {
    row.start_ns as f64 + row.length_ns as f64
}

fn waiting(trace: &DesktopTrace) -> Panel {
    let points = trace
        .rows
        .iter()
        .flat_map(|row| [(row.start_ns as f64, row.waiting), (end_ns(row), row.waiting)]);
    let line = Line {
        class: "line h0".into(),
        dashes: "none",
        tooltip: None,
        form: Form::Points(points.collect()),
    };
    Panel { title: "users waiting".into(), unit: Unit::Few, lines: vec![line] }
}
