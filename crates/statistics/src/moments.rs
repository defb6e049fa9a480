//! The size, mean and standard deviation of a sample: all that a published table says about it, and
//! all that t tests and analyses of variance need.

use std::borrow::Cow;

use crate::describe::Summary;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a sample, or its summary from a table, cannot be analysed.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
pub enum SampleError {
    /// Too few values for what was asked.
    #[error("{what} has {n} value(s) and at least {needed} are needed: run more trials")]
    TooFew {
        /// Which sample.
        what: String,
        /// How many values it has.
        n: usize,
        /// How many it needs.
        needed: usize,
    },
    /// A NaN or an infinity among the values.
    #[error("{what} has a value that is not a finite number: leave that trial out or repeat it")]
    NotFinite {
        /// Which sample.
        what: String,
    },
    /// A negative or missing standard deviation.
    #[error("{what} has a standard deviation of {sd}; it must be 0 or more")]
    BadSd {
        /// Which sample.
        what: String,
        /// The standard deviation given.
        sd: f64,
    },
    /// No spread to measure a difference by.
    #[error(
        "{what}: all values are equal, so nothing distinguishes a difference from chance; check that they \
         were measured and not copied"
    )]
    NoSpread {
        /// Which samples.
        what: String,
    },
    /// Samples that belong together differ in length.
    #[error("pairs need samples of one length, and these have {a} and {b} values")]
    UnequalLengths {
        /// Length of the first.
        a: usize,
        /// Length of the second.
        b: usize,
    },
    /// A ratio of something that is not positive.
    #[error("{what} is {value}; a ratio needs values above 0, so use an absolute margin")]
    NotPositive {
        /// Which value.
        what: String,
        /// The value.
        value: f64,
    },
    /// A parameter outside its domain.
    #[error("{name} is {value}; it must be {domain}")]
    BadParameter {
        /// Which parameter.
        name: Cow<'static, str>,
        /// Its value.
        value: f64,
        /// What it may be.
        domain: Cow<'static, str>,
    },
}

impl SampleError {
    /// A parameter outside its domain.
    pub(crate) fn bad_parameter(name: &'static str, value: f64, domain: &'static str) -> Self {
        Self::BadParameter { name: name.into(), value, domain: domain.into() }
    }
}

/// Size, mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean, in the unit of the sample.
    pub mean: f64,
    /// Standard deviation with n − 1 in the denominator, in the unit of the sample; NaN where it
    /// is not known (a single value).
    pub sd: f64,
}

impl Moments {
    /// As published: size, mean and standard deviation.
    pub fn new(n: usize, mean: f64, sd: f64) -> Self {
        Self { n, mean, sd }
    }

    /// From a published standard error of the mean instead of a standard deviation.
    pub fn from_standard_error(n: usize, mean: f64, standard_error: f64) -> Self {
        Self { n, mean, sd: standard_error * (n as f64).sqrt() }
    }

    /// The variance with n − 1 in the denominator, in the squared unit.
    pub fn variance(&self) -> f64 {
        self.sd * self.sd
    }

    /// The standard error of the mean.
    pub fn standard_error(&self) -> f64 {
        self.sd / (self.n as f64).sqrt()
    }

    /// Σ (x − x̄)², in the squared unit: (n − 1) s², and 0 for a single value.
    pub fn sum_of_squares(&self) -> f64 {
        if self.n == 1 { 0.0 } else { (self.n as f64 - 1.0) * self.variance() }
    }

    /// `n` as a number to compute with.
    pub(crate) fn count(&self) -> f64 {
        self.n as f64
    }

    /// These moments if a test can use them; `what` names the sample in the error.
    pub(crate) fn checked(self, what: &str, needed: usize) -> Result<Self, SampleError> {
        let what = || what.to_owned();
        if self.n < needed {
            return Err(SampleError::TooFew { what: what(), n: self.n, needed });
        }
        if !self.mean.is_finite() {
            return Err(SampleError::NotFinite { what: what() });
        }
        if self.n > 1 && !(self.sd >= 0.0 && self.sd.is_finite()) {
            return Err(SampleError::BadSd { what: what(), sd: self.sd });
        }
        Ok(self)
    }
}

/// Of no values, or of values that are not finite, the mean is NaN, which every test refuses.
impl From<&[f64]> for Moments {
    fn from(values: &[f64]) -> Self {
        match Summary::of(values) {
            Some(summary) => {
                Self { n: summary.n, mean: summary.mean, sd: summary.sd.unwrap_or(f64::NAN) }
            }
            None => Self { n: values.len(), mean: f64::NAN, sd: f64::NAN },
        }
    }
}

impl<const N: usize> From<&[f64; N]> for Moments {
    fn from(values: &[f64; N]) -> Self {
        Self::from(values.as_slice())
    }
}

impl From<&Vec<f64>> for Moments {
    fn from(values: &Vec<f64>) -> Self {
        Self::from(values.as_slice())
    }
}

/// `level` if it is a confidence level.
pub(crate) fn checked_level(level: f64) -> Result<f64, SampleError> {
    inside_unit("the confidence level", level)
}

/// `alpha` if it is the error probability of a one-sided test.
pub(crate) fn checked_alpha(alpha: f64) -> Result<f64, SampleError> {
    if alpha > 0.0 && alpha < 0.5 {
        return Ok(alpha);
    }
    Err(SampleError::bad_parameter("alpha", alpha, "between 0 and 0.5, such as 0.05"))
}

/// `value` if it lies between 0 and 1, ends excluded.
pub(crate) fn inside_unit(name: &'static str, value: f64) -> Result<f64, SampleError> {
    if value > 0.0 && value < 1.0 {
        return Ok(value);
    }
    Err(SampleError::bad_parameter(name, value, "between 0 and 1, such as 0.95"))
}

/// `values` if there are at least `needed` and all are finite.
pub(crate) fn checked_values<'a>(
    values: &'a [f64],
    what: &str,
    needed: usize,
) -> Result<&'a [f64], SampleError> {
    if values.len() < needed {
        return Err(SampleError::TooFew { what: what.to_owned(), n: values.len(), needed });
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(SampleError::NotFinite { what: what.to_owned() });
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_and_tables_meet_in_moments() {
        let moments = Moments::from(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!((moments.n, moments.mean), (4, 2.5));
        assert!((moments.sum_of_squares() - 5.0).abs() < 1e-14);
        let published = Moments::from_standard_error(4, 2.5, moments.standard_error());
        assert!((published.sd - moments.sd).abs() < 1e-15);
    }

    #[test]
    fn what_no_test_can_use_is_refused_by_name() {
        let message = |moments: Moments| moments.checked("nas", 2).unwrap_err().to_string();
        assert!(message(Moments::from(&[1.0])).starts_with("nas has 1 value(s)"));
        assert!(message(Moments::from(&[1.0, f64::NAN])).contains("not a finite number"));
        assert!(message(Moments::new(5, 1.0, -1.0)).contains("standard deviation of -1"));
        assert!(Moments::from(&[3.0]).checked("one value", 1).is_ok());
    }
}
