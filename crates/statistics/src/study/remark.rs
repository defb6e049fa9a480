//! Remarks about answers: assumptions that do not hold, and what a sounder analysis of the same data gives.

use serde::{Deserialize, Serialize};
use stormeter_study::Metric;
use stormeter_study::question::Factor;

use super::answer_estimate::AnswerEstimate;
use super::dependence::Dependence;
use super::level_difference::LevelDifference;
use super::number_claim::NumberClaim;
use super::reply::Reply;
use super::unanswered::Unanswered;
use crate::anova::ResidualCheck;
use crate::two_sample::TwoSample;

/// A remark about an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerRemark {
    /// Loads are left out because they could not be compared.
    LoadsLeftOut {
        /// How many.
        count: usize,
        /// Why the first of them is.
        why: Unanswered,
    },
    /// Predicted differences below this fraction count as none.
    BelowResolution(f64),
    /// The cells took their turns in the same order in every block.
    FixedOrder {
        /// The answer is about factors, whose effects are in question.
        of_factors: bool,
    },
    /// The study counts intervals, which do not have this metric.
    NoIntervals(Metric),
    /// The interval rests on few blocks.
    FewBlocks {
        /// How many.
        blocks: usize,
        /// How many are the rule.
        rule: usize,
    },
    /// The values of the blocks are not normal (Shapiro-Francia).
    NotNormal {
        /// The statistic W′.
        w: f64,
        /// Its p-value.
        p: f64,
        /// A test that needs no normal distribution; `None` with too few or too equal values.
        rank: Option<RankCheck>,
    },
    /// The first blocks differ from the others.
    UnlikeFirstBlocks {
        /// The claim about the values.
        claim: NumberClaim,
        /// How many first blocks.
        blocks: usize,
        /// Their mean: a ratio, or a value of the metric.
        first: f64,
        /// That of the others.
        rest: f64,
    },
    /// Neighbouring blocks resemble one another.
    BlocksAlike {
        /// Autocorrelation at lag 1.
        lag1: f64,
    },
    /// Intervals of one run are correlated.
    CorrelatedIntervals(Box<CorrelatedIntervals>),
    /// There is one run of each cell.
    OneRun,
    /// The difference of the means as the published studies compute it.
    RatioRule(Box<RatioRule>),
    /// The differences of a term are real but within the margin.
    WithinMargin {
        /// The term's factors.
        factors: Vec<Factor>,
        /// The margin, a fraction.
        margin: f64,
    },
    /// The residuals are not what an analysis of variance supposes.
    Residuals(ResidualCheck),
    /// Intervals are correlated, so that F is too large.
    CorrelatedResiduals,
    /// The largest difference of a term.
    LargestDifference {
        /// The term's factors.
        factors: Vec<Factor>,
        /// The difference.
        difference: LevelDifference,
    },
}

/// Wilcoxon's signed-rank test of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankCheck {
    /// Its p-value.
    pub p: f64,
    /// Whether it says yes.
    pub says_yes: bool,
}

/// What correlated intervals are worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelatedIntervals {
    /// The claim about the estimate.
    pub claim: NumberClaim,
    /// The cells' intervals, by datastore.
    pub cells: Vec<DatastoreDependence>,
    /// The estimate with an interval from the effective numbers.
    pub sound: AnswerEstimate,
    /// The answer with it.
    pub reply: Reply,
}

/// How far the intervals of a datastore depend on one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatastoreDependence {
    /// The datastore's name.
    pub datastore: String,
    /// How far.
    pub dependence: Dependence,
}

/// A difference of two means by two rules, in the unit in which the metric is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatioRule {
    /// The metric.
    pub metric: Metric,
    /// Pooled or not by the ratio of the SDs.
    pub ruled: TwoSample,
    /// By Welch.
    pub welch: TwoSample,
}
