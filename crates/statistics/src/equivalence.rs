//! Showing that a difference is too small to matter, or that one side is at least not worse.
//!
//! "Not significantly different" is no evidence of sameness: a study that is too small finds
//! nothing. Equivalence turns the burden round: two one-sided tests (TOST) must both show that the
//! difference lies inside a margin fixed beforehand, which is the same as an interval of level
//! 1 − 2α inside the margin. Non-inferiority is the half of it that looks at the worse side.
//!
//! Margins on a ratio (0.9 to 1/0.9) are margins on the difference of logarithms; the result is
//! turned back.
//!
//! Sources: D. J. Schuirmann, *Journal of Pharmacokinetics and Biopharmaceutics* 15 (1987)
//! 657-680; S. Wellek, *Testing Statistical Hypotheses of Equivalence and Noninferiority* (2010),
//! 3.2; for the logarithm of a ratio of means from summaries (delta method), Hedges, Gurevitch &
//! Curtis, *Ecology* 80 (1999) 1150-1156, formula 1.

use crate::estimate::Interval;
pub use crate::mean_difference::MeanDifference;
use crate::moments::{Moments, SampleError, checked_alpha, checked_values};
use crate::quantile::{student_t_quantile, student_t_upper};
use crate::two_sample::{Paired, Rule, TwoSample, satterthwaite};
use crate::verdict::Direction;
use serde::{Deserialize, Serialize};

impl MeanDifference {
    /// The difference of two independent samples or summaries.
    ///
    /// # Errors
    /// As [`TwoSample::compare`].
    pub fn of_samples(
        a: impl Into<Moments>,
        b: impl Into<Moments>,
        rule: Rule,
    ) -> Result<Self, SampleError> {
        Ok(TwoSample::compare(a, b, rule, 0.95)?.mean_difference())
    }

    /// The mean of paired differences, or of what is published of them.
    ///
    /// # Errors
    /// As [`Paired::of`].
    pub fn of_differences(differences: impl Into<Moments>) -> Result<Self, SampleError> {
        Ok(Paired::of(differences, 0.95)?.mean_difference())
    }

    /// ln(first / second) of two independent samples: the difference of the mean logarithms, so
    /// the ratio is that of the geometric means.
    ///
    /// # Errors
    /// As [`TwoSample::compare`], or a value that is not above 0.
    pub fn log_ratio_of_samples(a: &[f64], b: &[f64], rule: Rule) -> Result<Self, SampleError> {
        let (a, b) = (logarithms(a, "the first sample")?, logarithms(b, "the second sample")?);
        Self::of_samples(&a, &b, rule)
    }

    /// ln(first / second) of pairs: the mean of the pairs' log-ratios.
    ///
    /// # Errors
    /// As [`Paired::compare`], or a value that is not above 0.
    pub fn log_ratio_of_pairs(a: &[f64], b: &[f64]) -> Result<Self, SampleError> {
        let (a, b) = (logarithms(a, "the first sample")?, logarithms(b, "the second sample")?);
        Ok(Paired::compare(&a, &b, 0.95)?.mean_difference())
    }

    /// ln(first / second) of two means of which only summaries are known, by the delta method,
    /// which is good while both coefficients of variation are below about 0.3. The ratio is that
    /// of the arithmetic means.
    ///
    /// # Errors
    /// As [`TwoSample::compare`], or a mean that is not above 0.
    pub fn log_ratio_of_moments(
        a: impl Into<Moments>,
        b: impl Into<Moments>,
    ) -> Result<Self, SampleError> {
        let a = a.into().checked("the first sample", 2)?;
        let b = b.into().checked("the second sample", 2)?;
        for (what, value) in [("the first mean", a.mean), ("the second mean", b.mean)] {
            if value <= 0.0 {
                return Err(SampleError::NotPositive { what: what.into(), value });
            }
        }
        if a.sd == 0.0 && b.sd == 0.0 {
            return Err(SampleError::NoSpread { what: "both samples".into() });
        }
        let relative = |m: Moments| (m.sd / m.mean).powi(2) / m.count();
        let (of_a, of_b) = (relative(a), relative(b));
        Ok(Self {
            estimate: a.mean.ln() - b.mean.ln(),
            standard_error: (of_a + of_b).sqrt(),
            df: satterthwaite(of_a, a.count(), of_b, b.count()),
        })
    }

    /// The interval at `level`.
    pub fn interval(&self, level: f64) -> Interval {
        let reach = student_t_quantile(0.5 + 0.5 * level, self.df) * self.standard_error;
        Interval { low: self.estimate - reach, high: self.estimate + reach, level }
    }

    /// P-value of "the difference is at most `bound`" against "it is more".
    pub fn p_above(&self, bound: f64) -> f64 {
        student_t_upper((self.estimate - bound) / self.standard_error, self.df)
    }

    /// P-value of "the difference is at least `bound`" against "it is less".
    pub fn p_below(&self, bound: f64) -> f64 {
        student_t_upper((bound - self.estimate) / self.standard_error, self.df)
    }
}

