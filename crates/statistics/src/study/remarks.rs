//! What a reader should know beside an answer: assumptions that do not hold, and what a sounder
//! analysis of the same data gives.

use stormeter_study::{Metric, Order, Unit};

use super::claims::{Asked, Shown};
use super::conclusion::Reply;
use super::contrasts::{measure, rests_on_intervals};
use super::effect::{Basis, Contrast, Effect};
use super::measured::Measured;
use super::words::{p_value, percent, plural};
use crate::course::Opening;
use crate::moments::Moments;
use crate::normality::ShapiroFrancia;
use crate::series::lag1_autocorrelation;
use crate::two_sample::{Method, RATIO_LIMIT, Rule, TwoSample};

/// Fewer blocks than this are few.
const FEW_BLOCKS: usize = 5;
/// Autocorrelation is judged from so many blocks on.
const BLOCKS_TO_CORRELATE: usize = 8;
/// Normality is doubted below this p-value.
const DOUBT: f64 = 0.01;

/// About the effect that an answer rests on.
pub(super) fn of_effect(
    measured: &Measured<'_>,
    asked: &Asked,
    effect: &Effect,
    contrast: &Contrast,
) -> Vec<String> {
    match &effect.basis {
        Basis::Blocks { values, .. } => of_blocks(asked, values, 1.0 - measured.plan.design.level),
        Basis::Intervals { .. } => of_intervals(measured, asked, effect, contrast),
    }
}

/// About the way in which the cells of a question were measured.
pub(super) fn of_contrasts(measured: &Measured<'_>, asked: &Asked) -> Vec<String> {
    let mut remarks = Vec::new();
    let design = &measured.plan.design;
    if asked.least > 0.0 {
        remarks.push(format!(
            "Predicted differences below {} are treated as zero: they are below the model's \
             resolution.",
            percent(asked.least.exp_m1())
        ));
    }
    if design.order == Order::AsWritten && !matches!(asked.shown, Shown::Value(_)) {
        remarks.push(
            "The cells took their turns in the same order in every block: what drifts with time, \
             or is left behind by the cell before, looks like a difference. Order randomized or \
             abba keeps them apart."
                .into(),
        );
    }
    if design.unit == Unit::Interval && !rests_on_intervals(measured, asked) {
        let title = asked.metric.title();
        remarks.push(format!("Intervals have no {title}, so the trial is the unit here."));
    }
    remarks
}

fn of_blocks(asked: &Asked, values: &[f64], alpha: f64) -> Vec<String> {
    let mut remarks = Vec::new();
    let n = values.len();
    if n < FEW_BLOCKS {
        remarks.push(format!(
            "Only {}: the interval rests on a spread that is hardly known; {FEW_BLOCKS} or more \
             are the rule.",
            plural(n, "block")
        ));
    }
    if let Ok(ShapiroFrancia { w, p }) = ShapiroFrancia::test(values)
        && p < DOUBT
    {
        let rank = match asked.region.rank_p(values) {
            Some(rank) if rank < alpha => format!(
                "a rank test of the claim says yes: Wilcoxon signed-rank, {}",
                p_value(rank)
            ),
            Some(rank) => format!(
                "a rank test of the claim does not say yes: Wilcoxon signed-rank, {}",
                p_value(rank)
            ),
            None => "they are too few or too equal for a rank test".into(),
        };
        remarks.push(format!(
            "The values of the blocks are not normal (Shapiro-Francia W′ = {w:.3}, {}); {rank}.",
            p_value(p)
        ));
    }
    // An effect is a sum of logarithms.
    let effects: Vec<f64> = values.iter().map(|value| value.exp()).collect();
    if let Some(Opening { blocks, first, rest, .. }) = Opening::of(&effects, DOUBT) {
        let of = if blocks == 1 { "block is" } else { "blocks are" };
        remarks.push(format!(
            "The first {} unlike the others ({} and {}), and the answer contains both: use a longer ramp, \
             or an earlier run on the same storage.",
            if blocks == 1 { of.to_string() } else { format!("{blocks} {of}") },
            measure(asked, first.ln(), None),
            measure(asked, rest.ln(), None),
        ));
    }
    if let Some(lag1) = lag1_autocorrelation(values)
        && n >= BLOCKS_TO_CORRELATE
        && lag1 > 2.0 / (n as f64).sqrt()
    {
        remarks.push(format!(
            "Neighbouring blocks resemble one another (autocorrelation {lag1:.2}), so the interval \
             may be too narrow: use longer trials."
        ));
    }
    remarks
}

