//! Descriptive statistics of a set of numbers.
//!
//! Means, variances and skewnesses keep the digits that the values have (two passes, compensated
//! sums): NIST's univariate reference sets come out to the digits that doubles can hold.
//!
//! What cannot be computed is absent (`None`), never zero or NaN: an SD of one number is unknown,
//! not nought.

use crate::sum;
use serde::{Deserialize, Serialize};

/// The usual description of a sample. All values are in the unit of the sample unless stated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n − 1 in the denominator; `None` for n < 2.
    pub sd: Option<f64>,
    /// Standard error of the mean, SD / √n; `None` for n < 2.
    pub se: Option<f64>,
    /// Variance with n − 1 in the denominator, in the squared unit; `None` for n < 2.
    pub variance: Option<f64>,
    /// Median; the mean of the middle two when n is even.
    pub median: f64,
    /// First quartile, by linear interpolation (definition 7 of Hyndman & Fan, *The American
    /// Statistician* 50 (1996) 361-365: the default of R and numpy).
    pub q1: f64,
    /// Third quartile, by the same definition.
    pub q3: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// `max − min`.
    pub range: f64,
    /// Coefficient of variation, SD / |mean|, a fraction; `None` for n < 2 or a mean of 0.
    pub cv: Option<f64>,
    /// Adjusted Fisher-Pearson skewness G1 (Joanes & Gill, *The Statistician* 47, 1998), without
    /// unit; `None` for n < 3 or when all values are equal.
    pub skewness: Option<f64>,
    /// Skewness of the values as if they were the whole population, g1 = m₃ / m₂^(3/2), without
    /// unit; `None` for n < 2 or when all values are equal.
    pub population_skewness: Option<f64>,
    /// Adjusted excess kurtosis G2 (Joanes & Gill, the same paper), without unit and about 0 for
    /// a normal sample; `None` for n < 4 or when all values are equal.
    pub kurtosis: Option<f64>,
}

impl Summary {
    /// Describes `values`; `None` when there are none or one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let n = values.len();
        let count = n as f64;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (sorted[0], sorted[n - 1]);
        let exact_mean = sum::mean(values);
        let mean = exact_mean.value().clamp(min, max);
        let deviations: Vec<f64> = values.iter().map(|&value| exact_mean.below(value)).collect();
        let power_sum = |power| sum::sum(deviations.iter().map(|d| d.powi(power)));
        // The rounding of a mean must not turn equal values into a spread.
        let squares = if min == max { 0.0 } else { power_sum(2) };
        let variance = (n >= 2).then(|| squares / (count - 1.0));
        let sd = variance.map(f64::sqrt);
        let spread = squares > 0.0;
        let population_skewness =
            spread.then(|| power_sum(3) / count / (squares / count).powf(1.5));
        let skewness = population_skewness
            .filter(|_| n >= 3)
            .map(|g1| (count * (count - 1.0)).sqrt() / (count - 2.0) * g1);
        let kurtosis = (spread && n >= 4).then(|| {
            let g2 = power_sum(4) / count / (squares / count).powi(2) - 3.0;
            (count - 1.0) / ((count - 2.0) * (count - 3.0)) * ((count + 1.0) * g2 + 6.0)
        });
        Some(Self {
            n,
            mean,
            sd,
            se: sd.map(|sd| sd / count.sqrt()),
            variance,
            median: quantile_of_sorted(&sorted, 0.5),
            q1: quantile_of_sorted(&sorted, 0.25),
            q3: quantile_of_sorted(&sorted, 0.75),
            min,
            max,
            range: max - min,
            cv: sd.filter(|_| mean != 0.0).map(|sd| sd / mean.abs()),
            skewness,
            population_skewness,
            kurtosis,
        })
    }
}

/// The quantile at `fraction` (0 to 1) of ascending values, by linear interpolation (Hyndman &
/// Fan's definition 7). There must be at least one value.
pub(crate) fn quantile_of_sorted(sorted: &[f64], fraction: f64) -> f64 {
    let place = fraction * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
    }

    /// Reference: scipy 1.17.1 and numpy 2.4.6 (`var(ddof=1)`, `skew(bias=False)`), by
    /// `tests/quantiles/values.py`.
    #[test]
    fn a_small_sample_agrees_with_scipy() {
        let summary = Summary::of(&[2.0, 3.5, 1.0, 9.0, 4.0, 4.5]).unwrap();
        assert_eq!(summary.n, 6);
        assert_eq!((summary.mean, summary.median), (4.0, 3.75));
        assert_eq!((summary.min, summary.max, summary.range), (1.0, 9.0, 8.0));
        close(summary.variance, 7.7);
        close(summary.sd, 2.7748873851023217);
        close(summary.se, 1.132843031197762);
        close(summary.cv, 0.6937218462755804);
        close(summary.skewness, 1.263652545079485);
        close(summary.population_skewness, 0.9228413383851304);
        close(summary.kurtosis, 2.275678866587958);
        assert_eq!((summary.q1, summary.q3), (2.375, 4.375));
    }

    /// NIST StRD, univariate, "NumAcc1": 10000001, 10000003, 10000002 has SD 1 exactly; and
    /// "NumAcc4", 10000000.2 and 1000 × (10000000.1, 10000000.3), has SD 0.1.
    #[test]
    fn numbers_that_differ_in_their_last_digits_keep_their_spread() {
        assert_eq!(Summary::of(&[10000001.0, 10000003.0, 10000002.0]).unwrap().sd, Some(1.0));
        let mut values = vec![10000000.2];
        for _ in 0..500 {
            values.extend([10000000.1, 10000000.3]);
        }
        let summary = Summary::of(&values).unwrap();
        assert!((summary.sd.unwrap() - 0.1).abs() < 1e-8);
    }

    #[test]
    fn what_cannot_be_known_is_absent() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
        let one = Summary::of(&[5.0]).unwrap();
        assert_eq!((one.sd, one.se, one.cv, one.skewness), (None, None, None, None));
        let equal = Summary::of(&[0.1, 0.1, 0.1]).unwrap();
        assert_eq!((equal.sd, equal.skewness), (Some(0.0), None));
        assert_eq!(Summary::of(&[-1.0, 1.0]).unwrap().cv, None);
    }
}
