//! A number with its uncertainty: the form in which every result leaves this crate.

use crate::describe::Summary;
use crate::quantile::student_t_quantile;
use serde::{Deserialize, Serialize};

/// A two-sided confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end, in the unit of the estimated value.
    pub low: f64,
    /// Upper end, in the unit of the estimated value.
    pub high: f64,
    /// Confidence level, a fraction: 0.95 for a 95 % interval.
    pub level: f64,
}

impl Interval {
    /// Whether `value` lies between the ends (ends included).
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether this interval lies wholly between `low` and `high` (ends included).
    pub fn lies_inside(&self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }

    /// The half width relative to `value`: the larger of `high / value − 1` and
    /// `1 − low / value`. For an interval of a ratio this is what `--precision` bounds.
    pub fn relative_half_width(&self, value: f64) -> f64 {
        (self.high / value - 1.0).max(1.0 - self.low / value)
    }
}

/// A value, its interval and the number of independent observations behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Its confidence interval.
    pub interval: Interval,
    /// Independent observations (trials or blocks, never I/Os).
    pub n: usize,
}

impl Estimate {
    /// The mean of `samples` with a t interval at `level` (0.95 for 95 %).
    ///
    /// `None` when there are fewer than two samples, one is not finite, or the level is not
    /// between 0 and 1.
    pub fn of_mean(samples: &[f64], level: f64) -> Option<Self> {
        let summary = Summary::of(samples)?;
        let reach = student_t_quantile(0.5 + 0.5 * level, summary.n as f64 - 1.0) * summary.se?;
        (level > 0.0 && level < 1.0).then_some(Self {
            value: summary.mean,
            interval: Interval { low: summary.mean - reach, high: summary.mean + reach, level },
            n: summary.n,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_side_counts_as_half_width() {
        let interval = Interval { low: 0.9, high: 1.05, level: 0.95 };
        assert!((interval.relative_half_width(1.0) - 0.1).abs() < 1e-15);
        let interval = Interval { low: 0.5, high: 2.0, level: 0.95 };
        assert_eq!(interval.relative_half_width(1.0), 1.0);
    }

    /// Reference: scipy 1.17.1, `stats.t.interval(0.95, 4, mean(x), sem(x))`, x = 1..5.
    #[test]
    fn the_mean_of_five_numbers_agrees_with_scipy() {
        let estimate = Estimate::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        assert_eq!(estimate.value, 3.0);
        assert!((estimate.interval.low - 1.036756838522439).abs() < 1e-12);
        assert!((estimate.interval.high - 4.9632431614775605).abs() < 1e-12);
    }

    #[test]
    fn one_sample_or_a_senseless_level_has_no_interval() {
        assert_eq!(Estimate::of_mean(&[1.0], 0.95), None);
        assert_eq!(Estimate::of_mean(&[1.0, 2.0], 1.0), None);
        assert_eq!(Estimate::of_mean(&[1.0, f64::NAN], 0.95), None);
    }
}
