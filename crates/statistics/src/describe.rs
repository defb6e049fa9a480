//! Descriptive statistics of a set of numbers.
//!
//! What cannot be computed is absent (`None`), never zero or NaN: an SD of one number is unknown,
//! not nought.

use serde::{Deserialize, Serialize};

/// The usual description of a sample. All values are in the unit of the sample except where said.
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
        let median = if n % 2 == 1 {
            sorted[n / 2]
        } else {
            sorted[n / 2 - 1] + 0.5 * (sorted[n / 2] - sorted[n / 2 - 1])
        };
        // Deviations from the smallest value keep the digits of numbers that differ only in
        // their last ones (NIST StRD univariate "NumAcc4").
        let mean = min + values.iter().map(|value| value - min).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let cubes: f64 = values.iter().map(|value| (value - mean).powi(3)).sum();
        // The rounding of a mean must not turn equal values into a spread.
        let variance = (n >= 2).then(|| if min == max { 0.0 } else { squares / (count - 1.0) });
        let sd = variance.map(f64::sqrt);
        let skewness = (n >= 3 && min < max && squares > 0.0).then(|| {
            (count * (count - 1.0)).sqrt() / (count - 2.0) * (cubes / count)
                / (squares / count).powf(1.5)
        });
        Some(Self {
            n,
            mean,
            sd,
            se: sd.map(|sd| sd / count.sqrt()),
            variance,
            median,
            min,
            max,
            range: max - min,
            cv: sd.filter(|_| mean != 0.0).map(|sd| sd / mean.abs()),
            skewness,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
    }

    /// Reference: scipy 1.17.1 and numpy 2.4.6 (`var(ddof=1)`, `skew(bias=False)`), by
    /// `reference/generate.py`.
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
