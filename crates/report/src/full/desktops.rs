//! Desktops on demand: what became of users and desktops, and in which step of making a desktop the datastores differ.

use stormeter_study::{Metric, StudyPlan};
use stormeter_trial::{DesktopRow, DesktopStep, DesktopTotals, Histogram, Sample};
use stormeter_units::format_bytes;

use super::grid::{Grid, Load};
use crate::change;
use crate::columns::Columns;
use crate::compact::sentence::verdict_sign;
use crate::model::{DesktopTrace, StudyDesktopCell, StudyDesktopStep};
use crate::printable::printable;
use crate::quantity::{Quantity, duration};
use crate::text::{Paint, Style, plain, push_line, wrap};

/// The head of the table of users, after the datastore.
pub(super) const USERS: [&str; 8] =
    ["came", "served", "at once", "refused", "gone", "waiting", "wait p50", "wait p95"];
/// The head of the table of steps, after the datastore.
pub(super) const STEPS: [&str; 5] = ["copy", "setting", "deployment", "configure", "total"];
/// The head of the table of desktops, after the datastore.
pub(super) const DESKTOPS: [&str; 6] =
    ["made", "failed", "died", "users moved", "idled out", "storage"];

/// The meaning of the users' figures.
pub(super) const USERS_CAPTION: &str = "Users in the window, as means over the trials. served: their desktop became usable; at once: a desktop was ready when \
     they came; gone: waited for longer than their patience; waiting: had no usable one when the window closed. wait: \
     from the arrival until the desktop was usable, over all trials; those who went or still waited count with the time \
     that they had waited.";
/// The meaning of the steps' figures.
pub(super) const STEPS_CAPTION: &str = "Mean time of a desktop in each step, and of all of them together, with the change from the baseline: the step with the \
     largest difference is where the datastores differ.";
/// The meaning of the desktops' figures.
pub(super) const DESKTOPS_CAPTION: &str = "Desktops in the window, as means over the trials. failed: could not be made, or not in time; died: after they had been \
     made; users moved: got another desktop because theirs died; idled out: taken apart because the user was idle; storage: \
     the most that was reserved in a trial.";

/// The steps' metrics, in the order of [`STEPS`].
const TIMES: [Metric; 4] =
    [Metric::CopyTime, Metric::SettingTime, Metric::DeploymentTime, Metric::ConfigureTime];

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
pub(crate) fn desktops(plan: &StudyPlan, samples: &[(usize, &Sample)]) -> Vec<StudyDesktopCell> {
    let all = by_cell(samples).into_iter().map(|(cell, trials)| of_cell(cell, &trials));
    let mut all: Vec<StudyDesktopCell> = all.collect();
    let totals: Vec<(usize, Option<f64>)> = all.iter().map(|it| (it.cell, it.total_ns)).collect();
    for one in &mut all {
        let baseline = plan.baseline_of(one.cell);
        let baseline = totals.iter().find(|(cell, _)| Some(*cell) == baseline);
        let baseline_ns = baseline.and_then(|(_, total_ns)| *total_ns);
        one.total_ratio = one.total_ns.zip(baseline_ns).map(|(total, of)| total / of);
    }
    all
}

fn of_cell(cell: usize, trials: &[Measured<'_>]) -> StudyDesktopCell {
    let mean = |count: fn(&DesktopTotals) -> u64| {
        trials.iter().map(|(_, totals)| count(totals) as f64).sum::<f64>() / trials.len() as f64
    };
    let mut waits = Histogram::default();
    for (sample, _) in trials {
        sample.latencies().for_each(|kind| waits.merge(&kind.histogram));
    }
    let step = |step: DesktopStep| {
        let own = trials.iter().flat_map(|(_, totals)| &totals.steps);
        let own = own.filter(|own| own.name == step.name());
        let (times, sum_ns) =
            own.fold((0, 0), |sum, own| (sum.0 + own.times, sum.1 + own.total_ns));
        let mean_ns = (times > 0).then(|| sum_ns as f64 / times as f64);
        StudyDesktopStep { name: step.name().into(), mean_ns }
    };
    let steps: Vec<StudyDesktopStep> = DesktopStep::ALL.map(step).into();
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
        idled_out: mean(|it| it.idled_out),
        storage_most_bytes: trials.iter().map(|(_, it)| it.storage_most_bytes).max().unwrap_or(0),
        total_ns: steps.iter().map(|step| step.mean_ns).sum(),
        total_ratio: None,
        steps,
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

/// The desktops of a cell.
fn of<'a>(grid: &Grid<'a>, cell: usize) -> Option<&'a StudyDesktopCell> {
    grid.report.desktops.iter().find(|it| it.cell == cell)
}

/// The loads that have desktops.
pub(super) fn loads<'g>(grid: &'g Grid<'_>) -> Vec<&'g Load> {
    let has = |load: &&Load| load.cells.iter().any(|&cell| of(grid, cell).is_some());
    grid.loads.iter().filter(has).collect()
}

