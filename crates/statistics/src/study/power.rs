//! What a study could have found.

use super::conclusion::PowerStatement;
use super::effect::block_values;
use super::measured::Measured;
use crate::describe::Summary;
use crate::quantile::student_t_quantile;
use crate::stopping::first_that;
use crate::verdict::MAX_PROMISED_BLOCKS;

/// The power that is spoken of.
const POWER: f64 = 0.8;

/// What a two-sided test of a ratio to the baseline, in the study's metric, finds with a power of
/// 80 %. `None` without a ratio of two blocks.
pub(super) fn power_of(measured: &Measured<'_>) -> Option<PowerStatement> {
    let plan = measured.plan;
    // Variances add up and are averaged by their degrees of freedom; SDs are not.
    let (mut squares, mut df) = (0.0, 0.0);
    for cell in 0..measured.cells.len() {
        let Some(baseline) = plan.baseline_of(cell) else { continue };
        let contrast = vec![(cell, 1.0), (baseline, -1.0)];
        let logs = block_values(measured, plan.design.metric, &contrast);
        if let Some((n, variance)) = Summary::of(&logs).and_then(|s| Some((s.n, s.variance?))) {
            squares += variance * (n as f64 - 1.0);
            df += n as f64 - 1.0;
        }
    }
    let blocks = measured.complete_blocks();
    if df == 0.0 || blocks < 2 {
        return None;
    }
    let log_ratio_sd = (squares / df).sqrt();
    let level = plan.design.level;
    let found = |blocks: usize| detectable(log_ratio_sd, blocks, level);
    let margin = plan.design.margin.ln_1p();
    let enough = first_that(2, MAX_PROMISED_BLOCKS, |blocks| found(blocks) <= margin);
    Some(PowerStatement {
        blocks,
        log_ratio_sd,
        detectable: found(blocks as usize).exp_m1(),
        blocks_for_margin: enough.map(|blocks| blocks as u32),
    })
}

/// The log-ratio that is found with the power, for a number of blocks: (t of the test + t of the
/// power) standard errors.
fn detectable(sd: f64, blocks: usize, level: f64) -> f64 {
    let df = blocks as f64 - 1.0;
    let reach = student_t_quantile(0.5 + 0.5 * level, df) + student_t_quantile(POWER, df);
    reach * sd / (blocks as f64).sqrt()
}
