//! The difference of two means by Student's t, from samples or from published summaries.
//!
//! Four procedures: Welch's (the default: it needs no equal spreads), the pooled one, the
//! conservative one of introductory textbooks (the smaller sample's degrees of freedom), and the
//! rule of a published study that takes the second or the third after the ratio of the SDs. All
//! intermediate figures are fields, because studies print them.
//!
//! Sources: B. L. Welch, *Biometrika* 34 (1947) 28-35; F. E. Satterthwaite, *Biometrics Bulletin*
//! 2 (1946) 110-114; the ratio rule: Mirzoev, Yang, Davis & Williams, *Journal of Industrial
//! Technology* 27(3) (2011).

use crate::effect_size::EffectSize;
use crate::estimate::Interval;
use crate::mean_difference::MeanDifference;
use crate::moments::{Moments, SampleError, checked_level, checked_values};
use crate::quantile::{student_t_quantile, student_t_two_sided_p, student_t_upper};
use serde::{Deserialize, Serialize};

/// The ratio of SDs below which the ratio rule pools.
pub const RATIO_LIMIT: f64 = 2.0;

/// Which procedure is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Welch's, with any spreads.
    #[default]
    Welch,
    /// Pooled variances, with any spreads.
    Pooled,
    /// Separate variances with the smaller sample's n − 1 degrees of freedom.
    Conservative,
    /// Pooled when the larger SD is less than this many times the smaller one, else conservative.
    SdRatio(f64),
}

/// Which procedure was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Separate variances, Satterthwaite's degrees of freedom.
    Welch,
    /// One pooled variance, n₁ + n₂ − 2 degrees of freedom.
    Pooled,
    /// Separate variances, min(n₁, n₂) − 1 degrees of freedom.
    Conservative,
}

/// Two means compared. The unit is that of the samples unless stated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoSample {
    /// The first sample.
    pub a: Moments,
    /// The second sample.
    pub b: Moments,
    /// Which procedure was carried out.
    pub method: Method,
    /// Larger SD over smaller SD, without unit; infinite when one of them is 0.
    pub sd_ratio: f64,
    /// Mean of the first less mean of the second.
    pub difference: f64,
    /// Σ (x − x̄)² of both samples together, in the squared unit.
    pub pooled_sum_of_squares: f64,
    /// Their pooled variance, in the squared unit.
    pub pooled_variance: f64,
    /// Its root.
    pub pooled_sd: f64,
    /// Variance of the difference by the chosen procedure, in the squared unit.
    pub difference_variance: f64,
    /// Its root, the standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom, not whole for Welch.
    pub df: f64,
    /// The t statistic, difference over standard error.
    pub t: f64,
    /// P-value of "no difference" against any.
    pub p_two_sided: f64,
    /// P-value against "the first mean is greater".
    pub p_greater: f64,
    /// P-value against "the first mean is less".
    pub p_less: f64,
    /// Two-sided critical t at the level of the interval.
    pub critical_t: f64,
    /// Critical t times the standard error: the half width of the interval.
    pub margin: f64,
    /// Confidence interval of the difference.
    pub interval: Interval,
    /// The difference in pooled SDs.
    pub effect: EffectSize,
}

impl TwoSample {
    /// Compares two samples or summaries; the interval is at `level` (0.95 for 95 %).
    ///
    /// # Errors
    /// Fewer than two values a sample, something not finite, a level outside 0 to 1, or no spread
    /// in either sample.
    pub fn compare(
        a: impl Into<Moments>,
        b: impl Into<Moments>,
        rule: Rule,
        level: f64,
    ) -> Result<Self, SampleError> {
        let a = a.into().checked("the first sample", 2)?;
        let b = b.into().checked("the second sample", 2)?;
        let level = checked_level(level)?;
        if a.sd == 0.0 && b.sd == 0.0 {
            return Err(SampleError::NoSpread { what: "both samples".into() });
        }
        let sd_ratio = a.sd.max(b.sd) / a.sd.min(b.sd);
        let method = match rule {
            Rule::Welch => Method::Welch,
            Rule::Pooled => Method::Pooled,
            Rule::Conservative => Method::Conservative,
            Rule::SdRatio(limit) if sd_ratio < limit => Method::Pooled,
            Rule::SdRatio(_) => Method::Conservative,
        };

        let (n_a, n_b) = (a.count(), b.count());
        let pooled_df = n_a + n_b - 2.0;
        let pooled_sum_of_squares = a.sum_of_squares() + b.sum_of_squares();
        let pooled_variance = pooled_sum_of_squares / pooled_df;
        let (of_a, of_b) = (a.variance() / n_a, b.variance() / n_b);
        let (difference_variance, df) = match method {
            Method::Pooled => (pooled_variance * (1.0 / n_a + 1.0 / n_b), pooled_df),
            Method::Conservative => (of_a + of_b, n_a.min(n_b) - 1.0),
            Method::Welch => (of_a + of_b, satterthwaite(of_a, n_a, of_b, n_b)),
        };
        let difference = a.mean - b.mean;
        let standard_error = difference_variance.sqrt();
        let t = difference / standard_error;
        let critical_t = student_t_quantile(0.5 + 0.5 * level, df);
        let margin = critical_t * standard_error;
        let pooled_sd = pooled_variance.sqrt();
        Ok(Self {
            a,
            b,
            method,
            sd_ratio,
            difference,
            pooled_sum_of_squares,
            pooled_variance,
            pooled_sd,
            difference_variance,
            standard_error,
            df,
            t,
            p_two_sided: student_t_two_sided_p(t, df),
            p_greater: student_t_upper(t, df),
            p_less: student_t_upper(-t, df),
            critical_t,
            margin,
            interval: Interval { low: difference - margin, high: difference + margin, level },
            effect: EffectSize::new(
                difference / pooled_sd,
                pooled_df,
                n_a * n_b / (n_a + n_b),
                n_a + n_b,
                level,
            ),
        })
    }

