//! Whether a study continues with another block.

use stormeter_study::{Blocks, StudyPlan};

use super::conclusion::CellTrial;
use super::effect::{block_values, ratio};
use super::measured::Measured;
use crate::describe::Summary;
use crate::stopping::{Decision, Looks, MIN_BLOCKS, StopRule};

/// Whether to continue after these trials.
///
/// With `blocks: auto` every ratio of a cell to the baseline's cell of the same load, in the study's
/// metric, has to have reached the precision, at the level that several candidates share. Cells that cannot be compared
/// (one of the two has no value) are left out; a study without anything to compare ends after the
/// least number of blocks. A comparison has no other ratios that could be precise, so it continues. A block counts when any of its trials was measured, so that a cell that
/// fails again and again does not keep a study from ending.
pub fn decide(plan: &StudyPlan, trials: &[CellTrial<'_>]) -> Decision {
    let done = trials.iter().map(|trial| trial.block as usize + 1).max().unwrap_or(0);
    match plan.design.blocks {
        Blocks::Fixed(blocks) => match (blocks as usize).saturating_sub(done) {
            0 => Decision::BlocksExhausted,
            expected_more_blocks => Decision::Continue { expected_more_blocks },
        },
        Blocks::Auto { min, max } => {
            let least = (min as usize).max(MIN_BLOCKS);
            by_precision(plan, trials, done, least, max as usize)
        }
    }
}

fn by_precision(
    plan: &StudyPlan,
    trials: &[CellTrial<'_>],
    done: usize,
    least: usize,
    most: usize,
) -> Decision {
    if done >= most {
        // At the very end the precision may be there as well.
        let reached = goes_on(plan, trials, least, most) == Some(0) && done >= least;
        return if reached { Decision::PrecisionReached } else { Decision::BlocksExhausted };
    }
    match goes_on(plan, trials, least, most.max(least)) {
        Some(0) if done >= least => Decision::PrecisionReached,
        None if done >= least => Decision::PrecisionReached,
        more => Decision::Continue {
            expected_more_blocks: more
                .unwrap_or(0)
                .max(least.saturating_sub(done))
                .clamp(1, most - done),
        },
    }
}

/// How many blocks more the slowest of the comparisons needs, 0 when all are precise; `None` when
/// there is none.
fn goes_on(plan: &StudyPlan, trials: &[CellTrial<'_>], least: usize, most: usize) -> Option<usize> {
    let measured = Measured::new(plan, trials);
    let metric = plan.design.metric;
    let looks = measured.looks_at_ratios(metric);
    (0..measured.cells.len())
        .filter_map(|cell| Some((cell, plan.baseline_of(cell)?)))
        .filter(|&(cell, baseline)| {
            let known = |cell| !measured.values(cell, metric).is_empty();
            plan.is_comparison() || (known(cell) && known(baseline))
        })
        .filter_map(|(cell, baseline)| {
            let resolution =
                measured.resolution(cell, metric) + measured.resolution(baseline, metric);
            let rule = StopRule::new(Looks { resolution, ..looks }, most.max(least)).ok()?;
            let logs = block_values(&measured, metric, &ratio(cell, baseline));
            let sd = Summary::of(&logs).and_then(|summary| summary.sd);
            Some(match rule.decide(logs.len(), sd) {
                Decision::Continue { expected_more_blocks } => expected_more_blocks,
                Decision::PrecisionReached => 0,
                Decision::BlocksExhausted => usize::MAX,
            })
        })
        .max()
}
