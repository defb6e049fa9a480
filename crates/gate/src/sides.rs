//! Sides from runs: what is alike, and what each metric says. Runs of one side are repetitions.

use std::collections::BTreeSet;

use stormeter_report::sides::{
    OnlyIn, Side, SideMetric, SideRun, SideValue, Sides, SidesLoad, Unlike,
};
use stormeter_statistics::holm::adjusted_p_values;
use stormeter_statistics::runs::{RunsCompared, RunsOfSide, compare_runs};
use stormeter_statistics::{Direction, Interval, Summary, Verdict};
use stormeter_study::Metric;
use thiserror::Error;

use crate::likeness::differences;
use crate::matching::{Matching, NamedRuns};
use crate::run::{Aspect, GateCell, GateRun};

/// Metrics of whole runs. The maximum of two runs only grows with their length.
pub fn compared_metrics() -> Vec<Metric> {
    Metric::FOR_COMPARISONS.into_iter().filter(|metric| *metric != Metric::LatencyMax).collect()
}

/// How sides are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct SidesOptions {
    /// The metric that decides.
    pub primary: Metric,
    /// The metrics that are compared where runs have them.
    pub metrics: Vec<Metric>,
    /// Differences within this share are equivalent.
    pub margin: f64,
    /// Confidence level, such as 0.95.
    pub level: f64,
    /// In what runs may differ.
    pub may_differ: BTreeSet<Aspect>,
}

/// Why sides cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SidesError {
    /// There is nothing in it.
    #[error("{name} has no figures that are known here")]
    Empty {
        /// The side.
        name: String,
    },
    /// No load is in both.
    #[error("nothing is in both: {baseline} has {of_baseline}; {name} has {of_other}")]
    NothingInCommon {
        /// The baseline.
        baseline: String,
        /// Its loads.
        of_baseline: String,
        /// The other side.
        name: String,
        /// Its loads.
        of_other: String,
    },
}

/// Splits runs of which each may be of several datastores: a side for each.
pub fn by_datastore(runs: &[GateRun]) -> Vec<NamedRuns> {
    let mut sides: Vec<NamedRuns> = Vec::new();
    for run in runs {
        let mut names: Vec<&str> = Vec::new();
        for cell in &run.cells {
            if !names.contains(&cell.datastore.as_str()) {
                names.push(&cell.datastore);
            }
        }
        for name in names {
            let cells = run.cells.iter().filter(|cell| cell.datastore == name).cloned().collect();
            let part = GateRun { cells, ..run.clone() };
            match sides.iter_mut().find(|side| side.name == name) {
                Some(side) => side.runs.push(part),
                None => sides.push(NamedRuns { name: name.to_owned(), runs: vec![part] }),
            }
        }
    }
    for side in &mut sides {
        if side.name.is_empty() {
            side.name = "target not stated".to_owned();
        }
    }
    sides
}

/// Compares all sides with the first one.
///
/// # Errors
/// A side is empty, or has no load that the first has.
pub fn sides(named: &[NamedRuns], options: &SidesOptions) -> Result<Sides, SidesError> {
    let mut sides = uncorrected(named, options)?;
    for_several(std::slice::from_mut(&mut sides), 1.0 - options.level);
    Ok(sides)
}

/// The same with verdicts that hold for this comparison alone.
pub(crate) fn uncorrected(
    named: &[NamedRuns],
    options: &SidesOptions,
) -> Result<Sides, SidesError> {
    let matching = Matching::of(named);
    let by_side: Vec<Vec<String>> = named.iter().map(|side| matching.loads(side)).collect();
    for (side, loads) in named.iter().zip(&by_side) {
        if loads.is_empty() {
            return Err(SidesError::Empty { name: side.name.clone() });
        }
        if !loads.iter().any(|load| by_side[0].contains(load)) {
            return Err(SidesError::NothingInCommon {
                baseline: named[0].name.clone(),
                of_baseline: by_side[0].join("; "),
                name: side.name.clone(),
                of_other: loads.join("; "),
            });
        }
    }
    let count = |load: &String| by_side.iter().filter(|loads| loads.contains(load)).count();
    let is_compared = |load: &&String| named.len() == 1 || count(load) > 1;
    let shared = by_side[0].iter().filter(is_compared);
    let only_in = by_side.iter().enumerate().flat_map(|(side, loads)| {
        let alone = loads.iter().filter(|load| named.len() > 1 && count(load) == 1);
        alone.map(move |load| OnlyIn { side, load: load.clone() })
    });
    Ok(Sides {
        loads: shared.map(|load| of_load(named, &matching, load, options)).collect(),
        only_in: only_in.collect(),
        sides: named.iter().map(shown_side).collect(),
        primary: options.primary,
        level: options.level,
        margin: options.margin,
    })
}

fn shown_side(side: &NamedRuns) -> Side {
    Side { name: side.name.clone(), runs: side.runs.iter().map(shown_run).collect() }
}

