//! Sums that keep their digits.
//!
//! Numbers that share their leading digits (a throughput of 10 000 000.1 to 10 000 000.3) lose
//! their spread when they are added up carelessly. Here a sum carries what each addition rounded
//! off, a mean keeps the rest of its division, and deviations are taken from both parts; sums of
//! squares of such deviations then have all the digits that the values themselves had.
//!
//! Sources: the error of an addition, D. E. Knuth, *The Art of Computer Programming* 2, 4.2.2,
//! theorem B; carrying it along, A. Neumaier, *ZAMM* 54 (1974) 39-51; two passes for a variance,
//! Chan, Golub & LeVeque, *The American Statistician* 37 (1983) 242-247.

/// A number as the unevaluated sum of a rounded value and a small rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    /// A number without rest.
    pub(crate) fn new(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    /// This number and `value`, with the rounding error of the addition kept.
    pub(crate) fn plus(self, value: f64) -> Self {
        let high = self.high + value;
        let of_value = high - self.high;
        let error = (self.high - (high - of_value)) + (value - of_value);
        Self { high, low: self.low + error }
    }

    /// The sum of `values`.
    pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> Self {
        values.into_iter().fold(Self::default(), Self::plus)
    }

    /// This number and `other`, both with their rests.
    pub(crate) fn plus_twofold(self, other: Self) -> Self {
        self.plus(other.high).plus(other.low)
    }

    /// This number times `factor`, with the rest of the product.
    pub(crate) fn times(self, factor: f64) -> Self {
        let high = self.high * factor;
        let rest = self.high.mul_add(factor, -high);
        Self { high, low: self.low.mul_add(factor, rest) }
    }

    /// This number divided by `divisor`, with the rest of the division.
    pub(crate) fn over(self, divisor: f64) -> Self {
        let high = (self.high + self.low) / divisor;
        let rest = (-high).mul_add(divisor, self.high) + self.low;
        Self { high, low: rest / divisor }
    }

    /// `value` less this number.
    pub(crate) fn below(self, value: f64) -> f64 {
        (value - self.high) - self.low
    }

    /// This number less `other`.
    pub(crate) fn minus(self, other: Self) -> f64 {
        (self.high - other.high) + (self.low - other.low)
    }

    /// The nearest double.
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}

/// The sum of `values`, rounded once.
pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    Twofold::sum(values).value()
}

/// The mean of `values`, with its rest; NaN when there are none.
pub(crate) fn mean(values: &[f64]) -> Twofold {
    Twofold::sum(values.iter().copied()).over(values.len() as f64)
}

/// What each value has more than their mean.
pub(crate) fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|&value| mean.below(value)).collect()
}

/// Σ (x − x̄)². The terms have one sign, so plain products are good enough.
pub(crate) fn squares_about(values: &[f64], mean: Twofold) -> f64 {
    sum(values.iter().map(|&value| mean.below(value).powi(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_addition_rounds_off_is_kept() {
        // A plain sum gives 0.
        assert_eq!(sum([1e16, 1.0, -1e16]), 1.0);
        assert_eq!(Twofold::new(1e16).plus(1.0).minus(Twofold::new(1e16)), 1.0);
    }

    #[test]
    fn a_mean_keeps_the_rest_of_its_division() {
        // 1e16 + 1/3: the third is below the last digit of a double.
        let mean = mean(&[1e16, 1e16, 1e16 + 2.0]);
        assert!((mean.below(1e16) + 2.0 / 3.0).abs() < 1e-15);
        let back = mean.times(3.0);
        assert!((back.minus(Twofold::new(3e16)) - 2.0).abs() < 1e-14);
    }
}
