//! Desktops on demand: what became of users, how desktops were made, and both over time.

use stormeter_trial::{DesktopRow, DesktopStep, DesktopTotals, Histogram, Sample};
use stormeter_units::format_bytes;

use super::grid::{Grid, Load};
use crate::model::{DesktopTrace, StudyDesktopCell, StudyDesktopStep};
use crate::quantity::{Quantity, duration};
use crate::wording::listed;

/// The head of the table of users.
pub(super) const USERS: [&str; 9] =
    ["datastore", "came", "served", "ready", "refused", "went", "waiting", "p50 wait", "p95 wait"];

/// The head of the table of desktops.
pub(super) const MADE: [&str; 8] =
    ["datastore", "made", "storage", "copy", "setting", "deployment", "configure", "all"];

/// The meaning of the figures.
pub(super) const CAPTION: &str = "Means over the trials of a cell. ready: users for whom a desktop was ready; went: users who \
                                  waited for longer than their patience; waiting: users without a usable desktop at the end. \
                                  Waits are of those who were served, over all trials. storage: the most that desktops \
                                  reserved. Steps: the mean time for each desktop.";

/// A name, and the count of an interval that it names.
type Series = (&'static str, fn(&DesktopRow) -> f64);

/// What is drawn over time.
pub(super) const OVER_TIME: [Series; 5] = [
    ("users who wait", |row| row.waiting),
    ("desktops that are made", |row| row.deploying),
    ("ready", |row| row.ready),
    ("in use", |row| row.used),
    ("of idle users", |row| row.idle),
];

/// A trial that counts.
type Measured<'a> = (&'a Sample, &'a DesktopTotals);

/// The measured trials of each cell with desktops.
fn by_cell<'a>(samples: &[(usize, &'a Sample)]) -> Vec<(usize, Vec<Measured<'a>>)> {
    let mut cells: Vec<(usize, Vec<Measured<'_>>)> = Vec::new();
    for &(cell, sample) in samples {
        let Some(totals) = &sample.desktops else { continue };
        match cells.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, own)) => own.push((sample, totals)),
            None => cells.push((cell, vec![(sample, totals)])),
        }
    }
    cells.sort_by_key(|(cell, _)| *cell);
    cells
}

/// The cells with desktops as the model has them, from the samples of trials that count, each with its cell.
pub(crate) fn desktops(samples: &[(usize, &Sample)]) -> Vec<StudyDesktopCell> {
    by_cell(samples).into_iter().map(|(cell, trials)| of_cell(cell, &trials)).collect()
}

fn of_cell(cell: usize, trials: &[Measured<'_>]) -> StudyDesktopCell {
    let mean = |count: fn(&DesktopTotals) -> u64| {
        trials.iter().map(|(_, totals)| count(totals) as f64).sum::<f64>() / trials.len() as f64
    };
    let mut waits = Histogram::default();
    for (sample, _) in trials {
        sample.ios().iter().for_each(|kind| waits.merge(&kind.histogram));
    }
    let step = |step: DesktopStep| {
        let own = trials.iter().flat_map(|(_, totals)| &totals.steps);
        let own = own.filter(|own| own.name == step.name());
        let (times, sum_ns) =
            own.fold((0, 0), |sum, own| (sum.0 + own.times, sum.1 + own.total_ns));
        let mean_ns = (times > 0).then(|| sum_ns as f64 / times as f64);
        StudyDesktopStep { name: step.name().into(), mean_ns }
    };
    StudyDesktopCell {
        cell,
        came: mean(|it| it.came),
        served: mean(|it| it.usable),
        at_once: mean(|it| it.at_once),
        refused: mean(|it| it.refused),
        gone: mean(|it| it.gone),
        waiting: mean(|it| it.waiting),
        replaced: mean(|it| it.replaced),
        wait_p50_ns: waits.percentile_ns(0.5),
        wait_p95_ns: waits.percentile_ns(0.95),
        deployed: mean(|it| it.deployed),
        failed: mean(|it| it.failed),
        died: mean(|it| it.died),
        storage_most_bytes: trials.iter().map(|(_, it)| it.storage_most_bytes).max().unwrap_or(0),
        steps: DesktopStep::ALL.map(step).into(),
    }
}

/// Users and desktops over the window, cell by cell.
pub(crate) fn desktop_traces(samples: &[(usize, &Sample)]) -> Vec<DesktopTrace> {
    let trace = |(cell, trials): (usize, Vec<Measured<'_>>)| {
        let rows = trials.iter().map(|(_, totals)| totals.rows.len()).max().unwrap_or(0);
        // A trial that was cut has fewer rows than others.
        let mean = |number: usize| {
            let own: Vec<&DesktopRow> =
                trials.iter().filter_map(|(_, totals)| totals.rows.get(number)).collect();
            let of = |value: fn(&DesktopRow) -> f64| {
                own.iter().map(|row| value(row)).sum::<f64>() / own.len().max(1) as f64
            };
            DesktopRow {
                start_ns: own.first().map_or(0, |row| row.start_ns),
                length_ns: own.iter().map(|row| row.length_ns).max().unwrap_or(0),
                waiting: of(|row| row.waiting),
                deploying: of(|row| row.deploying),
                ready: of(|row| row.ready),
                used: of(|row| row.used),
                idle: of(|row| row.idle),
                leaving: of(|row| row.leaving),
            }
        };
        DesktopTrace { cell, rows: (0..rows).map(mean).collect() }
    };
    by_cell(samples).into_iter().map(trace).collect()
}

/// The loads with desktops, each with the desktops of its datastores in the order of columns.
pub(super) fn loads<'g>(grid: &'g Grid<'_>) -> Vec<(&'g Load, Vec<&'g StudyDesktopCell>)> {
    let of_load = |load: &'g Load| {
        let columns = grid.columns().into_iter();
        let own = columns.filter_map(|datastore| {
            let is_own = |it: &&StudyDesktopCell| {
                load.cells.contains(&it.cell) && grid.cells[it.cell].datastore == datastore
            };
            grid.report.desktops.iter().find(is_own)
        });
        let own: Vec<&StudyDesktopCell> = own.collect();
        (!own.is_empty()).then_some((load, own))
    };
    grid.loads.iter().filter_map(of_load).collect()
}