    /// The difference with its uncertainty, for equivalence and non-inferiority.
    pub fn mean_difference(&self) -> MeanDifference {
        MeanDifference {
            estimate: self.difference,
            standard_error: self.standard_error,
            df: self.df,
        }
    }
}

/// Satterthwaite's degrees of freedom of the sum of two variances of means.
pub(crate) fn satterthwaite(of_a: f64, n_a: f64, of_b: f64, n_b: f64) -> f64 {
    (of_a + of_b).powi(2) / (of_a * of_a / (n_a - 1.0) + of_b * of_b / (n_b - 1.0))
}

/// Pairs compared by the mean of their differences. The unit is that of the samples unless
/// stated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// The differences, first less second.
    pub differences: Moments,
    /// Standard error of their mean.
    pub standard_error: f64,
    /// Degrees of freedom: pairs − 1.
    pub df: f64,
    /// The t statistic.
    pub t: f64,
    /// P-value of "no difference" against any.
    pub p_two_sided: f64,
    /// P-value against "the first mean is greater".
    pub p_greater: f64,
    /// P-value against "the first mean is less".
    pub p_less: f64,
    /// Two-sided critical t at the level of the interval.
    pub critical_t: f64,
    /// The half width of the interval.
    pub margin: f64,
    /// Confidence interval of the mean difference.
    pub interval: Interval,
    /// The mean difference in SDs of the differences.
    pub effect: EffectSize,
}

impl Paired {
    /// Compares `a` and `b`, which belong together value by value.
    ///
    /// # Errors
    /// Unequal lengths, fewer than two pairs, something not finite, a level outside 0 to 1, or
    /// differences that are all equal.
    pub fn compare(a: &[f64], b: &[f64], level: f64) -> Result<Self, SampleError> {
        Self::of(&differences(a, b)?[..], level)
    }

    /// From differences, or from what is published of them.
    ///
    /// # Errors
    /// As [`Paired::compare`].
    pub fn of(differences: impl Into<Moments>, level: f64) -> Result<Self, SampleError> {
        let differences = differences.into().checked("the differences of the pairs", 2)?;
        let level = checked_level(level)?;
        if differences.sd == 0.0 {
            return Err(SampleError::NoSpread { what: "the differences of the pairs".into() });
        }
        let n = differences.count();
        let df = n - 1.0;
        let standard_error = differences.standard_error();
        let t = differences.mean / standard_error;
        let critical_t = student_t_quantile(0.5 + 0.5 * level, df);
        let margin = critical_t * standard_error;
        let (low, high) = (differences.mean - margin, differences.mean + margin);
        Ok(Self {
            differences,
            standard_error,
            df,
            t,
            p_two_sided: student_t_two_sided_p(t, df),
            p_greater: student_t_upper(t, df),
            p_less: student_t_upper(-t, df),
            critical_t,
            margin,
            interval: Interval { low, high, level },
            effect: EffectSize::new(differences.mean / differences.sd, df, n, n, level),
        })
    }

    /// The mean difference with its uncertainty, for equivalence and non-inferiority.
    pub fn mean_difference(&self) -> MeanDifference {
        MeanDifference {
            estimate: self.differences.mean,
            standard_error: self.standard_error,
            df: self.df,
        }
    }
}

