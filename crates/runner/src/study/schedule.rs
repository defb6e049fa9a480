//! Which trial comes next, and how long the rest will take.

use std::time::Duration;

use stormeter_results::{Phase, TrialRecord};
use stormeter_study::{StudyPlan, WorkloadKind};

use crate::threads::trial_length;

/// Whether the cell's trial of that block is recorded, whatever came of it.
pub(crate) fn is_recorded(trials: &[TrialRecord], block: u32, cell: usize) -> bool {
    trials
        .iter()
        .any(|trial| trial.phase == Phase::Main && trial.block == block && trial.cell == Some(cell))
}

/// How long a trial of a cell takes: as long as the last ones did, or as the plan says. An errand that
/// was never made takes as long as the study's usual trial.
pub(crate) fn expected(plan: &StudyPlan, trials: &[TrialRecord], cell: usize) -> Duration {
    let of_cell = |trial: &&TrialRecord| trial.phase == Phase::Main && trial.cell == Some(cell);
    let last = trials.iter().rfind(of_cell);
    if let Some(last) = last {
        return Duration::from_nanos(last.elapsed_ns);
    }
    let cells = plan.cells();
    let kind = cells.get(cell).and_then(|cell| plan.workloads.get(cell.workload));
    match kind.map(|workload| &workload.kind) {
        Some(WorkloadKind::Io(_)) => trial_length(plan.timing),
        _ => usual(trials).unwrap_or_else(|| trial_length(plan.timing)),
    }
}

/// The mean of the trials so far.
fn usual(trials: &[TrialRecord]) -> Option<Duration> {
    let main: Vec<u64> = trials
        .iter()
        .filter(|trial| trial.phase == Phase::Main)
        .map(|trial| trial.elapsed_ns)
        .collect();
    let mean_ns = main.iter().sum::<u64>().checked_div(main.len() as u64)?;
    Some(Duration::from_nanos(mean_ns))
}

/// How long a whole block takes.
pub(crate) fn block_length(plan: &StudyPlan, trials: &[TrialRecord]) -> Duration {
    (0..plan.cells().len()).map(|cell| expected(plan, trials, cell)).sum()
}
