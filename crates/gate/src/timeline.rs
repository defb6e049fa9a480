//! Runs in the order in which they were run: what each says of a cell, its change against earlier runs, and, at marks,
//! the runs before against those after.
//!
//! Single runs have changes without verdicts: how much runs differ by themselves is not known from two. At a mark the
//! runs before it, back to the mark before, are one side and those after it the other; all these comparisons share one
//! error.

use std::collections::BTreeSet;

use stormeter_report::sides::Sides;
use stormeter_report::timeline::{
    Mark, Timeline, TimelineCell, TimelineChange, TimelineLone, TimelineMetric, TimelineRun,
    TimelineValue,
};
use stormeter_statistics::runs::{RunsCompared, RunsOfSide, compare_runs};
use stormeter_study::Metric;
use thiserror::Error;

use crate::likeness::{Difference, differences};
use crate::matching::{Matching, NamedRuns};
use crate::run::{Aspect, GateCell, GateRun};
use crate::sides::{SidesError, SidesOptions, direction_of, for_several, shown_run, uncorrected};

/// A run with its name on the time line.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRun {
    /// The name; no other run has it.
    pub name: String,
    /// The run.
    pub run: GateRun,
}

/// Why runs make no time line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimelineError {
    /// One run has no change.
    #[error("a time line needs two runs or more")]
    TooFew,
    /// A run has no cell that another has.
    #[error(
        "{name} has nothing in common with the other runs: it has {of_run}; they have {of_others}"
    )]
    NothingInCommon {
        /// The run.
        name: String,
        /// Its cells.
        of_run: String,
        /// Those of the others.
        of_others: String,
    },
    /// A mark splits runs by their times, and one has none.
    #[error(
        "{name} does not say when it was run, so on which side of {mark} it is cannot be told; name the sides \
         and compare them: before=FILE after=FILE"
    )]
    NoTime {
        /// The run.
        name: String,
        /// The mark.
        mark: String,
    },
    /// A mark has runs on one side only.
    #[error("no run is {place} {mark} ({date}), so there is nothing to compare there")]
    NoRunThere {
        /// `before` or `after`, or between two marks.
        place: String,
        /// The mark.
        mark: String,
        /// When it is.
        date: String,
    },
    /// The runs on the two sides of a mark have no cell in common, or none at all.
    #[error(transparent)]
    Sides(#[from] SidesError),
}

/// What is shown of every cell: how much, how slow at worst, at what cost.
const MAIN: [Metric; 3] = [Metric::Iops, Metric::LatencyP99, Metric::CpuPerIo];

/// The time line of runs, in any order; `marks` are moments between them. Only the main metrics are compared, and the
/// deciding one; `options.metrics` is not used.
///
/// # Errors
/// A run shares no cell with another, a mark has runs on one side only, or a run has no time and there are marks.
pub fn timeline(
    runs: &[NamedRun],
    marks: &[Mark],
    options: &SidesOptions,
) -> Result<Timeline, TimelineError> {
    if runs.len() < 2 {
        return Err(TimelineError::TooFew);
    }
    let mut runs = with_common_names(runs)?;
    let is_dated = runs.iter().all(|it| it.run.began_s.is_some());
    if is_dated {
        runs.sort_by(|a, b| {
            let [a, b] = [a, b].map(|it| it.run.began_s.unwrap_or_default());
            a.total_cmp(&b)
        });
    }
    let mut marks = marks.to_vec();
    marks.sort_by_key(|mark| mark.at_unix_ms);
    let all = cells_of(&runs);
    let (shared, lone): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, of)| of.len() > 1);
    let cells: Vec<TimelineCell> =
        shared.iter().map(|(name, _)| of_cell(&runs, name, options)).collect();
    let mut metrics: Vec<Metric> = Vec::new();
    for metric in cells.iter().flat_map(|cell| &cell.metrics).map(|it| it.metric) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let shown = SidesOptions { metrics, ..options.clone() };
    Ok(Timeline {
        cells,
        lone: lone.into_iter().map(|(cell, of)| TimelineLone { run: of[0], cell }).collect(),
        compared: at_marks(&runs, &marks, &shown)?,
        runs: runs
            .iter()
            .map(|it| TimelineRun { name: it.name.clone(), run: shown_run(&it.run) })
            .collect(),
        marks,
        is_dated,
        primary: options.primary,
        level: options.level,
    })
}

