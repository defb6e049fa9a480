//! The steps on the storage during trials: marks on charts over time, and a table of how throughput recovered
//! from each.

use stormeter_trial::{RECOVERED_INTERVALS, RECOVERED_SHARE, Recovery, Sample};

use super::grid::Grid;
use crate::model::{Disturbed, StepMark, TrialTrace};
use crate::quantity::{Quantity, decimals, duration};
use crate::title::Titles;

/// The steps of a trial with the ramp `ramp_ns`.
pub(crate) fn disturbed(sample: &Sample, ramp_ns: u64) -> Disturbed {
    let recoveries = sample.recoveries();
    let since_begin = |ns: i64| ramp_ns.saturating_add_signed(ns);
    let mark = |(number, step): (usize, &stormeter_trial::Disturbance)| StepMark {
        what: step.what.clone(),
        at_ns: since_begin(step.begun_ns),
        planned_ns: since_begin(step.planned_ns),
        took_ns: step.took_ns,
        recovery: recoveries.as_ref().and_then(|all| all.get(number)).copied(),
    };
    Disturbed {
        steps: sample.disturbances.iter().enumerate().map(mark).collect(),
        before_iops: sample.undisturbed_iops(),
        dip_share: sample.dip_share(),
        outage_ns: sample.outage_ns(),
        interval_ns: sample.interval_ns,
        failed_operations: sample.failed_operations(),
    }
}

/// The meaning of the figures in the table.
pub(super) fn caption() -> String {
    format!(
        "Of the middle trial of each cell. Back: from the moment a step was done to the end of the first of \
         {RECOVERED_INTERVALS} intervals in a row with at least {:.0} % of the throughput before the first \
         step; times are known to an interval.",
        RECOVERED_SHARE * 100.0
    )
}

/// The head of the table.
pub(super) const HEAD: [&str; 4] = ["step", "at", "took", "back after"];

/// The rows of a trial: each step with its number, start, duration and recovery. `write` formats the figures.
pub(super) fn rows(disturbed: &Disturbed, write: fn(&Quantity) -> String) -> Vec<[String; 4]> {
    let duration = |ns: u64| write(&duration(ns as f64));
    let row = |(number, step): (usize, &StepMark)| {
        [
            format!("{} {}", number + 1, step.what),
            duration(step.at_ns),
            duration(step.took_ns),
            match step.recovery {
                None => "not known".into(),
                Some(Recovery::After(ns)) => duration(ns),
                Some(Recovery::NotWithin(ns)) => format!("not within {}", duration(ns)),
                Some(Recovery::Overtaken) => "the next step came before".into(),
            },
        ]
    };
    disturbed.steps.iter().enumerate().map(row).collect()
}

/// The trial as a whole in a sentence, in addition to its steps.
pub(super) fn sentence(disturbed: &Disturbed, titles: Titles) -> String {
    let one = titles.completed();
    let mut parts = Vec::new();
    if let Some(dip) = disturbed.dip_share {
        parts.push(format!("deepest dip: {} % of the throughput before", decimals(100.0 * dip)));
    }
    if let Some(outage_ns) = disturbed.outage_ns {
        let (outage, interval) =
            (duration(outage_ns as f64), duration(disturbed.interval_ns as f64));
        parts.push(match outage_ns <= disturbed.interval_ns {
            true => format!("no interval of {interval} without {one}"),
            false => format!("longest time without {one}: {outage} ± {interval}"),
        });
    }
    if disturbed.failed_operations > 0 {
        parts.push(format!("{} I/Os failed", disturbed.failed_operations));
    }
    parts.join("; ")
}

/// The middle trials that had steps, in the order of the cells.
pub(crate) fn of_cells<'a>(grid: &Grid<'a>) -> Vec<(usize, &'a Disturbed)> {
    let mut all: Vec<(usize, &Disturbed)> = grid
        .report
        .traces
        .iter()
        .filter(|trace: &&TrialTrace| trace.is_representative && !trace.disturbed.steps.is_empty())
        .map(|trace| (trace.cell, &trace.disturbed))
        .collect();
    all.sort_by_key(|(cell, _)| *cell);
    all
}
