//! Numbers in time order: how much they depend on one another, and whether they drift.
//!
//! Intervals of one trial are correlated: a hundred of them may say no more than ten independent
//! ones. The effective sample size says how many they are worth, and the drift test takes it
//! into account, since correlated noise looks like a trend to a test that does not.
//!
//! Sources: Bayley & Hammersley, "The 'effective' number of independent observations in an
//! autocorrelated time series", *JRSS Supplement* 8 (1946) 184-197; for the trend test, Santer et
//! al., "Statistical significance of trends and trend differences in layer-average atmospheric
//! temperature time series", *Journal of Geophysical Research* 105 (2000) 7337-7356: ordinary
//! least squares, with the effective number of residuals in standard error and degrees of
//! freedom. The lag-1 autocorrelation of short series comes out too small (Kendall, *Biometrika*
//! 41 (1954) 403-404, gives −(1 + 4ρ)/n about a mean; about a line it is larger), and uncorrected
//! the test calls drift in 12 % of steady series of 20 with ρ = 0.5. Adding (3 + 4r)/n, found by
//! simulation, brings that to 6.5 %, and to 5.4 % and 5.0 % for 30 and 60
//! (`tests/monte_carlo/drift.rs`).

use crate::describe::Summary;
use crate::quantile::student_t_two_sided_p;
use crate::sum;
use serde::{Deserialize, Serialize};

/// Fewest values for which a drift is judged.
pub const MIN_DRIFT_VALUES: usize = 5;

/// Correlations are taken as no larger than this, where formulas for strong ones break down.
const MAX_CORRELATION: f64 = 0.95;

/// The lag-1 autocorrelation, between −1 and 1: Σ(xₜ − x̄)(xₜ₊₁ − x̄) / Σ(xₜ − x̄)².
///
/// `None` for fewer than three values, for equal values, or when one is not finite.
pub fn lag1_autocorrelation(values: &[f64]) -> Option<f64> {
    Summary::of(values).filter(|summary| summary.n >= 3 && summary.range > 0.0)?;
    correlation_of(&sum::deviations(values))
}

/// How many independent values a series with lag-1 autocorrelation `lag1` and `n` values is
/// worth for its mean, if it is an AR(1) process: between 1 and `n`.
///
/// n / (1 + 2 Σ (1 − k/n) ρᵏ), k from 1 to n − 1. A negative correlation counts as none: it is
/// mostly chance, and no series should be worth more than it holds.
pub fn effective_sample_size(n: usize, lag1: f64) -> f64 {
    let count = n as f64;
    let (mut power, mut sum) = (1.0, 0.0);
    for lag in 1..n {
        power *= lag1.clamp(0.0, 1.0);
        if power < 1e-12 {
            break;
        }
        sum += (1.0 - lag as f64 / count) * power;
    }
    count / (1.0 + 2.0 * sum)
}

/// A linear trend over a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Change from the first value to the last along the fitted line, relative to the mean: 0.1
    /// for a rise by 10 %.
    pub relative_change: f64,
    /// Two-sided p-value of "no trend", with the autocorrelation taken into account.
    pub p_value: f64,
    /// Values, as if independent, that the test rests on.
    pub effective_values: f64,
}

impl Drift {
    /// Fits a line to one value an interval, oldest first.
    ///
    /// `None` for fewer than [`MIN_DRIFT_VALUES`] values, a mean of 0, or a value that is not
    /// finite. A series without any noise about its line has p-value 0, or 1 if it is level.
    pub fn of(intervals: &[f64]) -> Option<Self> {
        let summary = Summary::of(intervals)
            .filter(|summary| summary.n >= MIN_DRIFT_VALUES && summary.mean != 0.0)?;
        let n = summary.n as f64;
        let centre = 0.5 * (n - 1.0);
        let times = (0..summary.n).map(|index| index as f64 - centre);
        let time_squares = n * (n * n - 1.0) / 12.0;
        let slope = times
            .clone()
            .zip(intervals)
            .map(|(time, value)| time * (value - summary.mean))
            .sum::<f64>()
            / time_squares;
        let residuals: Vec<f64> =
            times.zip(intervals).map(|(time, value)| value - summary.mean - slope * time).collect();
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let relative_change = slope * (n - 1.0) / summary.mean.abs();

        // Residuals of a perfect line are rounding, about ε of the values.
        let rounding = (8.0 * f64::EPSILON * summary.min.abs().max(summary.max.abs())).powi(2) * n;
        if squares <= rounding {
            let level = (slope * (n - 1.0)).powi(2) <= rounding;
            let p_value = if level { 1.0 } else { 0.0 };
            return Some(Self { relative_change, p_value, effective_values: n });
        }
        let measured = correlation_of(&residuals)?;
        let correlation = (measured + (3.0 + 4.0 * measured) / n).clamp(0.0, MAX_CORRELATION);
        // Two values fix the line; slightly more keep the t law defined.
        let effective_values = (n * (1.0 - correlation) / (1.0 + correlation)).max(2.2);
        let df = effective_values - 2.0;
        let error = (squares / df / time_squares).sqrt();
        Some(Self {
            relative_change,
            p_value: student_t_two_sided_p(slope / error, df),
            effective_values,
        })
    }
}

