//! Drives all datastores of a load at the same rate, so that they are compared under the same load: in a closed loop the
//! faster one does more I/O, so its latency and CPU time are those of another load.

use stormeter_results::{EventKind, Phase, TrialOutcome, TrialRecord};
use stormeter_study::{EqualLoad, PlanError, WorkloadKind, block_order};
use stormeter_trial::{Arrivals, Workload};

use crate::error::RunError;
use crate::progress::Progress;
use crate::study::run::StudyRun;
use crate::study::setting::loaded;
use crate::study::turn::Turn;

/// Above this share of a datastore's capacity, latency is mostly queueing.
const SHARE: f64 = 0.7;

/// The workload as an open loop at this rate, spread over the VMs.
pub(crate) fn at_rate(workload: Workload, rate_per_s: f64, vms: u32) -> Workload {
    let arrivals = Arrivals::Poisson { rate_per_s: rate_per_s / f64::from(vms) };
    Workload { arrivals, burst: None, ..workload }
}

impl StudyRun<'_> {
    /// Finds the rate of each load whose datastores are driven at the same rate. An open loop has a rate already.
    pub(crate) fn equal_load(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let plan = self.plan;
        let Some(equal_load) = plan.design.equal_load else { return Ok(()) };
        let datastores = plan.datastores.len();
        // Datastores vary fastest among the cells.
        for first in (0..self.book.cells.len()).step_by(datastores) {
            let cell = self.book.cells[first];
            let WorkloadKind::Io(workload) = &plan.workloads[cell.workload].kind else { continue };
            if workload.arrivals.rate_per_s().is_some() {
                continue;
            }
            let rate_per_s = match equal_load {
                EqualLoad::Rate { rate_per_s } => rate_per_s,
                EqualLoad::Auto => self.least_capacity(first, progress)? * SHARE,
            };
            let equal = at_rate(loaded(workload, &cell), rate_per_s, cell.vms);
            equal.check(plan.disk_bytes_of(cell.workload)).map_err(PlanError::Workload)?;
            let load = (self.book.cells.len() > datastores).then(|| {
                let workload = &plan.workloads[cell.workload].name;
                format!("{workload}, {}", plan.load_label(&cell))
            });
            self.book.happened(EventKind::EqualLoad { load, rate_per_s }, progress)?;
            self.rates[first..first + datastores].fill(Some(rate_per_s));
        }
        Ok(())
    }

    /// IOPS of the slowest datastore in a closed loop, for the load whose cells start at `first`.
    fn least_capacity(
        &mut self,
        first: usize,
        progress: &mut dyn Progress,
    ) -> Result<f64, RunError> {
        let count = self.plan.datastores.len();
        let turns = (0..).zip(block_order(self.plan.seed, u32::MAX, count));
        let turns: Vec<Turn> = turns
            .map(|(position, datastore)| Turn::before(Phase::Capacity, position, first + datastore))
            .filter(|turn| !matches!(self.capacity(turn.cell), Some(Ok(_))))
            .collect();
        for turns in turns.chunks(self.executor.width()) {
            self.turns(turns, progress)?;
            if self.is_cancelled() {
                return Err(RunError::Interrupted);
            }
            for turn in turns {
                self.capacity(turn.cell).ok_or(RunError::Interrupted)??;
            }
        }
        let mut least = f64::INFINITY;
        for cell in first..first + count {
            least = least.min(self.capacity(cell).ok_or(RunError::Interrupted)??);
        }
        Ok(least)
    }

    /// IOPS of a cell in a closed loop, from its last capacity trial; `None` before the first.
    fn capacity(&self, cell: usize) -> Option<Result<f64, RunError>> {
        let is_own =
            |trial: &&TrialRecord| (trial.phase, trial.cell) == (Phase::Capacity, Some(cell));
        Some(match &self.book.trials.iter().rfind(is_own)?.outcome {
            TrialOutcome::Measured { sample, .. } => Ok(sample.iops()),
            TrialOutcome::Failed { failure, .. } => Err(RunError::KeepsFailing {
                url: self.plan.datastores[self.book.cells[cell].datastore].url.clone(),
                trials: 1,
                failure: Box::new(failure.clone()),
            }),
        })
    }
}
