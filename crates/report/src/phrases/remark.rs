//! Remarks about answers, as sentences.

use stormeter_statistics::anova::{ResidualCheck, ResidualStatistic};
use stormeter_statistics::two_sample::Method;
use stormeter_statistics::{
    AnswerEstimate, AnswerRemark, CorrelatedIntervals, DatastoreDependence, NumberClaim, RankCheck,
    RatioRule, Reply,
};
use stormeter_study::Metric;

use super::answer::{difference, measure};
use super::claim::term;
use super::number::{p_value, percent, plural};
use super::unanswered;
use crate::title::Titles;

/// Of this many datastores the correlation of their intervals is listed.
const MOST_LISTED: usize = 4;

/// A remark about an answer.
pub(crate) fn remark(remark: &AnswerRemark, titles: Titles) -> String {
    match remark {
        AnswerRemark::LoadsLeftOut { count, why } => {
            let was = if *count == 1 { "was" } else { "were" };
            let loads = plural(*count, "load");
            format!("{loads} could not be compared and {was} left out: {}", unanswered(why, titles))
        }
        AnswerRemark::BelowResolution(least) => format!(
            "Predicted differences below {} are treated as zero: they are below the model's resolution.",
            percent(*least)
        ),
        AnswerRemark::FixedOrder { of_factors: false } => {
            "The cells took their turns in the same order in every block: what drifts with time, or is left behind \
             by the cell before, looks like a difference. Order randomized or abba keeps them apart."
                .into()
        }
        AnswerRemark::FixedOrder { of_factors: true } => {
            "The cells took their turns in the same order in every block: what drifts with time looks like an effect."
                .into()
        }
        AnswerRemark::NoIntervals(metric) => {
            format!("Intervals have no {}, so the trial is the unit here.", titles.of(*metric))
        }
        AnswerRemark::FewBlocks { blocks, rule } => format!(
            "Only {}: the interval rests on a poorly known spread; {rule} or more are the rule.",
            plural(*blocks, "block")
        ),
        AnswerRemark::NotNormal { w, p, rank } => not_normal(*w, *p, *rank),
        AnswerRemark::UnlikeFirstBlocks { claim, blocks, first, rest } => {
            unlike_first_blocks(claim, *blocks, (*first, *rest), titles)
        }
        AnswerRemark::BlocksAlike { lag1 } => format!(
            "Neighbouring blocks resemble one another (autocorrelation {lag1:.2}), so the interval may be too \
             narrow: use longer trials."
        ),
        AnswerRemark::CorrelatedIntervals(found) => correlated(found, titles),
        AnswerRemark::OneRun => {
            "There is one run of each cell: what differs from run to run (placement, caches, other load) is in the \
             difference but not in its interval."
                .into()
        }
        AnswerRemark::RatioRule(found) => ratio_rule(found, titles),
        AnswerRemark::WithinMargin { factors, margin } => format!(
            "{} makes a difference that is real but within the {} margin: too small to matter.",
            term(factors),
            percent(*margin)
        ),
        AnswerRemark::Residuals(check) => residuals(check),
        AnswerRemark::CorrelatedResiduals => {
            "Intervals of one run are correlated: they count for fewer than there are, F is too large and its \
             p-value too small. What differs from run to run is not in the residual."
                .into()
        }
        AnswerRemark::LargestDifference { factors, difference: largest } => {
            format!("Largest difference of {}: {}.", term(factors), difference(largest))
        }
    }
}

fn not_normal(w: f64, p: f64, rank: Option<RankCheck>) -> String {
    let rank = match rank {
        Some(RankCheck { p, says_yes }) => {
            let says = if says_yes { "says yes" } else { "does not say yes" };
            format!("a rank test of the claim {says}: Wilcoxon signed-rank, {}", p_value(p))
        }
        None => "they are too few or too similar for a rank test".into(),
    };
    format!(
        "The values of the blocks are not normal (Shapiro-Francia W′ = {w:.3}, {}); {rank}.",
        p_value(p)
    )
}

fn unlike_first_blocks(
    claim: &NumberClaim,
    blocks: usize,
    (first, rest): (f64, f64),
    titles: Titles,
) -> String {
    let are = match blocks {
        1 => "block is".to_string(),
        _ => format!("{blocks} blocks are"),
    };
    let value =
        |value| measure(claim, &AnswerEstimate { value, interval: None, level: 0.0 }, titles);
    format!(
        "The first {are} unlike the others ({} and {}), and the answer contains both: use a longer ramp, or an \
         earlier run on the same storage.",
        value(first),
        value(rest)
    )
}

