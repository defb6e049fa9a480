//! What a study could have found.

use super::conclusion::PowerStatement;
use super::effect::{block_values, ratio};
use super::measured::Measured;
use crate::describe::Summary;
use crate::power::{Design, PowerStudy, Sides};
use crate::verdict::MAX_PROMISED_BLOCKS;

/// The power that the statement is about.
const POWER: f64 = 0.8;

/// What a two-sided test of a ratio to the baseline, in the study's metric, finds with a power of
/// 80 %. `None` without a ratio of two blocks.
pub(super) fn power_of(measured: &Measured<'_>) -> Option<PowerStatement> {
    let plan = measured.plan;
    // Variances add up and are averaged by their degrees of freedom; SDs are not.
    let (mut squares, mut df) = (0.0, 0.0);
    for cell in 0..measured.cells.len() {
        let Some(baseline) = plan.baseline_of(cell) else { continue };
        let logs = block_values(measured, plan.design.metric, &ratio(cell, baseline));
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
    // As the ratios are tested: several candidates of a load share the error.
    let alpha = 1.0 - plan.level_of_ratios();
    let test = PowerStudy { design: Design::Paired, sides: Sides::Two, alpha, sd: log_ratio_sd };
    let found = test.detectable_difference(blocks as usize, POWER).ok()?;
    let needed = test.blocks_needed(plan.design.margin.ln_1p(), POWER).ok();
    let promised = needed.filter(|&needed| needed <= MAX_PROMISED_BLOCKS);
    Some(PowerStatement {
        blocks,
        log_ratio_sd,
        detectable: found.exp_m1(),
        blocks_for_margin: promised.map(|blocks| blocks as u32),
    })
}