fn of_intervals(
    measured: &Measured<'_>,
    asked: &Asked,
    effect: &Effect,
    contrast: &Contrast,
) -> Vec<String> {
    let level = measured.plan.design.level;
    let mut remarks = Vec::new();
    if let (Basis::Intervals { cells }, Some(sound)) = (&effect.basis, effect.with_effective_n()) {
        let counts: Vec<String> = cells
            .iter()
            .zip(contrast)
            .take(4)
            .map(|((_, _, dependence), (cell, _))| {
                let datastore = measured.cells[*cell].datastore;
                format!(
                    "{} lag-1 autocorrelation {:.2}, {:.0} of {} count",
                    measured.plan.datastores[datastore].name,
                    dependence.lag1,
                    dependence.effective_n,
                    dependence.n
                )
            })
            .collect();
        let more = if cells.len() > 4 { ", ..." } else { "" };
        let interval = sound.interval(asked.region.interval_level(level));
        let reply = match asked.region.rule(&sound).reply(1.0 - level, 1) {
            Reply::Yes => "yes",
            Reply::No => "no",
            Reply::Inconclusive | Reply::NotAnswered => "inconclusive",
        };
        remarks.push(format!(
            "Intervals of one run are correlated ({}{more}). A sound interval with the effective \
             numbers: {}; the answer with it: {reply}.",
            counts.join("; "),
            measure(asked, sound.estimate(), Some(&interval)),
        ));
    }
    let runs = contrast.iter().map(|&(cell, _)| measured.trials(cell).len()).min().unwrap_or(0);
    if runs < 2 {
        remarks.push(
            "There is one run of each: whatever differs from run to run (placement, caches, other \
             load) is in the difference and not in its interval."
                .into(),
        );
    }
    if let ([(first, _), (second, _)], Shown::Ratio(_)) = (contrast.as_slice(), &asked.shown) {
        remarks.extend(published_rule(measured, asked.metric, (*first, *second)));
    }
    remarks
}

/// The difference as the published studies have it: of the means, by the ratio of the SDs pooled or
/// not.
fn published_rule(
    measured: &Measured<'_>,
    metric: Metric,
    (first, second): (usize, usize),
) -> Option<String> {
    let level = measured.plan.design.level;
    let moments = |cell| Some(Moments::from(&measured.intervals(cell, metric)?));
    let (a, b) = (moments(first)?, moments(second)?);
    let ruled = TwoSample::compare(a, b, Rule::SdRatio(RATIO_LIMIT), level).ok()?;
    let welch = TwoSample::compare(a, b, Rule::Welch, level).ok()?;
    let method = if ruled.method == Method::Pooled { "pooled" } else { "not pooled" };
    // In the unit in which the metric is kept, since a difference may be negative.
    let unit = match metric {
        Metric::Iops => "IOPS",
        Metric::Throughput => "bytes/s",
        _ => "ns",
    };
    Some(format!(
        "Difference of the means by the ratio rule (SD ratio {:.3}: {method}, df {:.0}): {:.2} {unit} \
         ({} CI {:.2} to {:.2}); by Welch df {:.1}, {:.2} to {:.2}.",
        ruled.sd_ratio,
        ruled.df,
        ruled.difference,
        percent(level),
        ruled.interval.low,
        ruled.interval.high,
        welch.df,
        welch.interval.low,
        welch.interval.high,
    ))
}