/// The cells of a load that have desktops, each with its datastore, in the order of columns: the baseline first.
pub(super) fn cells(grid: &Grid<'_>, load: &Load) -> Vec<(usize, String)> {
    let columns = grid.columns().into_iter();
    let cells = columns.filter_map(|it| Some((*load.cells.get(it)?, grid.datastore(it))));
    cells.filter(|(cell, _)| of(grid, *cell).is_some()).collect()
}

/// `portal, 8 desktops`.
pub(super) fn load_name(grid: &Grid<'_>, load: &Load) -> String {
    format!("{}, {}", grid.workload(load.workload), load.label)
}

/// A duration for people, where it is known.
fn time(ns: Option<f64>, write: fn(&Quantity) -> String) -> String {
    ns.map_or_else(|| "–".into(), |ns| write(&duration(ns)))
}

/// What became of the users of a cell. `write` formats durations.
pub(super) fn users(grid: &Grid<'_>, cell: usize, write: fn(&Quantity) -> String) -> Vec<String> {
    let Some(of) = of(grid, cell) else { return Vec::new() };
    let counts = [of.came, of.served, of.at_once, of.refused, of.gone, of.waiting].map(count);
    let waits = [of.wait_p50_ns, of.wait_p95_ns].map(|ns| time(ns, write));
    counts.into_iter().chain(waits).collect()
}

/// The times of the steps of a cell.
pub(super) fn steps(grid: &Grid<'_>, cell: usize, write: fn(&Quantity) -> String) -> Vec<String> {
    let Some(of) = of(grid, cell) else { return Vec::new() };
    let steps = of.steps.iter().map(|step| step.mean_ns);
    steps.chain([of.total_ns]).map(|ns| time(ns, write)).collect()
}

/// Their changes from the baseline, with the sign of the verdict; nothing for the baseline.
pub(super) fn changes(grid: &Grid<'_>, cell: usize) -> Vec<String> {
    let Some(of) = of(grid, cell).filter(|_| !grid.is_baseline(cell)) else { return Vec::new() };
    let step = |metric| {
        let Some(relative) = grid.relative(cell, metric) else { return String::new() };
        let verdict = relative.comparison.as_ref().map(|it| it.verdict);
        let sign = verdict.map(verdict_sign).unwrap_or_default();
        format!("{} {sign}", change::show(relative.ratio)).trim_end().to_owned()
    };
    let total = of.total_ratio.map(change::show).unwrap_or_default();
    TIMES.into_iter().map(step).chain([total]).collect()
}

/// What became of the desktops of a cell.
pub(super) fn desktops_of(grid: &Grid<'_>, cell: usize) -> Vec<String> {
    let Some(of) = of(grid, cell) else { return Vec::new() };
    let counts = [of.deployed, of.failed, of.died, of.replaced, of.idled_out].map(count);
    counts.into_iter().chain([format_bytes(of.storage_most_bytes)]).collect()
}

/// What became of users and desktops, and the time of each step of making one.
pub(super) fn terminal(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    let loads = self::loads(grid);
    if loads.is_empty() {
        return;
    }
    push_line(text, &paint.with(Style::Bold, "Desktops"));
    let of_users = |cell| vec![users(grid, cell, Quantity::to_string)];
    let of_steps = |cell| vec![steps(grid, cell, Quantity::to_string), changes(grid, cell)];
    let of_desktops = |cell| vec![desktops_of(grid, cell)];
    // The rows of a cell: the first with the name of its datastore.
    type Rows<'a> = &'a dyn Fn(usize) -> Vec<Vec<String>>;
    let tables: [(&[&str], Rows<'_>, &str); 3] = [
        (&USERS, &of_users, USERS_CAPTION),
        (&STEPS, &of_steps, STEPS_CAPTION),
        (&DESKTOPS, &of_desktops, DESKTOPS_CAPTION),
    ];
    for (head, rows_of, caption) in tables {
        for load in &loads {
            for line in wrap(&printable(&load_name(grid, load)), width, "  ", "  ") {
                push_line(text, &line);
            }
            let head = std::iter::once("").chain(head.iter().copied());
            let mut rows = vec![head.map(str::to_owned).collect::<Vec<_>>()];
            for (cell, datastore) in self::cells(grid, load) {
                let own = rows_of(cell).into_iter().filter(|row| !row.is_empty());
                rows.extend(own.enumerate().map(|(number, row)| {
                    let name = if number == 0 { printable(&datastore) } else { "  change".into() };
                    std::iter::once(name).chain(row.iter().map(|it| plain(it))).collect()
                }));
            }
            let left = [&[true][..], &vec![false; rows[0].len() - 1]].concat();
            let columns = Columns { indent: 4, gap: 2, left: &left, has_head: true };
            for (_, line) in columns.lines(&rows, width) {
                push_line(text, &line);
            }
        }
        for line in wrap(caption, width, "", "") {
            push_line(text, &paint.with(Style::Dim, &line));
        }
        push_line(text, "");
    }
}

/// A mean of counts: whole where it is.
fn count(mean: f64) -> String {
    if !mean.is_finite() {
        return "–".into();
    }
    let text = format!("{mean:.1}");
    text.strip_suffix(".0").map(String::from).unwrap_or(text)
}
