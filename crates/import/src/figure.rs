//! A number as a file has it, and how far the printing may have moved it.

/// A number with the precision that it was printed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Its value, in the unit that the field says.
    pub value: f64,
    /// The largest change that rounding can have made to it, in the same unit: half of the last printed digit; 0 for
    /// counts.
    pub half: f64,
}

impl Figure {
    /// A count, or a setting: printing loses nothing.
    pub fn exact(value: f64) -> Self {
        Self { value, half: 0.0 }
    }

    /// Reads a number as printed (sign, digits, one point, exponent); `None` for anything else, infinities included.
    /// `12.30` is 12.295 to 12.305, and `12` is 11.5 to 12.5.
    pub fn printed(text: &str) -> Option<Self> {
        let text = text.trim();
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse().ok()?),
            None => (text, 0i32),
        };
        // Words such as `inf` have been refused, so what follows the point are digits.
        let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
        let half = 0.5 * 10f64.powi(exponent.saturating_sub(decimals));
        Some(Self { value, half })
    }

    /// The same quantity in another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half: self.half * factor.abs() }
    }

    /// The lowest and the highest value that are printed like this.
    pub fn bounds(self) -> (f64, f64) {
        (self.value - self.half, self.value + self.half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_digit_says_the_precision() {
        for (text, value, half) in [
            ("1.15", 1.15, 0.005),
            ("12", 12.0, 0.5),
            ("-0.50", -0.5, 0.005),
            ("1.2e3", 1200.0, 50.0),
            (" 7 ", 7.0, 0.5),
        ] {
            let figure = Figure::printed(text).unwrap();
            assert_eq!(figure.value, value, "{text}");
            assert!((figure.half - half).abs() < 1e-12 * half, "{text}: {}", figure.half);
        }
    }

    #[test]
    fn words_are_no_numbers() {
        for text in ["", "inf", "NaN", "1,5", "12 MB", "0x10", "1e999"] {
            assert_eq!(Figure::printed(text), None, "{text}");
        }
    }

    #[test]
    fn a_unit_scales_the_precision_too() {
        assert_eq!(Figure { value: 2.0, half: 0.5 }.times(1e3), Figure { value: 2e3, half: 500.0 });
        assert_eq!(Figure::exact(3.0).bounds(), (3.0, 3.0));
    }
}