/// A mean of counts: whole where it is.
fn count(mean: f64) -> String {
    if mean.fract() == 0.0 { format!("{mean:.0}") } else { format!("{mean:.1}") }
}

/// The table of users without its head.
pub(super) fn users(
    grid: &Grid<'_>,
    cells: &[&StudyDesktopCell],
    write: fn(&Quantity) -> String,
) -> Vec<[String; USERS.len()]> {
    let wait = |ns: Option<f64>| ns.map_or_else(|| "–".into(), |ns| write(&duration(ns)));
    let row = |it: &&StudyDesktopCell| {
        [
            grid.datastore(grid.cells[it.cell].datastore),
            count(it.came),
            count(it.served),
            count(it.at_once),
            count(it.refused),
            count(it.gone),
            count(it.waiting),
            wait(it.wait_p50_ns),
            wait(it.wait_p95_ns),
        ]
    };
    cells.iter().map(row).collect()
}

/// The table of desktops without its head.
pub(super) fn made(
    grid: &Grid<'_>,
    cells: &[&StudyDesktopCell],
    write: fn(&Quantity) -> String,
) -> Vec<[String; MADE.len()]> {
    let time = |ns: Option<f64>| ns.map_or_else(|| "–".into(), |ns| write(&duration(ns)));
    let row = |it: &&StudyDesktopCell| {
        let step = |number: usize| time(it.steps.get(number).and_then(|step| step.mean_ns));
        [
            grid.datastore(grid.cells[it.cell].datastore),
            count(it.deployed),
            format_bytes(it.storage_most_bytes),
            step(0),
            step(1),
            step(2),
            step(3),
            time(it.total_ns()),
        ]
    };
    cells.iter().map(row).collect()
}

/// What went wrong, a sentence for each datastore where anything did.
pub(super) fn troubles(grid: &Grid<'_>, cells: &[&StudyDesktopCell]) -> Vec<String> {
    let sentence = |it: &&StudyDesktopCell| {
        let parts = [
            (it.failed, "could not be made"),
            (it.died, "died after they had been made"),
            (it.replaced, "had users, who waited for another"),
        ];
        let parts = parts.into_iter().filter(|(mean, _)| *mean > 0.0);
        let parts = listed(parts.map(|(mean, what)| format!("{} {what}", count(mean))));
        let datastore = grid.datastore(grid.cells[it.cell].datastore);
        (!parts.is_empty()).then(|| format!("{datastore}: of the desktops of a trial {parts}."))
    };
    cells.iter().filter_map(sentence).collect()
}
