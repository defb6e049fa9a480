//! Block after block until the statistics say that it is enough, the time is up, or a law is broken.

use std::time::Instant;

use stormeter_results::{FinishReason, Phase, TrialRecord};
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{Analysis, Severity, analyse, decide};
use stormeter_study::{ComparisonPlan, block_order};
use stormeter_trial::Workload;

use crate::attempts::{Attempts, Due};
use crate::comparison::Run;
use crate::conclusion::{surroundings, views};
use crate::error::RunError;
use crate::progress::Progress;
use crate::spent::{longest_block_ns, spent_ns};
use crate::threads::trial_length;

/// Whether to go on.
pub(crate) fn decision(
    plan: &ComparisonPlan,
    trials: &[TrialRecord],
    attempts: &Attempts,
) -> Decision {
    let views = views(trials, attempts);
    let counts = |trial: &&TrialRecord| trial.phase == Phase::Main && attempts.counts(trial);
    let main = trials.iter().filter(counts).count();
    if main >= plan.datastores.len() * plan.max_blocks as usize {
        // Trials that failed, or had nothing to count, give no ratio, but they were made.
        let measured = decide(plan, &views).unwrap_or(Decision::BlocksExhausted);
        return match measured {
            Decision::Continue { .. } => Decision::BlocksExhausted,
            ended => ended,
        };
    }
    // The plan was checked, so its rule is sound; if it were not, going on until the time is up is
    // what hurts least.
    decide(plan, &views).unwrap_or(Decision::Continue { expected_more_blocks: 1 })
}

/// How long a block takes by the plan.
pub(crate) fn planned_block_ns(plan: &ComparisonPlan) -> u64 {
    trial_length(plan.timing).as_nanos() as u64 * plan.datastores.len() as u64
}

impl Run<'_> {
    pub(crate) fn blocks(
        &mut self,
        workload: &Workload,
        progress: &mut dyn Progress,
    ) -> Result<FinishReason, RunError> {
        let began = Instant::now();
        let spent_before_ns = spent_ns(&self.trials);
        let spent_ns = || spent_before_ns.saturating_add(began.elapsed().as_nanos() as u64);
        let mut longest_ns = planned_block_ns(&self.plan).max(longest_block_ns(&self.trials));
        for block in 0.. {
            match decision(&self.plan, &self.trials, &self.attempts) {
                Decision::PrecisionReached => return Ok(FinishReason::PrecisionReached),
                Decision::BlocksExhausted => return Ok(FinishReason::MaxBlocks),
                Decision::Continue { .. } => {}
            }
            let order = block_order(self.plan.seed, block, self.plan.datastores.len());
            let out_of_time = spent_ns() + longest_ns > self.plan.time_limit_ns;
            // Blocks that an earlier process measured take no time.
            if block >= 2 && out_of_time && !self.attempts.due(block, &order).is_empty() {
                return Ok(FinishReason::TimeLimit);
            }
            loop {
                let due = self.attempts.due(block, &order);
                let Some(first) = due.first() else { break };
                if first.begins_again {
                    if spent_ns() + longest_ns > self.plan.time_limit_ns {
                        break;
                    }
                    progress.note(&format!(
                        "a trial of block {} broke: it is measured again (attempt {})",
                        block + 1,
                        first.attempt.number + 1
                    ));
                }
                let attempt_began = Instant::now();
                for Due { position, member, attempt, .. } in due {
                    let place = (block, attempt);
                    self.trial(workload, Phase::Main, place, position, member, progress)?;
                    if self.is_cancelled() {
                        return Ok(FinishReason::Interrupted);
                    }
                }
                longest_ns = longest_ns.max(attempt_began.elapsed().as_nanos() as u64);
            }
            let left_ns = self.plan.time_limit_ns.saturating_sub(spent_ns());
            let analysis = self.analyse();
            self.tell_block(block + 1, &analysis, longest_ns, left_ns, progress);
            // No further block can make it valid again.
            if analysis.findings.iter().any(|(_, finding)| finding.severity == Severity::Invalid) {
                return Ok(FinishReason::Invalid);
            }
        }
        Ok(FinishReason::MaxBlocks)
    }

    /// What the trials so far amount to.
    fn analyse(&self) -> Analysis {
        let kind_of = |&store: &usize| self.stores[store].description().kind;
        let is_null = self.store_of.iter().map(|store| kind_of(store) == "null").collect();
        let surroundings = surroundings(&self.plan, is_null, &self.trials, &self.attempts);
        analyse(&self.plan, &views(&self.trials, &self.attempts), &surroundings)
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
        let more = match decision(&self.plan, &self.trials, &self.attempts) {
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
