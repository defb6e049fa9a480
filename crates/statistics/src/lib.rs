//! From samples or published summaries to estimates, tests and verdicts.
//!
//! Everything here is a pure function: no I/O, no clock, randomness only from a seed, nothing
//! about how a number is shown. The unit of observation is the trial, never the I/O and never the
//! interval: intervals of one trial are correlated and serve to find the end of the warm-up
//! ([`Warmup`]) and drift ([`Drift`]).
//!
//! The path of a comparison: one (baseline, candidate) pair a block → log-ratios
//! ([`ratio::LogRatios`]) → a standard error that stays honest although the run stopped when it
//! was precise ([`Looks`]) → interval, [`Verdict`] and outlook ([`Comparison`]).
//!
//! That path, for a run whose number of blocks was fixed beforehand:
//!
//! ```
//! use stormeter_statistics::{BlockPair, Comparison, ComparisonInput, Direction, Looks, Verdict};
//! use stormeter_study::Metric;
//!
//! // IOPS of two datastores, block by block: the pairs vary together, their ratio does not.
//! let baseline = [10_000.0, 10_400.0, 9_700.0, 10_100.0, 9_900.0, 10_200.0];
//! let candidate = [11_900.0, 12_500.0, 11_700.0, 12_000.0, 11_950.0, 12_200.0];
//! let pairs = baseline.into_iter().zip(candidate);
//! let blocks = pairs.map(|(baseline, candidate)| BlockPair { baseline, candidate }).collect();
//! let input = ComparisonInput {
//!     baseline: "local".into(),
//!     candidate: "nas".into(),
//!     metric: Metric::Iops,
//!     direction: Direction::HigherIsBetter,
//!     blocks,
//!     margin: 0.05,
//!     // Six blocks, decided beforehand.
//!     looks: Looks { precision: 0.0, min_blocks: 6, level: 0.95, resolution: 0.0 },
//! };
//! let found = Comparison::of(&input, 1)?;
//! assert_eq!(found.verdict, Verdict::Faster);
//! assert!((found.ratio - 1.2).abs() < 0.01);
//! assert!(found.interval.low > 1.18 && found.interval.high < 1.22);
//! # Ok::<(), stormeter_statistics::ComparisonError>(())
//! ```

pub mod anova;
pub mod bottleneck;
mod broken;
mod cache;
mod ceiling_kind;
mod comparison;
pub mod course;
pub mod data;
mod describe;
mod desktop_laws;
pub mod effect_size;
pub mod equivalence;
mod estimate;
mod finding;
pub mod fit;
pub mod gate;
pub mod guests;
pub mod histogram;
pub mod holm;
mod lateness;
pub mod laws;
mod mean_difference;
mod metric_summary;
pub mod metrics;
pub mod moments;
pub mod monitor;
pub mod multiple;
mod neighbours;
pub mod noncentral;
pub mod normality;
pub mod power;
pub mod quantile;
pub mod rank;
pub mod ratio;
pub mod runs;
pub mod series;
pub mod steadiness;
pub mod stopping;
mod study;
mod sum;
mod touched;
mod trial_facts;
pub mod two_sample;
mod uneven_load;
pub mod verdict;
pub mod warmup;
mod way;

pub use bottleneck::CellWhy;
pub use ceiling_kind::CeilingKind;
pub use comparison::{
    Comparison, ComparisonError, ComparisonInput, MetricComparisons, compare_metrics,
};
pub use describe::Summary;
pub use equivalence::{Equivalence, Margin, MeanDifference, NonInferiority};
pub use estimate::{Estimate, Interval};
pub use finding::{
    Backlog, BrokenBy, Fact, FailedTrials, GuestWait, LawFinding, MeasuredAgain, Promised, SeenIn,
    Severity, Tally,
};
pub use histogram::{Bins, Histogram};
pub use metric_summary::MetricSummary;
pub use moments::{Moments, SampleError};
pub use multiple::Correction;
pub use neighbours::is_starved;
pub use ratio::{BlockPair, LogRatios, RatioError};
pub use series::Drift;
pub use stopping::{Decision, Looks, StopRule, StopRuleError};
pub use study::{
    Analysis, Answer, AnswerEstimate, AnswerPart, AnswerRemark, AnswerRow, AnswerTable,
    CellSummary, CellTrial, CorrelatedIntervals, DatastoreDependence, Dependence, FTest,
    FactorGrounds, Grounds, LEAST_PREDICTED, LevelDifference, LevelPair, Load, LoadedDatastore,
    MeasuredCeiling, NumberClaim, NumberGrounds, Observations, Outlook, PowerStatement, RankCheck,
    RatioRule, Relative, Reply, RowTerm, SupposedRatios, Surroundings, TTest, TermResult,
    TestSides, TestUsed, TestedLoads, TestedNumber, TestedOver, Unanswered, VarianceTest, analyse,
    cell_values, decide, supposed_answers,
};
pub use touched::Touched;
pub use two_sample::{Paired, TwoSample};
pub use verdict::{Direction, Verdict};
pub use warmup::Warmup;
