//! How many blocks find a difference, and what a finished study could have found.
//!
//! A study that finds nothing has shown little if it could have found little. The power of a t
//! test follows from the noncentral t law; the other questions are that one solved for the number
//! of blocks or for the difference. All in the unit of the SD: for ratios, give the SD of the
//! logarithms and the logarithm of the ratio.
//!
//! Source: J. Cohen, *Statistical Power Analysis for the Behavioral Sciences* (1988), 2.2 and 2.3,
//! with the noncentral t law in place of his tables.

use crate::moments::{SampleError, checked_alpha, inside_unit};
use crate::noncentral::noncentral_t_upper;
use crate::quantile::student_t_quantile;
use serde::{Deserialize, Serialize};

/// More blocks than this are not searched for: no study is as long.
pub const MOST_BLOCKS: usize = 10_000_000;

/// How the two sides are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Both in each block; the SD is that of the differences (or log-ratios) of the blocks, and
    /// n counts blocks.
    Paired,
    /// Apart; the SD is that within each side, and n counts the trials of one side.
    TwoSample,
}

/// Which differences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// Only those in one direction, fixed beforehand.
    One,
    /// Those in either direction.
    Two,
}

/// A t test whose power is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerStudy {
    /// How the sides are measured.
    pub design: Design,
    /// Which differences count.
    pub sides: Sides,
    /// Error probability of the test (0.05 for 5 %).
    pub alpha: f64,
    /// SD, as the design says; above 0.
    pub sd: f64,
}

impl PowerStudy {
    /// The probability to find a true `difference` with `n` blocks (or trials a side).
    ///
    /// # Errors
    /// A parameter outside its domain, or fewer than two blocks.
    pub fn power(&self, n: usize, difference: f64) -> Result<f64, SampleError> {
        self.check()?;
        if n < 2 {
            return Err(SampleError::TooFew { what: "the study".into(), n, needed: 2 });
        }
        if !difference.is_finite() {
            return Err(SampleError::NotFinite { what: "the difference".into() });
        }
        Ok(self.power_of(n as f64, difference))
    }

    /// The fewest blocks (or trials a side) that find a true `difference` with probability
    /// `power`.
    ///
    /// # Errors
    /// A parameter outside its domain, a difference of 0 (or, one-sided, below 0), or one so
    /// small that more than [`MOST_BLOCKS`] would be needed.
    pub fn blocks_needed(&self, difference: f64, power: f64) -> Result<usize, SampleError> {
        self.check()?;
        inside_unit("the power", power)?;
        let difference = if self.sides == Sides::Two { difference.abs() } else { difference };
        let too_small = SampleError::bad_parameter(
            "the difference",
            difference,
            "large enough compared with the SD to be found with 10 million blocks",
        );
        if !(difference > 0.0 && difference.is_finite()) {
            return Err(too_small);
        }
        let enough = |n: usize| self.power_of(n as f64, difference) >= power;
        let mut high = 2;
        while !enough(high) {
            high *= 2;
            if high > 2 * MOST_BLOCKS {
                return Err(too_small);
            }
        }
        // `low` is not enough (or 1, which is no study), `high` is.
        let mut low = (high / 2).max(1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle }
        }
        if high > MOST_BLOCKS { Err(too_small) } else { Ok(high) }
    }

    /// The difference that a study of `n` blocks (or trials a side) finds with probability
    /// `power`: above 0, in the unit of the SD. Of log-ratios, `exp` of it is the ratio.
    ///
    /// # Errors
    /// A parameter outside its domain, fewer than two blocks, or a power that is not above the
    /// test's own α.
    pub fn detectable_difference(&self, n: usize, power: f64) -> Result<f64, SampleError> {
        inside_unit("the power", power)?;
        if power <= self.power(n, 0.0)? {
            let (name, domain) = ("the power", "above alpha, such as 0.8");
            return Err(SampleError::bad_parameter(name, power, domain));
        }
        let n = n as f64;
        let (mut low, mut high) = (0.0, self.sd);
        while self.power_of(n, high) < power {
            low = high;
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high || high - low <= 1e-14 * high {
                break;
            }
            if self.power_of(n, middle) < power { low = middle } else { high = middle }
        }
        Ok(0.5 * (low + high))
    }

    fn power_of(&self, n: f64, difference: f64) -> f64 {
        let (df, error) = match self.design {
            Design::Paired => (n - 1.0, self.sd / n.sqrt()),
            Design::TwoSample => (2.0 * n - 2.0, self.sd * (2.0 / n).sqrt()),
        };
        let delta = difference / error;
        match self.sides {
            Sides::One => noncentral_t_upper(student_t_quantile(1.0 - self.alpha, df), df, delta),
            Sides::Two => {
                let critical = student_t_quantile(1.0 - 0.5 * self.alpha, df);
                noncentral_t_upper(critical, df, delta) + noncentral_t_upper(critical, df, -delta)
            }
        }
    }

    fn check(&self) -> Result<(), SampleError> {
        checked_alpha(self.alpha)?;
        if self.sd > 0.0 && self.sd.is_finite() {
            return Ok(());
        }
        Err(SampleError::bad_parameter("the SD", self.sd, "above 0 and finite"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: PowerStudy =
        PowerStudy { design: Design::Paired, sides: Sides::Two, alpha: 0.05, sd: 1.0 };

    #[test]
    fn the_three_questions_are_one() {
        for design in [Design::Paired, Design::TwoSample] {
            for sides in [Sides::One, Sides::Two] {
                let study = PowerStudy { design, sides, ..STUDY };
                for difference in [0.05, 0.4, 2.0] {
                    let n = study.blocks_needed(difference, 0.8).unwrap();
                    assert!(study.power(n, difference).unwrap() >= 0.8);
                    if n > 2 {
                        assert!(study.power(n - 1, difference).unwrap() < 0.8);
                    }
                    let detectable = study.detectable_difference(n, 0.8).unwrap();
                    assert!(detectable <= difference);
                    assert!((study.power(n, detectable).unwrap() - 0.8).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn the_unit_is_that_of_the_sd() {
        let scaled = PowerStudy { sd: 25.0, ..STUDY };
        let (a, b) = (STUDY.power(9, 0.7).unwrap(), scaled.power(9, 17.5).unwrap());
        assert!((a - b).abs() < 1e-14);
        assert!((STUDY.power(9, 0.0).unwrap() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn questions_without_an_answer_say_why() {
        assert!(STUDY.blocks_needed(0.0, 0.8).is_err());
        assert!(STUDY.blocks_needed(1e-6, 0.8).unwrap_err().to_string().contains("10 million"));
        assert!(STUDY.detectable_difference(10, 0.05).is_err());
        assert!(STUDY.power(1, 1.0).is_err());
        assert!(PowerStudy { sd: 0.0, ..STUDY }.power(5, 1.0).is_err());
        let one_sided = PowerStudy { sides: Sides::One, ..STUDY };
        assert!(one_sided.blocks_needed(-1.0, 0.8).is_err());
    }
}