/// The runs with cells that have one name wherever they are of one thing.
fn with_common_names(runs: &[NamedRun]) -> Result<Vec<NamedRun>, TimelineError> {
    let sides: Vec<NamedRuns> = runs
        .iter()
        .map(|it| NamedRuns { name: it.name.clone(), runs: vec![it.run.clone()] })
        .collect();
    let matching = Matching::of(&sides);
    let by_run: Vec<Vec<String>> = sides.iter().map(|side| matching.loads(side)).collect();
    for (place, (loads, one)) in by_run.iter().zip(runs).enumerate() {
        if loads.is_empty() {
            return Err(SidesError::Empty { name: one.name.clone() }.into());
        }
        let others = by_run.iter().enumerate().filter(|(other, _)| *other != place);
        let others: BTreeSet<&String> = others.flat_map(|(_, loads)| loads).collect();
        if !loads.iter().any(|load| others.contains(load)) {
            return Err(TimelineError::NothingInCommon {
                name: one.name.clone(),
                of_run: loads.join("; "),
                of_others: others.into_iter().cloned().collect::<Vec<_>>().join("; "),
            });
        }
    }
    let renamed = |one: &NamedRun| {
        let cell = |cell: &GateCell| GateCell {
            datastore: String::new(),
            load: matching.name(cell),
            ..cell.clone()
        };
        let cells = one.run.cells.iter().map(cell).collect();
        NamedRun { name: one.name.clone(), run: GateRun { cells, ..one.run.clone() } }
    };
    Ok(runs.iter().map(renamed).collect())
}

/// The cells in the order in which runs have them, each with the places of its runs.
fn cells_of(runs: &[NamedRun]) -> Vec<(String, Vec<usize>)> {
    let mut all: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, one) in runs.iter().enumerate() {
        for cell in &one.run.cells {
            match all.iter_mut().find(|(name, _)| *name == cell.load) {
                Some((_, of)) if of.contains(&place) => {}
                Some((_, of)) => of.push(place),
                None => all.push((cell.load.clone(), vec![place])),
            }
        }
    }
    all
}

/// A cell of a run that counts.
type Counted<'a> = Option<(&'a GateRun, &'a GateCell)>;

fn of_cell(runs: &[NamedRun], name: &str, options: &SidesOptions) -> TimelineCell {
    let cells: Vec<Counted<'_>> = runs
        .iter()
        .map(|one| {
            let cell = one.run.cells.iter().find(|cell| cell.load == name)?;
            one.run.invalid.is_none().then_some((&one.run, cell))
        })
        .collect();
    let metrics = metrics_of(&cells, options.primary);
    TimelineCell {
        name: name.to_owned(),
        changes: changes(&cells, &options.may_differ),
        metrics: metrics.into_iter().map(|metric| of_metric(&cells, metric, options)).collect(),
    }
}