fn correlated(found: &CorrelatedIntervals, titles: Titles) -> String {
    let count = |own: &DatastoreDependence| {
        let of = &own.dependence;
        format!(
            "{} lag-1 autocorrelation {:.2}, {:.0} of {} count",
            own.datastore, of.lag1, of.effective_n, of.n
        )
    };
    let counts: Vec<String> = found.cells.iter().take(MOST_LISTED).map(count).collect();
    let more = if found.cells.len() > MOST_LISTED { ", ..." } else { "" };
    let reply = match found.reply {
        Reply::Yes => "yes",
        Reply::No => "no",
        Reply::Inconclusive | Reply::NotAnswered => "inconclusive",
    };
    format!(
        "Intervals of one run are correlated ({}{more}). A sound interval with the effective numbers: {}; the answer \
         with it: {reply}.",
        counts.join("; "),
        measure(&found.claim, &found.sound, titles),
    )
}

fn ratio_rule(found: &RatioRule, titles: Titles) -> String {
    let RatioRule { metric, ruled, welch } = found;
    let method = if ruled.method == Method::Pooled { "pooled" } else { "not pooled" };
    // In the unit in which the metric is stored, since a difference may be negative.
    let unit = match metric {
        Metric::Iops if titles == Titles::Users => "users/s",
        Metric::Iops => "IOPS",
        Metric::Throughput => "bytes/s",
        Metric::Updates => "updates/s",
        _ => "ns",
    };
    format!(
        "Difference of the means by the ratio rule (SD ratio {:.3}: {method}, df {:.0}): {:.2} {unit} ({} CI {:.2} \
         to {:.2}); by Welch df {:.1}, {:.2} to {:.2}.",
        ruled.sd_ratio,
        ruled.df,
        ruled.difference,
        percent(ruled.interval.level),
        ruled.interval.low,
        ruled.interval.high,
        welch.df,
        welch.interval.low,
        welch.interval.high,
    )
}

fn residuals(check: &ResidualCheck) -> String {
    let ResidualCheck { statistic, p } = check;
    let p = if *p >= 0.001 { format!("p = {p:.3}") } else { format!("p = {p:.1e}") };
    match statistic {
        ResidualStatistic::Normality { w } => format!(
            "The residuals are not normal: look at their histogram, and compare with a rank test or with the \
             analysis of the logarithms (Shapiro-Francia W' = {w:.4}, {p})."
        ),
        ResidualStatistic::Spread { f } => format!(
            "The groups do not spread alike: compare them in pairs by Welch's test, or analyse the logarithms, which \
             often evens the spread out (Brown-Forsythe F = {f:.3}, {p})."
        ),
        ResidualStatistic::Outlier { g, place } => format!(
            "Residual number {place} in the order of measurement stands out: look at that trial, and see whether the \
             conclusion holds without it (Grubbs G = {g:.3}, {p})."
        ),
        ResidualStatistic::Order { lag1 } => format!(
            "Residuals next to each other in time resemble each other: the trials are not independent, so the \
             p-values are too small; randomise the order and take the block as a factor (lag-1 autocorrelation \
             {lag1:.3}, {p})."
        ),
    }
}

#[cfg(test)]
mod tests {
    use stormeter_statistics::Unanswered;

    use super::*;

    /// Remarks that the answers of `tests/answers.rs` do not have.
    #[test]
    fn what_is_seldom_found_has_its_sentence_too() {
        let said = |statistic| {
            remark(&AnswerRemark::Residuals(ResidualCheck { statistic, p: 0.0004 }), Titles::Usual)
        };
        let spread = said(ResidualStatistic::Spread { f: 7.5 });
        assert!(spread.starts_with("The groups do not spread alike: "), "{spread}");
        assert!(spread.ends_with("(Brown-Forsythe F = 7.500, p = 4.0e-4)."), "{spread}");
        let order = said(ResidualStatistic::Order { lag1: 0.61 });
        assert!(order.ends_with("(lag-1 autocorrelation 0.610, p = 4.0e-4)."), "{order}");
        let outlier = said(ResidualStatistic::Outlier { g: 4.2, place: 18 });
        assert!(outlier.starts_with("Residual number 18 in the order of measurement"), "{outlier}");
        let without_ranks =
            remark(&AnswerRemark::NotNormal { w: 0.5, p: 0.001, rank: None }, Titles::Usual);
        assert!(without_ranks.ends_with("for a rank test."), "{without_ranks}");
        let why = Unanswered::MissingCombination;
        let left_out = remark(&AnswerRemark::LoadsLeftOut { count: 2, why }, Titles::Usual);
        let expected = "2 loads could not be compared and were left out: not every combination";
        assert!(left_out.starts_with(expected), "{left_out}");
    }
}