/// `a` less `b`, value by value.
pub(crate) fn differences(a: &[f64], b: &[f64]) -> Result<Vec<f64>, SampleError> {
    if a.len() != b.len() {
        return Err(SampleError::UnequalLengths { a: a.len(), b: b.len() });
    }
    checked_values(a, "the first sample", 0)?;
    checked_values(b, "the second sample", 0)?;
    Ok(a.iter().zip(b).map(|(a, b)| a - b).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounded as the study printed it.
    fn printed(value: f64, decimals: i32) -> f64 {
        (value * 10f64.powi(decimals)).round() / 10f64.powi(decimals)
    }

    /// Mirzoev et al. (2011), 4 KB writes, 500 samples a controller, 99 %. From the printed SDs;
    /// the printed variances (336.25 and 1032.9) would give 683206 and 26.16 instead.
    #[test]
    fn the_published_pooled_interval_comes_out() {
        let physical = Moments::new(500, 875.65, 18.34);
        let virtualised = Moments::new(500, 1059.7, 32.1);
        let rule = Rule::SdRatio(RATIO_LIMIT);
        let test = TwoSample::compare(physical, virtualised, rule, 0.99).unwrap();
        assert_eq!((test.method, test.df), (Method::Pooled, 998.0));
        assert_eq!(printed(test.sd_ratio, 2), 1.75);
        assert_eq!(printed(test.pooled_sum_of_squares, 0), 682016.0);
        assert_eq!(printed(test.pooled_sd, 2), 26.14);
        assert_eq!(printed(test.standard_error, 3), 1.653);
        assert_eq!(printed(test.critical_t, 3), 2.581);
        assert_eq!(printed(test.difference, 2), -184.05);
        // The study multiplied the rounded figures: 2.581 × 1.653 = 4.266. Unrounded, 4.267.
        let margin = printed(printed(test.critical_t, 3) * printed(test.standard_error, 3), 3);
        assert_eq!(margin, 4.266);
        assert_eq!(printed(test.difference - margin, 3), -188.316);
        assert_eq!(printed(test.difference + margin, 3), -179.784);
        assert_eq!(printed(test.margin, 3), 4.267);
    }

    /// The same study, 32 KB writes: the spreads differ too much to pool.
    #[test]
    fn the_published_conservative_interval_comes_out() {
        let physical = Moments::new(500, 881.03, 19.47);
        let virtualised = Moments::new(500, 297.13, 6.46);
        let rule = Rule::SdRatio(RATIO_LIMIT);
        let test = TwoSample::compare(physical, virtualised, rule, 0.99).unwrap();
        assert_eq!((test.method, test.df), (Method::Conservative, 499.0));
        assert_eq!(printed(test.sd_ratio, 3), 3.014);
        assert_eq!(printed(test.critical_t, 3), 2.586);
        assert_eq!(printed(test.difference_variance, 3), 0.842);
        assert_eq!(printed(test.margin, 3), 2.372);
        assert_eq!(printed(test.interval.low, 3), 581.528);
        assert_eq!(printed(test.interval.high, 2), 586.27);
    }

    #[test]
    fn the_ratio_rule_pools_below_its_limit_only() {
        let method = |sd| {
            let rule = Rule::SdRatio(2.0);
            let (a, b) = (Moments::new(9, 1.0, 1.0), Moments::new(12, 2.0, sd));
            let test = TwoSample::compare(a, b, rule, 0.95).unwrap();
            (test.method, test.df)
        };
        assert_eq!(method(1.999), (Method::Pooled, 19.0));
        assert_eq!(method(2.0), (Method::Conservative, 8.0));
        assert_eq!(method(0.0), (Method::Conservative, 8.0));
    }

    #[test]
    fn one_sided_p_values_add_up_and_change_sides() {
        let (a, b) = ([5.0, 6.0, 7.5, 8.0], [4.0, 4.5, 5.0]);
        let there = TwoSample::compare(&a, &b, Rule::Welch, 0.9).unwrap();
        let back = TwoSample::compare(&b, &a, Rule::Welch, 0.9).unwrap();
        assert!((there.p_greater + there.p_less - 1.0).abs() < 1e-15);
        assert_eq!((there.p_greater, there.interval.low), (back.p_less, -back.interval.high));
        assert!(there.p_greater < 0.05 && there.p_less > 0.95);
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        let fails = |a: &[f64], b: &[f64], level| {
            TwoSample::compare(a, b, Rule::Welch, level).unwrap_err().to_string()
        };
        assert!(fails(&[1.0], &[1.0, 2.0], 0.95).contains("the first sample has 1 value(s)"));
        assert!(fails(&[1.0, 1.0], &[2.0, 2.0], 0.95).contains("all values are equal"));
        assert!(fails(&[1.0, 2.0], &[2.0, 3.0], 1.0).contains("confidence level is 1"));
        let error = Paired::compare(&[1.0], &[1.0, 2.0], 0.95).unwrap_err();
        assert_eq!(error, SampleError::UnequalLengths { a: 1, b: 2 });
    }
}
