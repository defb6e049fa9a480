//! From the trials of a study to answers.
//!
//! A study asks questions in words ([`stormeter_study::question`]); each names its test. Nearly all
//! are claims about one number: a weighted sum of the logarithms of cells (`effect`), such as the
//! log-ratio of two datastores at one load, its mean over loads, or the slope of a metric over the
//! load. It is formed within each block, so that what disturbs a whole block cancels, and then has
//! one value a block: independent observations for a t test. A claim is a region of that number's
//! line (`region`); shown inside it is yes, shown outside is no, all else is inconclusive. What
//! several factors do together is a randomized-block analysis of variance (`factors`).
//!
//! An answer is facts (`answered`), with the test (`test_used`) and remarks (`remark`), or why there is none
//! (`unanswered`); sentences are made of them where answers are shown.
//!
//! Everything is a function of the plan and the trials, so that an answer is the same at the end of
//! the run and from the results file a year later.

mod analysis;
mod answer;
mod answer_estimate;
mod answer_table;
mod answered;
mod cells;
mod claims;
mod conclusion;
mod contrasts;
mod decision;
mod dependence;
mod draft;
mod effect;
mod factors;
mod laws;
mod level_difference;
mod load;
mod measured;
mod number_claim;
mod observations;
mod power;
mod promises;
mod region;
mod remark;
mod remarks;
mod reply;
mod supposed;
mod surroundings;
mod test_used;
mod unanswered;

#[cfg(test)]
mod tests;

pub use analysis::{analyse, supposed_answers};
pub use answer_estimate::AnswerEstimate;
pub use answer_table::{AnswerRow, AnswerTable, RowTerm};
pub use answered::{
    Answer, AnswerPart, FTest, FactorGrounds, Grounds, NumberGrounds, Outlook, TermResult,
    TestedLoads,
};
pub use cells::cell_values;
pub use conclusion::{Analysis, CellSummary, CellTrial, PowerStatement, Relative};
pub use decision::decide;
pub use dependence::Dependence;
pub use level_difference::{LevelDifference, LevelPair};
pub use load::{Load, LoadedDatastore};
pub use measured::LEAST_PREDICTED;
pub use number_claim::NumberClaim;
pub use observations::Observations;
pub use remark::{AnswerRemark, CorrelatedIntervals, DatastoreDependence, RankCheck, RatioRule};
pub use reply::Reply;
pub use supposed::SupposedRatios;
pub use surroundings::{MeasuredCeiling, Surroundings};
pub use test_used::{TTest, TestSides, TestUsed, TestedNumber, TestedOver, VarianceTest};
pub use unanswered::Unanswered;