/// What is still too small to matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Margin {
    /// Differences from `low` to `high`, in the unit of the samples.
    Difference {
        /// Below 0.
        low: f64,
        /// Above 0.
        high: f64,
    },
    /// Ratios first / second from `low` to `high`; the [`MeanDifference`] must be a log-ratio.
    Ratio {
        /// Below 1.
        low: f64,
        /// Above 1.
        high: f64,
    },
}

impl Margin {
    /// ±`reach`, in the unit of the samples.
    pub fn within(reach: f64) -> Self {
        Self::Difference { low: -reach, high: reach }
    }

    /// A ratio from 1 / (1 + `share`) to 1 + `share`: 0.05 for 5 %, the same seen from both
    /// sides, as elsewhere in this crate ([`Judgement`](crate::verdict::Judgement)).
    pub fn within_share(share: f64) -> Self {
        Self::Ratio { low: 1.0 / (1.0 + share), high: 1.0 + share }
    }

    /// Lower and upper bound on the scale of the test.
    fn bounds(self) -> Result<(f64, f64), SampleError> {
        let (low, high, none, domain) = match self {
            Self::Difference { low, high } => (low, high, 0.0, "low < 0 < high, both finite"),
            Self::Ratio { low, high } => (low, high, 1.0, "0 < low < 1 < high, both finite"),
        };
        let outside = |value| SampleError::bad_parameter("the margin", value, domain);
        if !(low < none && low.is_finite()) || (none == 1.0 && low <= 0.0) {
            return Err(outside(low));
        }
        if !(high > none && high.is_finite()) {
            return Err(outside(high));
        }
        Ok(if none == 1.0 { (low.ln(), high.ln()) } else { (low, high) })
    }

    /// From the scale of the test back to the reader's.
    fn back(self, value: f64) -> f64 {
        match self {
            Self::Difference { .. } => value,
            Self::Ratio { .. } => value.exp(),
        }
    }

    fn interval_back(self, interval: Interval) -> Interval {
        let (low, high) = (self.back(interval.low), self.back(interval.high));
        Interval { low, high, level: interval.level }
    }
}

/// The outcome of two one-sided tests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Equivalence {
    /// What was too small to matter.
    pub margin: Margin,
    /// The difference, or the ratio (not its logarithm) where the margin is one.
    pub estimate: f64,
    /// P-value of "it is at or below the lower bound".
    pub p_lower: f64,
    /// P-value of "it is at or above the upper bound".
    pub p_upper: f64,
    /// The larger of the two: the p-value of "not equivalent".
    pub p_value: f64,
    /// The interval of level 1 − 2α, on the scale of `estimate`.
    pub interval: Interval,
    /// Whether equivalence is shown: `p_value` < α.
    pub equivalent: bool,
    /// Whether a difference beyond the margin is shown instead: one of the opposite one-sided
    /// tests is significant, that is, the interval lies wholly outside of the margin.
    pub beyond: bool,
}

impl Equivalence {
    /// Tests whether `difference` lies inside `margin`, each side at `alpha` (0.05 as a rule).
    ///
    /// # Errors
    /// A margin without room on both sides of "no difference", or an α outside 0 to 0.5.
    pub fn test(
        difference: &MeanDifference,
        margin: Margin,
        alpha: f64,
    ) -> Result<Self, SampleError> {
        let (low, high) = margin.bounds()?;
        let alpha = checked_alpha(alpha)?;
        let (p_lower, p_upper) = (difference.p_above(low), difference.p_below(high));
        let p_value = p_lower.max(p_upper);
        Ok(Self {
            margin,
            estimate: margin.back(difference.estimate),
            p_lower,
            p_upper,
            p_value,
            interval: margin.interval_back(difference.interval(1.0 - 2.0 * alpha)),
            equivalent: p_value < alpha,
            beyond: difference.p_below(low) < alpha || difference.p_above(high) < alpha,
        })
    }
}

/// The outcome of a test of "not worse by more than the margin".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NonInferiority {
    /// The margin; only its worse side counts.
    pub margin: Margin,
    /// Which way is better for the first sample.
    pub better: Direction,
    /// The difference, or the ratio where the margin is one.
    pub estimate: f64,
    /// P-value of "the first is worse by the margin or more".
    pub p_value: f64,
    /// The interval of level 1 − 2α, whose worse end is the one-sided bound at α.
    pub interval: Interval,
    /// Whether it is shown: `p_value` < α.
    pub not_inferior: bool,
    /// P-value of "the first is no better": superiority may be tested after non-inferiority
    /// without correction, since the hypotheses are nested.
    pub p_superior: f64,
}

