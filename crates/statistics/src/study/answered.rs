//! An answer as facts: the reply, the estimate, and what they rest on. Sentences are made of it where it is shown.

use serde::{Deserialize, Serialize};
use stormeter_study::Metric;
use stormeter_study::question::Factor;

use super::answer_estimate::AnswerEstimate;
use super::answer_table::AnswerTable;
use super::level_difference::LevelDifference;
use super::load::Load;
use super::number_claim::NumberClaim;
use super::observations::Observations;
use super::remark::AnswerRemark;
use super::reply::Reply;
use super::test_used::TestUsed;
use super::unanswered::Unanswered;
use crate::estimate::Interval;
use crate::finding::LawFinding;

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question as it was written.
    pub question: String,
    /// Whether it says `must`: answered no, the run exits with 3.
    pub must: bool,
    /// The answer in a word.
    pub reply: Reply,
    /// The facts behind the reply.
    pub grounds: Grounds,
    /// The test; `None` where the question was not answered or a model was put to no test.
    pub test: Option<TestUsed>,
    /// The estimate, such as a ratio; `None` where the test has none.
    pub estimate: Option<AnswerEstimate>,
    /// The p-value of the test.
    pub p_value: Option<f64>,
    /// The p-value when all questions of the study are one family (Holm); `None` where only one was tested.
    pub p_value_adjusted: Option<f64>,
    /// The table of an analysis of variance.
    pub table: Option<AnswerTable>,
    /// The same question for each load by itself, where it was asked of several.
    pub parts: Vec<AnswerPart>,
    /// What a reader should know: assumptions that do not hold, a rank test that disagrees.
    pub remarks: Vec<AnswerRemark>,
}

impl Answer {
    /// The claim about one number that the question makes; `None` for one about factors, or without an answer.
    pub fn claim(&self) -> Option<&NumberClaim> {
        match &self.grounds {
            Grounds::Number(number) => Some(&number.claim),
            Grounds::Factors(_) | Grounds::Unanswered(_) => None,
        }
    }

    /// The metric in whose unit estimate and parts are; `None` where they are ratios.
    pub fn unit(&self) -> Option<Metric> {
        self.claim().and_then(NumberClaim::unit)
    }

    /// The finding that makes the results invalid that the question is about, if that is why it is not answered.
    pub fn invalid_by(&self) -> Option<&LawFinding> {
        match &self.grounds {
            Grounds::Unanswered(Unanswered::Invalid { by, .. }) => Some(by),
            _ => None,
        }
    }
}

/// The facts behind a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grounds {
    /// Of a claim about one number.
    Number(NumberGrounds),
    /// Of a claim about factors.
    Factors(FactorGrounds),
    /// The question is not answered.
    Unanswered(Unanswered),
}

/// The facts about a claim about one number. The number itself is the answer's estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberGrounds {
    /// The claim.
    pub claim: NumberClaim,
    /// The loads at which it was tested.
    pub loads: TestedLoads,
    /// The observations that the estimate rests on.
    pub observations: Observations,
    /// The whole interval lies within the least difference that counts for a model.
    pub is_negligible: bool,
    /// What would decide an open question; `None` where it is answered, or intervals are the unit.
    pub outlook: Option<Outlook>,
}

/// The loads at which a claim was tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestedLoads {
    /// The only one that the study has.
    Only,
    /// One of several.
    One(Load),
    /// The mean over this many.
    Mean(usize),
    /// Each by itself. The estimate is that of the load that speaks most against the claim.
    Each {
        /// How many.
        of: usize,
        /// At how many the claim is shown.
        yes: usize,
        /// At how many the contrary is shown.
        no: usize,
        /// The load of the estimate.
        worst: Load,
    },
}

/// What would decide an open question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outlook {
    /// About this many blocks in all, probably.
    Blocks(usize),
    /// No feasible number of blocks is likely to.
    Unlikely,
}

impl Outlook {
    /// From the number of blocks that would probably decide it.
    pub(super) fn of(blocks: Option<usize>) -> Self {
        blocks.map_or(Self::Unlikely, Self::Blocks)
    }
}

/// The facts about a claim about factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactorGrounds {
    /// The metric.
    pub metric: Metric,
    /// `false`: the claim is that it does not depend on them.
    pub depends: bool,
    /// The factors, as the question names them.
    pub factors: Vec<Factor>,
    /// The claim is also about each pair of them.
    pub interaction: bool,
    /// The study's margin, a fraction.
    pub margin: f64,
    /// The results for the factors, then for their pairs.
    pub terms: Vec<TermResult>,
    /// What would decide an open question; `None` where it is answered, or intervals are the unit.
    pub outlook: Option<Outlook>,
}

/// What was found of a factor, or of two together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TermResult {
    /// The factors.
    pub factors: Vec<Factor>,
    /// The F test; `None` for a model that repeats itself and is put to no test.
    pub test: Option<FTest>,
    /// Every difference is shown to be within the margin.
    pub is_within_margin: bool,
    /// The largest difference.
    pub largest: Option<LevelDifference>,
}

/// An F test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FTest {
    /// The statistic.
    pub f: f64,
    /// Degrees of freedom of the term.
    pub df: f64,
    /// Degrees of freedom of the residual.
    pub residual_df: f64,
    /// The p-value.
    pub p: f64,
}

/// A question's answer at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerPart {
    /// The load.
    pub load: Load,
    /// The estimate.
    pub value: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// The answer.
    pub reply: Reply,
}
