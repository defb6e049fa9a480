//! What a reader should know about an answer to a claim about one number: assumptions that do not hold, and what a
//! sounder analysis of the same data gives.

use stormeter_study::{Metric, Order, Unit};

use super::answer_estimate::AnswerEstimate;
use super::claims::Asked;
use super::effect::exponential;
use super::effect::{Basis, Contrast, Effect};
use super::measured::Measured;
use super::number_claim::NumberClaim;
use super::remark::{AnswerRemark, CorrelatedIntervals, DatastoreDependence, RankCheck, RatioRule};
use crate::course::Opening;
use crate::moments::Moments;
use crate::normality::ShapiroFrancia;
use crate::series::lag1_autocorrelation;
use crate::two_sample::{RATIO_LIMIT, Rule, TwoSample};

/// Fewer blocks than this are few.
const FEW_BLOCKS: usize = 5;
/// Autocorrelation is judged from this many blocks on.
const BLOCKS_TO_CORRELATE: usize = 8;
/// Normality is doubted below this p-value.
const DOUBT: f64 = 0.01;

/// About the effect that an answer rests on.
pub(super) fn of_effect(
    measured: &Measured<'_>,
    asked: &Asked,
    effect: &Effect,
    contrast: &Contrast,
) -> Vec<AnswerRemark> {
    match &effect.basis {
        Basis::Blocks { values, .. } => of_blocks(asked, values, 1.0 - measured.plan.design.level),
        Basis::Intervals { .. } => of_intervals(measured, asked, effect, contrast),
    }
}

/// About the way in which the cells of a question were measured.
pub(super) fn of_contrasts(measured: &Measured<'_>, asked: &Asked) -> Vec<AnswerRemark> {
    let mut remarks = Vec::new();
    let design = &measured.plan.design;
    if asked.least > 0.0 {
        remarks.push(AnswerRemark::BelowResolution(asked.least.exp_m1()));
    }
    if design.order == Order::AsWritten && !matches!(asked.claim, NumberClaim::Bounded { .. }) {
        remarks.push(AnswerRemark::FixedOrder { of_factors: false });
    }
    if design.unit == Unit::Interval && measured.unit(asked.metric()) == Unit::Trial {
        remarks.push(AnswerRemark::NoIntervals(asked.metric()));
    }
    remarks
}

fn of_blocks(asked: &Asked, values: &[f64], alpha: f64) -> Vec<AnswerRemark> {
    let mut remarks = Vec::new();
    let blocks = values.len();
    if blocks < FEW_BLOCKS {
        remarks.push(AnswerRemark::FewBlocks { blocks, rule: FEW_BLOCKS });
    }
    if let Ok(ShapiroFrancia { w, p }) = ShapiroFrancia::test(values)
        && p < DOUBT
    {
        let rank = asked.region.rank_p(values).map(|p| RankCheck { p, says_yes: p < alpha });
        remarks.push(AnswerRemark::NotNormal { w, p, rank });
    }
    // An effect is a sum of logarithms.
    let effects: Vec<f64> = values.iter().map(|value| value.exp()).collect();
    if let Some(Opening { blocks, first, rest, .. }) = Opening::of(&effects, DOUBT) {
        let claim = asked.claim.clone();
        remarks.push(AnswerRemark::UnlikeFirstBlocks { claim, blocks, first, rest });
    }
    if let Some(lag1) = lag1_autocorrelation(values)
        && blocks >= BLOCKS_TO_CORRELATE
        && lag1 > 2.0 / (blocks as f64).sqrt()
    {
        remarks.push(AnswerRemark::BlocksAlike { lag1 });
    }
    remarks
}

fn of_intervals(
    measured: &Measured<'_>,
    asked: &Asked,
    effect: &Effect,
    contrast: &Contrast,
) -> Vec<AnswerRemark> {
    let mut remarks = Vec::new();
    remarks.extend(correlated(measured, asked, effect, contrast));
    let runs = contrast.iter().map(|own| measured.trials(own.cell).len()).min().unwrap_or(0);
    if runs < 2 {
        remarks.push(AnswerRemark::OneRun);
    }
    if let ([first, second], NumberClaim::Compared { metric, .. }) =
        (contrast.as_slice(), &asked.claim)
    {
        remarks.extend(published_rule(measured, *metric, first.cell, second.cell));
    }
    remarks
}

/// How many independent intervals they are worth, since those of one run are correlated.
fn correlated(
    measured: &Measured<'_>,
    asked: &Asked,
    effect: &Effect,
    contrast: &Contrast,
) -> Option<AnswerRemark> {
    let level = measured.plan.design.level;
    let Basis::Intervals { cells } = &effect.basis else { return None };
    let sound = effect.with_effective_n()?;
    let interval_level = asked.region.interval_level(level);
    let datastore = |cell: usize| {
        let datastore = measured.cells[cell].datastore;
        measured.plan.datastores[datastore].name.clone()
    };
    let cells = cells.iter().zip(contrast).map(|(own, weighted)| DatastoreDependence {
        datastore: datastore(weighted.cell),
        dependence: own.dependence,
    });
    Some(AnswerRemark::CorrelatedIntervals(Box::new(CorrelatedIntervals {
        claim: asked.claim.clone(),
        cells: cells.collect(),
        sound: AnswerEstimate {
            value: sound.estimate().exp(),
            interval: Some(exponential(&sound.interval(interval_level))),
            level: interval_level,
        },
        reply: asked.region.rule(&sound).reply(1.0 - level, 1),
    })))
}

/// The difference as the published studies compute it: of the means, pooled or not by the ratio of the SDs.
fn published_rule(
    measured: &Measured<'_>,
    metric: Metric,
    first: usize,
    second: usize,
) -> Option<AnswerRemark> {
    let level = measured.plan.design.level;
    let moments = |cell| Some(Moments::from(&measured.intervals(cell, metric)?));
    let (a, b) = (moments(first)?, moments(second)?);
    let ruled = TwoSample::compare(a, b, Rule::SdRatio(RATIO_LIMIT), level).ok()?;
    let welch = TwoSample::compare(a, b, Rule::Welch, level).ok()?;
    Some(AnswerRemark::RatioRule(Box::new(RatioRule { metric, ruled, welch })))
}