impl NonInferiority {
    /// Tests whether the first is not worse than the second by more than `margin`, at `alpha`.
    ///
    /// # Errors
    /// As [`Equivalence::test`].
    pub fn test(
        difference: &MeanDifference,
        margin: Margin,
        better: Direction,
        alpha: f64,
    ) -> Result<Self, SampleError> {
        let (low, high) = margin.bounds()?;
        let alpha = checked_alpha(alpha)?;
        let (p_value, p_superior) = match better {
            Direction::HigherIsBetter => (difference.p_above(low), difference.p_above(0.0)),
            Direction::LowerIsBetter => (difference.p_below(high), difference.p_below(0.0)),
        };
        Ok(Self {
            margin,
            better,
            estimate: margin.back(difference.estimate),
            p_value,
            interval: margin.interval_back(difference.interval(1.0 - 2.0 * alpha)),
            not_inferior: p_value < alpha,
            p_superior,
        })
    }
}

/// The logarithms of `values`, all of which must be above 0.
fn logarithms(values: &[f64], what: &str) -> Result<Vec<f64>, SampleError> {
    checked_values(values, what, 0)?;
    match values.iter().find(|&&value| value <= 0.0) {
        Some(&value) => Err(SampleError::NotPositive { what: format!("a value of {what}"), value }),
        None => Ok(values.iter().map(|value| value.ln()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFFERENCE: MeanDifference =
        MeanDifference { estimate: 0.5, standard_error: 1.0, df: 20.0 };

    /// The two ways to say it must agree, at any margin and for any α.
    #[test]
    fn equivalence_is_an_interval_inside_the_margin() {
        let (mut yes, mut no, mut beyond) = (0, 0, 0);
        for step in 1..60 {
            for alpha in [0.01, 0.05, 0.2] {
                for estimate in [0.5, 6.0] {
                    let reach = f64::from(step) * 0.1;
                    let difference = MeanDifference { estimate, ..DIFFERENCE };
                    let test =
                        Equivalence::test(&difference, Margin::within(reach), alpha).unwrap();
                    assert_eq!(test.equivalent, test.interval.lies_inside(-reach, reach));
                    let outside = test.interval.low > reach || test.interval.high < -reach;
                    assert_eq!(test.beyond, outside);
                    yes += usize::from(test.equivalent);
                    beyond += usize::from(test.beyond);
                    no += usize::from(!test.equivalent && !test.beyond);
                }
            }
        }
        assert!(yes > 20 && no > 20 && beyond > 20, "{yes} {no} {beyond}");
    }

    #[test]
    fn only_the_worse_side_counts_for_non_inferiority() {
        let margin = Margin::Difference { low: -2.0, high: 0.1 };
        let higher =
            NonInferiority::test(&DIFFERENCE, margin, Direction::HigherIsBetter, 0.05).unwrap();
        assert!(higher.not_inferior && higher.p_superior > 0.3 && higher.p_superior < 0.5);
        let lower =
            NonInferiority::test(&DIFFERENCE, margin, Direction::LowerIsBetter, 0.05).unwrap();
        assert!(!lower.not_inferior && lower.p_superior > 0.5);
    }

    #[test]
    fn a_ratio_and_its_inverse_are_judged_alike() {
        let (a, b) = ([100.0, 103.0, 98.0, 101.0], [99.0, 102.0, 100.0, 97.0]);
        let margin = Margin::within_share(0.05);
        let judge = |a: &[f64], b: &[f64]| {
            let ratio = MeanDifference::log_ratio_of_pairs(a, b).unwrap();
            Equivalence::test(&ratio, margin, 0.05).unwrap()
        };
        let (there, back) = (judge(&a, &b), judge(&b, &a));
        assert!((there.p_lower / back.p_upper - 1.0).abs() < 1e-12);
        assert!((there.estimate * back.estimate - 1.0).abs() < 1e-14);
        assert!((there.interval.low * back.interval.high - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_delta_method_agrees_with_logarithms_where_spreads_are_small() {
        let a = [100.0, 100.3, 99.8, 100.1, 99.9];
        let b = [90.2, 90.0, 89.9, 90.1, 90.05];
        let exact = MeanDifference::log_ratio_of_samples(&a, &b, Rule::Welch).unwrap();
        let delta = MeanDifference::log_ratio_of_moments(&a, &b).unwrap();
        assert!((delta.estimate - exact.estimate).abs() < 1e-5);
        assert!((delta.standard_error / exact.standard_error - 1.0).abs() < 1e-2);
        assert!((delta.df / exact.df - 1.0).abs() < 1e-2);
    }

    #[test]
    fn margins_must_leave_room_on_both_sides() {
        let fails = |margin| Equivalence::test(&DIFFERENCE, margin, 0.05).is_err();
        assert!(fails(Margin::Difference { low: 0.0, high: 1.0 }));
        assert!(fails(Margin::Difference { low: -1.0, high: f64::INFINITY }));
        assert!(fails(Margin::Ratio { low: 0.0, high: 1.1 }));
        assert!(fails(Margin::Ratio { low: 0.9, high: 1.0 }));
        assert!(Equivalence::test(&DIFFERENCE, Margin::within(1.0), 0.5).is_err());
        let zero = MeanDifference::log_ratio_of_pairs(&[1.0, 0.0], &[1.0, 2.0]);
        assert!(zero.unwrap_err().to_string().contains("a value of the first sample is 0"));
    }
}