/// Σ dₜ dₜ₊₁ / Σ dₜ²; `None` when all are zero.
fn correlation_of(deviations: &[f64]) -> Option<f64> {
    let squares = sum::sum(deviations.iter().map(|deviation| deviation * deviation));
    let products = sum::sum(deviations.windows(2).map(|pair| pair[0] * pair[1]));
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autocorrelation_by_hand() {
        // Deviations −1.5 −0.5 0.5 1.5: products 0.75 − 0.25 + 0.75, squares 5.
        assert_eq!(lag1_autocorrelation(&[1.0, 2.0, 3.0, 4.0]), Some(0.25));
        // Deviations alternate ±1: −3/4.
        assert_eq!(lag1_autocorrelation(&[1.0, -1.0, 1.0, -1.0]), Some(-0.75));
        assert_eq!(lag1_autocorrelation(&[1.0, 2.0]), None);
        assert_eq!(lag1_autocorrelation(&[0.1, 0.1, 0.1]), None);
        assert_eq!(lag1_autocorrelation(&[1.0, f64::NAN, 2.0]), None);
    }

    #[test]
    fn effective_size_by_hand() {
        // n = 3, ρ = 0.5: 3 / (1 + 2(2/3·1/2 + 1/3·1/4)) = 3 / (11/6).
        assert!((effective_sample_size(3, 0.5) - 18.0 / 11.0).abs() < 1e-14);
        assert_eq!(effective_sample_size(50, 0.0), 50.0);
        assert_eq!(effective_sample_size(50, -0.4), 50.0);
        assert!((effective_sample_size(50, 1.0) - 1.0).abs() < 1e-12);
        // For many values it tends to n(1 − ρ)/(1 + ρ).
        assert!((effective_sample_size(100_000, 0.5) / 100_000.0 - 1.0 / 3.0).abs() < 1e-4);
    }

    #[test]
    fn a_line_is_a_drift_and_a_level_is_none() {
        let rising: Vec<f64> = (0..20).map(|i| 95.0 + 10.0 * f64::from(i) / 19.0).collect();
        let drift = Drift::of(&rising).unwrap();
        assert!((drift.relative_change - 0.1).abs() < 1e-12);
        assert_eq!(drift.p_value, 0.0);
        let level = Drift::of(&[0.1; 30]).unwrap();
        assert_eq!((level.relative_change, level.p_value), (0.0, 1.0));
        assert_eq!(Drift::of(&[0.0; 30]), None);
        assert_eq!(Drift::of(&[1.0, 2.0, 3.0, 4.0]), None);
    }

    /// With little correlation left, the test is the ordinary regression test. Reference: scipy
    /// 1.17.1 `linregress` slope, by `tests/quantiles/values.py`; its p-value must not be undercut.
    #[test]
    fn a_noisy_line_agrees_with_regression() {
        let values = [10.0, 10.6, 9.9, 10.9, 10.4, 11.3, 10.7, 11.6, 11.0, 11.8];
        let drift = Drift::of(&values).unwrap();
        assert!((drift.relative_change - 0.1684848484848485 * 9.0 / 10.82).abs() < 1e-12);
        assert!(drift.p_value >= 0.004773559066870184 && drift.p_value < 0.01, "{drift:?}");
    }
}