/// The metrics of a cell that are shown: the main ones and the deciding one; the mean latency where no run has a tail.
fn metrics_of(cells: &[Counted<'_>], primary: Metric) -> Vec<Metric> {
    let mut wanted = vec![primary];
    for metric in MAIN.into_iter().chain([Metric::LatencyMean]) {
        if !wanted.contains(&metric) {
            wanted.push(metric);
        }
    }
    let is_there = |metric: &Metric| {
        cells.iter().flatten().any(|(_, cell)| cell.value(*metric).is_some_and(|value| value > 0.0))
    };
    let has_tail = is_there(&Metric::LatencyP99);
    wanted.retain(|metric| {
        is_there(metric)
            && (*metric != Metric::LatencyMean || !has_tail || primary == Metric::LatencyMean)
    });
    wanted
}

/// In what each run differs from the one before it that has the cell.
fn changes(cells: &[Counted<'_>], may_differ: &BTreeSet<Aspect>) -> Vec<TimelineChange> {
    let mut found = Vec::new();
    for (run, of) in cells.iter().enumerate() {
        let previous = cells[..run].iter().rev().flatten().next();
        let (Some(earlier), Some(later)) = (previous, of) else { continue };
        found.extend(unlike(earlier, later).into_iter().map(|difference| TimelineChange {
            run,
            aspect: difference.aspect.name(),
            earlier: difference.earlier,
            later: difference.new,
            is_allowed: may_differ.contains(&difference.aspect),
        }));
    }
    found
}

fn unlike(earlier: &(&GateRun, &GateCell), later: &(&GateRun, &GateCell)) -> Vec<Difference> {
    let of_run = differences(&earlier.0.made_with, &later.0.made_with);
    let of_cell = differences(&earlier.1.made_with, &later.1.made_with);
    of_run.into_iter().chain(of_cell).collect()
}

fn of_metric(cells: &[Counted<'_>], metric: Metric, options: &SidesOptions) -> TimelineMetric {
    let is_used = |it: &&(&GateRun, &GateCell)| it.1.value(metric).is_some_and(|v| v > 0.0);
    let value = |run: usize| {
        let of = cells[run].as_ref().filter(is_used)?;
        let earlier = |it: Option<&(&GateRun, &GateCell)>| {
            let it = it?;
            let compared = against(it.1, of.1, metric, options)?;
            let differs = unlike(it, of);
            let is_alike = differs.iter().all(|it| options.may_differ.contains(&it.aspect));
            Some((compared, is_alike))
        };
        Some(TimelineValue {
            value: of.1.value(metric)?,
            within: of.1.within(metric),
            previous: earlier(cells[..run].iter().rev().flatten().find(is_used)),
            first: earlier(cells[..run].iter().flatten().find(is_used)),
        })
    };
    TimelineMetric { metric, values: (0..cells.len()).map(value).collect() }
}

/// One run against another; `None` without a ratio.
fn against(
    earlier: &GateCell,
    later: &GateCell,
    metric: Metric,
    options: &SidesOptions,
) -> Option<RunsCompared> {
    let values = [earlier, later].map(|cell| cell.value(metric));
    let [Some(a), Some(b)] = values else { return None };
    let (a, b) = ([a], [b]);
    let baseline = RunsOfSide { values: &a, within: earlier.within(metric) };
    let side = RunsOfSide { values: &b, within: later.within(metric) };
    compare_runs(baseline, side, direction_of(metric), (options.level, options.margin))
}

/// The runs before and after each mark, with verdicts that hold together.
fn at_marks(
    runs: &[NamedRun],
    marks: &[Mark],
    options: &SidesOptions,
) -> Result<Vec<Sides>, TimelineError> {
    let Some(first) = marks.first() else { return Ok(Vec::new()) };
    if let Some(undated) = runs.iter().find(|it| it.run.began_s.is_none()) {
        return Err(TimelineError::NoTime {
            name: undated.name.clone(),
            mark: first.label.clone(),
        });
    }
    let mut periods: Vec<Vec<GateRun>> = vec![Vec::new(); marks.len() + 1];
    for one in runs {
        let at = one.run.began_s.unwrap_or_default() * 1e3;
        let period = marks.iter().filter(|mark| mark.at_unix_ms as f64 <= at).count();
        periods[period].push(one.run.clone());
    }
    if let Some(empty) = periods.iter().position(Vec::is_empty) {
        // The first period is before the first mark; every other one begins with a mark.
        let mark = &marks[empty.saturating_sub(1)];
        let place = match empty {
            0 => "before".to_owned(),
            last if last == marks.len() => "after".to_owned(),
            _ => format!("before {} and after", marks[empty].label),
        };
        let date = stormeter_report::utc(mark.at_unix_ms);
        return Err(TimelineError::NoRunThere { place, mark: mark.label.clone(), date });
    }
    let mut compared = Vec::new();
    for (mark, pair) in marks.iter().zip(periods.windows(2)) {
        let side = |place: &str, runs: &[GateRun]| NamedRuns {
            name: format!("{place} {}", mark.label),
            runs: runs.to_vec(),
        };
        let named = [side("before", &pair[0]), side("after", &pair[1])];
        compared.push(uncorrected(&named, options)?);
    }
    for_several(&mut compared, 1.0 - options.level);
    Ok(compared)
}
