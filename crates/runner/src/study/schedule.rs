//! The progress of a study, and the probable duration of the rest.
//!
//! Updated trial by trial: a study may have hundreds of cells and hundreds of blocks, and going through all of its trials
//! before each would take longer than the trials.

use std::collections::HashSet;
use std::time::Duration;

use stormeter_results::{Phase, TrialOutcome, TrialRecord};
use stormeter_study::{StudyPlan, WorkloadKind};

use crate::threads::trial_length;

/// The progress of a study.
#[derive(Debug)]
pub(crate) struct Schedule {
    recorded: HashSet<(u32, usize)>,
    started: HashSet<u32>,
    /// Per cell: its number of trials, and the duration of the last.
    cells: Vec<(u32, Option<Duration>)>,
    spent: Duration,
    failed: u32,
}

impl Schedule {
    /// The schedule of a study with these cells and trials.
    pub(crate) fn of(cells: usize, trials: &[TrialRecord]) -> Self {
        let mut schedule = Self {
            recorded: HashSet::new(),
            started: HashSet::new(),
            cells: vec![(0, None); cells],
            spent: Duration::ZERO,
            failed: 0,
        };
        for trial in trials {
            schedule.add(trial);
        }
        schedule
    }

    /// Adds a trial.
    pub(crate) fn add(&mut self, trial: &TrialRecord) {
        let (Phase::Main, Some(cell)) = (trial.phase, trial.cell) else { return };
        let Some((done, last)) = self.cells.get_mut(cell) else { return };
        let took = Duration::from_nanos(trial.elapsed_ns);
        // A block that is measured again is still one block.
        *done += u32::from(self.recorded.insert((trial.block, cell)));
        *last = Some(took);
        self.spent += took;
        self.started.insert(trial.block);
        self.failed += u32::from(matches!(trial.outcome, TrialOutcome::Failed { .. }));
    }

    /// Whether the cell's trial of that block is recorded, whatever its outcome.
    pub(crate) fn is_recorded(&self, block: u32, cell: usize) -> bool {
        self.recorded.contains(&(block, cell))
    }

    /// Whether a trial of the block is recorded.
    pub(crate) fn is_begun(&self, block: u32) -> bool {
        self.started.contains(&block)
    }

    /// The number of trials of cells so far.
    pub(crate) fn trials(&self) -> u64 {
        self.recorded.len() as u64
    }

    /// The number of failed trials.
    pub(crate) fn failed(&self) -> u32 {
        self.failed
    }

    /// The duration of a trial of a cell: that of the last one, or that of the plan. A trial of fixed work that never ran
    /// takes as long as the study's usual trial.
    fn expected(&self, plan: &StudyPlan, cell: usize, is_timed: bool) -> Duration {
        let last = self.cells.get(cell).and_then(|(_, last)| *last);
        let trials = self.recorded.len() as u32;
        let usual = || if trials == 0 { None } else { Some(self.spent / trials) };
        let planned = || trial_length(plan.timing);
        last.or_else(|| if is_timed { None } else { usual() }).unwrap_or_else(planned)
    }

    /// Per cell: the duration of its trial.
    fn lengths(&self, plan: &StudyPlan) -> Vec<Duration> {
        let is_timed = |workload: usize| {
            let kind = plan.workloads.get(workload).map(|workload| &workload.kind);
            kind.is_some_and(WorkloadKind::is_timed)
        };
        let cells = plan.cells();
        let length = |(cell, it): (usize, &stormeter_study::Cell)| {
            self.expected(plan, cell, is_timed(it.workload))
        };
        cells.iter().enumerate().map(length).collect()
    }

    /// Time spent on trials, over all processes of the run.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    /// The duration of a block.
    pub(crate) fn block(&self, plan: &StudyPlan) -> Duration {
        self.lengths(plan).into_iter().sum()
    }

    /// Whether the plan's time limit has room for a trial of each of these cells after `spent`.
    pub(crate) fn fits(
        &self,
        plan: &StudyPlan,
        spent: Duration,
        mut cells: impl Iterator<Item = usize>,
    ) -> bool {
        let Some(limit_ns) = plan.design.time_limit_ns else { return true };
        let lengths = self.lengths(plan);
        let more: Duration = cells.by_ref().filter_map(|cell| lengths.get(cell)).sum();
        (spent + more).as_nanos() <= u128::from(limit_ns)
    }

    /// The duration of the remaining trials, including all blocks that may follow, within the time limit.
    pub(crate) fn rest_ns(&self, plan: &StudyPlan) -> u64 {
        let most = plan.design.blocks.most();
        let lengths = self.lengths(plan);
        let rest_ns: u128 = lengths
            .iter()
            .zip(&self.cells)
            .map(|(length, (done, _))| {
                u128::from(most.saturating_sub(*done)).saturating_mul(length.as_nanos())
            })
            .fold(0, u128::saturating_add);
        let limit_ns = plan.design.time_limit_ns.map_or(u128::MAX, u128::from);
        rest_ns.min(limit_ns).min(u128::from(u64::MAX)) as u64
    }
}