/// A run as it is shown.
pub(crate) fn shown_run(run: &GateRun) -> SideRun {
    SideRun {
        file: run.source.clone(),
        made_by: made_by(run),
        began_unix_ms: run.began_s.filter(|s| *s >= 0.0).map(|s| (s * 1e3) as u64),
        invalid: run.invalid.clone(),
    }
}

/// The program and its version.
fn made_by(run: &GateRun) -> String {
    let of = |wanted| {
        let found = run.made_with.iter().find(|(aspect, _)| *aspect == wanted);
        found.map(|(_, words)| words.join(" "))
    };
    let parts = [of(Aspect::Generator), of(Aspect::Version)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn of_load(
    named: &[NamedRuns],
    matching: &Matching,
    load: &str,
    options: &SidesOptions,
) -> SidesLoad {
    // The runs of each side that count.
    let cells: Vec<Vec<(&GateRun, &GateCell)>> = named
        .iter()
        .map(|side| {
            let used = side.runs.iter().filter(|run| run.invalid.is_none());
            used.filter_map(|run| Some((run, matching.cell(run, load)?))).collect()
        })
        .collect();
    let is_there =
        |metric: &Metric| cells.iter().flatten().any(|(_, cell)| cell.value(*metric).is_some());
    let metrics = options.metrics.iter().copied().filter(is_there);
    SidesLoad {
        name: load.to_owned(),
        unlike: unlike(&cells, &options.may_differ),
        metrics: metrics.map(|metric| of_metric(&cells, metric, options)).collect(),
    }
}

/// In what runs of a load differ from the baseline's first: each aspect once a side.
fn unlike(cells: &[Vec<(&GateRun, &GateCell)>], may_differ: &BTreeSet<Aspect>) -> Vec<Unlike> {
    let mut found: Vec<Unlike> = Vec::new();
    let Some((first_run, first_cell)) = cells.first().and_then(|runs| runs.first()) else {
        return found;
    };
    for (side, runs) in cells.iter().enumerate() {
        for (run, cell) in runs {
            let of_run = differences(&first_run.made_with, &run.made_with);
            let of_cell = differences(&first_cell.made_with, &cell.made_with);
            for difference in of_run.into_iter().chain(of_cell) {
                let aspect = difference.aspect.name();
                if found.iter().any(|it| (it.side, it.aspect) == (side, aspect)) {
                    continue;
                }
                found.push(Unlike {
                    side,
                    aspect,
                    baseline: difference.earlier,
                    other: difference.new,
                    is_allowed: may_differ.contains(&difference.aspect),
                });
            }
        }
    }
    found
}

fn of_metric(
    cells: &[Vec<(&GateRun, &GateCell)>],
    metric: Metric,
    options: &SidesOptions,
) -> SideMetric {
    let values: Vec<Vec<f64>> = cells
        .iter()
        .map(|runs| runs.iter().filter_map(|(_, cell)| cell.value(metric)).collect())
        .collect();
    let of_side =
        |side: usize| RunsOfSide { values: &values[side], within: within(&cells[side], metric) };
    let direction = direction_of(metric);
    let shown = |side: usize| {
        let logarithms: Vec<f64> = values[side].iter().map(|value| value.ln()).collect();
        let summary = Summary::of(&logarithms).filter(|summary| summary.mean.is_finite())?;
        let compared = (side > 0).then(|| {
            let levels = (options.level, options.margin);
            compare_runs(of_side(0), of_side(side), direction, levels)
        });
        Some(SideValue {
            value: summary.mean.exp(),
            runs: values[side].len(),
            between_runs: summary.sd,
            compared: compared.flatten(),
        })
    };
    SideMetric { metric, values: (0..values.len()).map(shown).collect() }
}

/// Which way a metric is better.
pub(crate) fn direction_of(metric: Metric) -> Direction {
    match metric.higher_is_better() {
        true => Direction::HigherIsBetter,
        false => Direction::LowerIsBetter,
    }
}

/// The interval of the only run's value by what happened within it.
fn within(runs: &[(&GateRun, &GateCell)], metric: Metric) -> Option<Interval> {
    let [(_, cell)] = runs else { return None };
    cell.within(metric)
}

/// Of several verdicts each needs a p-value that holds for all of them, in all of these comparisons: those on the
/// deciding metric for each other, those on the rest as well.
pub(crate) fn for_several(all: &mut [Sides], alpha: f64) {
    for is_deciding in [true, false] {
        let metrics = all.iter_mut().flat_map(|sides| {
            let primary = sides.primary;
            let metrics = sides.loads.iter_mut().flat_map(|load| &mut load.metrics);
            metrics.filter(move |it| (it.metric == primary) == is_deciding)
        });
        let compared = metrics.flat_map(|it| &mut it.values).flatten();
        let mut compared: Vec<&mut RunsCompared> =
            compared.filter_map(|value| value.compared.as_mut()).collect();
        let p_values: Vec<f64> = compared.iter().map(|it| it.p.unwrap_or(1.0)).collect();
        for (one, p) in compared.iter_mut().zip(adjusted_p_values(&p_values)) {
            if matches!(one.verdict, Verdict::Faster | Verdict::Slower) && p >= alpha {
                one.verdict = Verdict::Inconclusive;
            }
        }
    }
}
