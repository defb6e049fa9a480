//! Block after block until the statistics say that it is enough, the time is up, or a law is broken.

use std::time::Instant;

use stormeter_driver::Workload;
use stormeter_results::{FinishReason, Phase, TrialRecord};
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{Analysis, Severity, analyse, decide};
use stormeter_study::{ComparisonPlan, block_order};

use crate::comparison::Run;
use crate::conclusion::{surroundings, views};
use crate::error::RunError;
use crate::progress::Progress;
use crate::threads::trial_length;

/// Whether to go on.
pub(crate) fn decision(plan: &ComparisonPlan, trials: &[TrialRecord]) -> Decision {
    let main = trials.iter().filter(|trial| trial.phase == Phase::Main).count();
    if main >= plan.datastores.len() * plan.max_blocks as usize {
        // Trials that failed, or had nothing to count, give no ratio, but they were made.
        let measured = decide(plan, &views(trials)).unwrap_or(Decision::BlocksExhausted);
        return match measured {
            Decision::Continue { .. } => Decision::BlocksExhausted,
            ended => ended,
        };
    }
    // The plan was checked, so its rule is sound; if it were not, going on until the time is up is
    // what hurts least.
    decide(plan, &views(trials)).unwrap_or(Decision::Continue { expected_more_blocks: 1 })
}

impl Run<'_> {
    pub(crate) fn blocks(
        &mut self,
        workload: &Workload,
        progress: &mut dyn Progress,
    ) -> Result<FinishReason, RunError> {
        let began = Instant::now();
        let block_ns =
            trial_length(self.plan.timing).as_nanos() as u64 * self.plan.datastores.len() as u64;
        let mut longest_ns = block_ns;
        for block in 0.. {
            match decision(&self.plan, &self.trials) {
                Decision::PrecisionReached => return Ok(FinishReason::PrecisionReached),
                Decision::BlocksExhausted => return Ok(FinishReason::MaxBlocks),
                Decision::Continue { .. } => {}
            }
            let elapsed_ns = began.elapsed().as_nanos() as u64;
            let two_blocks = block < 2;
            if !two_blocks && elapsed_ns + longest_ns > self.plan.time_limit_ns {
                return Ok(FinishReason::TimeLimit);
            }
            let block_began = Instant::now();
            let mut ran = false;
            let order = block_order(self.plan.seed, block, self.plan.datastores.len());
            for (position, &datastore) in order.iter().enumerate() {
                if self.is_recorded(block, datastore) {
                    continue;
                }
                ran = true;
                let position = position as u32;
                self.trial(workload, Phase::Main, block, position, datastore, progress)?;
                if self.is_cancelled() {
                    return Ok(FinishReason::Interrupted);
                }
            }
            if ran {
                longest_ns = longest_ns.max(block_began.elapsed().as_nanos() as u64);
            }
            let left_ns = self.plan.time_limit_ns.saturating_sub(began.elapsed().as_nanos() as u64);
            let analysis = self.analyse();
            self.tell_block(block + 1, &analysis, longest_ns, left_ns, progress);
            // No further block can make it valid again.
            if let Some((_, broken)) =
                analysis.findings.iter().find(|(_, finding)| finding.severity == Severity::Invalid)
            {
                let reason = format!("the result is invalid: {}", broken.what);
                return Ok(FinishReason::Failed { reason });
            }
        }
        Ok(FinishReason::MaxBlocks)
    }

    fn is_recorded(&self, block: u32, datastore: usize) -> bool {
        self.trials.iter().any(|trial| {
            trial.phase == Phase::Main && trial.block == block && trial.datastore == Some(datastore)
        })
    }

    /// What the trials so far amount to.
    fn analyse(&self) -> Analysis {
        let kind_of = |&store: &usize| self.stores[store].description().kind;
        let is_null = self.store_of.iter().map(|store| kind_of(store) == "null").collect();
        analyse(&self.plan, &views(&self.trials), &surroundings(is_null, &self.trials))
    }

    /// Tells how far it is: by the blocks that are probably still needed, and never beyond the
    /// time limit.
    fn tell_block(
        &self,
        block: u32,
        analysis: &Analysis,
        block_ns: u64,
        left_ns: u64,
        progress: &mut dyn Progress,
    ) {
        let more = match decision(&self.plan, &self.trials) {
            Decision::Continue { expected_more_blocks } => expected_more_blocks as u64,
            _ => 0,
        };
        let half_width = analysis
            .pairs
            .iter()
            .filter_map(|pair| pair.comparisons.first())
            .map(|(_, comparison)| comparison.half_width)
            .reduce(f64::max);
        progress.block(block, self.plan.metric, half_width, (more * block_ns).min(left_ns));
    }
}
