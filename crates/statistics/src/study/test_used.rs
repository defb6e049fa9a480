//! The tests that answers rest on.

use super::observations::Observations;
use serde::{Deserialize, Serialize};
use stormeter_study::Metric;
use stormeter_study::question::Factor;

/// A test with its degrees of freedom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestUsed {
    /// A t test.
    T(TTest),
    /// An analysis of variance.
    Variance(VarianceTest),
}

/// A t test: of the blocks' values, or Welch's where intervals are the unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// How many sides it has.
    pub sides: TestSides,
    /// The number that it tests.
    pub of: TestedNumber,
    /// How several loads are combined.
    pub over: TestedOver,
    /// Degrees of freedom.
    pub df: f64,
    /// The observations.
    pub observations: Observations,
    /// It is corrected because the run stopped by the width of its intervals.
    pub is_corrected: bool,
}

/// The sides of a t test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestSides {
    /// One.
    One,
    /// Two.
    Two,
    /// Two one-sided tests (TOST): of lying between two bounds.
    OneEach,
}

/// The number that a t test is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestedNumber {
    /// The logarithm of a ratio.
    LogRatio,
    /// The least-squares slope of the logarithm of the metric over that of the load.
    Slope,
    /// The logarithm of the metric.
    LogValue,
}

/// How a test combines loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestedOver {
    /// There is one.
    One,
    /// It tests their mean.
    Mean,
    /// It tests each (intersection-union), this many.
    Each(usize),
}

/// An analysis of variance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VarianceTest {
    /// The metric.
    pub metric: Metric,
    /// The factors.
    pub factors: Vec<Factor>,
    /// Degrees of freedom of the residual.
    pub residual_df: f64,
    /// The observations.
    pub observations: Observations,
    /// F is reduced because the run stopped by the width of its intervals.
    pub is_corrected: bool,
    /// With two one-sided t tests of every difference of levels, because the claim is that there is no effect.
    pub has_equivalence_tests: bool,
}
