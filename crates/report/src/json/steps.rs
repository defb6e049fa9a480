//! The steps of the middle trial of each cell, and the throughput after each.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_trial::Recovery;

use crate::full::grid::Grid;
use crate::full::steps::of_cells;
use crate::model::{Disturbed, StepMark};

/// The steps of a cell's middle trial.
#[derive(Serialize, JsonSchema)]
pub(super) struct CellSteps<'a> {
    /// Index of the cell in cells.
    cell: usize,
    /// The steps, in the order of time.
    steps: Vec<TakenStep<'a>>,
    /// Throughput before the first step, in I/Os per second.
    before_iops: Option<f64>,
    /// The lowest throughput of an interval after the first step, as a share of the throughput before it.
    dip_share: Option<f64>,
    /// The longest time without a completed I/O, in nanoseconds, ± interval_ns.
    outage_ns: Option<u64>,
    /// The length of an interval, in nanoseconds.
    interval_ns: u64,
    /// Failed I/Os.
    failed_operations: u64,
}

/// A step as it was carried out.
#[derive(Serialize, JsonSchema)]
struct TakenStep<'a> {
    /// The action.
    what: &'a str,
    /// When it was due, in nanoseconds since the start of the trial (ramp included).
    planned_ns: u64,
    /// When it was started, in nanoseconds since the start of the trial (ramp included).
    at_ns: u64,
    /// How long the action took, in nanoseconds.
    took_ns: u64,
    /// Time until throughput had recovered, in nanoseconds; null: unknown, or the next step came first.
    recovery_ns: Option<u64>,
    /// How long the trial continued without recovery, in nanoseconds; null: throughput recovered.
    not_recovered_ns: Option<u64>,
}

/// The cells whose middle trial had steps.
pub(super) fn all<'a>(grid: &Grid<'a>) -> Vec<CellSteps<'a>> {
    of_cells(grid).into_iter().map(|(cell, disturbed)| CellSteps::of(cell, disturbed)).collect()
}

impl<'a> CellSteps<'a> {
    fn of(cell: usize, disturbed: &'a Disturbed) -> Self {
        Self {
            cell,
            steps: disturbed.steps.iter().map(TakenStep::of).collect(),
            before_iops: disturbed.before_iops,
            dip_share: disturbed.dip_share,
            outage_ns: disturbed.outage_ns,
            interval_ns: disturbed.interval_ns,
            failed_operations: disturbed.failed_operations,
        }
    }
}

impl<'a> TakenStep<'a> {
    fn of(step: &'a StepMark) -> Self {
        let (recovery_ns, not_recovered_ns) = match step.recovery {
            Some(Recovery::After(ns)) => (Some(ns), None),
            Some(Recovery::NotWithin(ns)) => (None, Some(ns)),
            Some(Recovery::Overtaken) | None => (None, None),
        };
        Self {
            what: &step.what,
            planned_ns: step.planned_ns,
            at_ns: step.at_ns,
            took_ns: step.took_ns,
            recovery_ns,
            not_recovered_ns,
        }
    }
}
