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
mod answer_table;
mod answered;
mod cells;
mod claims;
mod conclusion;
mod contrasts;
mod decision;
mod effect;
mod factors;
mod laws;
mod load;
mod measured;
mod power;
mod region;
mod remark;
mod remarks;
mod test_used;
mod unanswered;

#[cfg(test)]
mod tests;

pub use analysis::{CeilingKind, MeasuredCeiling, Surroundings, analyse};
pub use answer::{answer, answer_text};
pub use answer_table::{AnswerRow, AnswerTable, RowTerm};
pub use answered::{
    Answer, AnswerEstimate, AnswerPart, FTest, FactorGrounds, Grounds, LevelDifference, LevelPair,
    NumberClaim, NumberGrounds, Observations, Outlook, Reply, TermResult, TestedLoads,
};
pub use conclusion::{Analysis, CellSummary, CellTrial, Dependence, PowerStatement, Relative};
pub use decision::decide;
pub use load::{Load, LoadedDatastore};
pub use measured::LEAST_PREDICTED;
pub use remark::{AnswerRemark, CorrelatedIntervals, DatastoreDependence, RankCheck, RatioRule};
pub use test_used::{TTest, TestSides, TestUsed, TestedNumber, TestedOver, VarianceTest};
pub use unanswered::Unanswered;
