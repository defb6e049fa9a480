//! A number as printed: the digits show its precision, which a floating-point value loses (`255.0`
//! is known to a tenth, `255` to one).

use serde::Serialize;

/// A number with the digits it was printed with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Printed {
    /// The text as printed.
    pub text: String,
    /// Its value.
    #[serde(skip)]
    pub value: f64,
    /// Number of decimals.
    #[serde(skip)]
    pub decimals: u32,
}

/// How a computed value becomes the printed digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Rounded to the nearest.
    Rounded,
    /// Truncated.
    Truncated,
}

impl Printed {
    /// Reads a plain decimal number with an optional sign; `None` for anything else (exponents
    /// included: none of the studies prints them).
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let decimals = u32::try_from(fraction.len()).ok().filter(|decimals| *decimals <= 15)?;
        Some(Self { text: text.to_owned(), value: text.parse().ok()?, decimals })
    }

    /// One unit in the last printed digit.
    pub fn last_unit(&self) -> f64 {
        10f64.powi(-(self.decimals as i32))
    }

    /// Half of [`Self::last_unit`]: the largest change that rounding can have made.
    pub fn half_unit(&self) -> f64 {
        0.5 * self.last_unit()
    }

    /// Whether and how `value` becomes the printed number when it is reduced to its digits. A value
    /// exactly halfway between two printable ones may have gone either way.
    pub fn fits(&self, value: f64) -> Option<Digits> {
        // Tolerance for the last bits of binary arithmetic, far below any printed digit.
        let room = 1e-9 * self.last_unit() + 8.0 * f64::EPSILON * value.abs();
        if (value - self.value).abs() <= self.half_unit() + room {
            return Some(Digits::Rounded);
        }
        let beyond = (value.abs() - self.value.abs())
            * if same_side(value, self.value) { 1.0 } else { f64::NAN };
        (beyond >= -room && beyond < self.last_unit() - room).then_some(Digits::Truncated)
    }

    /// Whether any value from `low` to `high` fits.
    pub fn fits_within(&self, low: f64, high: f64) -> bool {
        let half = self.half_unit();
        let (mut from, mut to) = (self.value - half, self.value + half);
        if self.value >= 0.0 {
            to = self.value + self.last_unit();
        } else {
            from = self.value - self.last_unit();
        }
        low <= to && high >= from
    }
}

/// Whether both are on the same side of zero; zero is on both.
fn same_side(a: f64, b: f64) -> bool {
    a * b >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str, value: f64) -> Option<Digits> {
        Printed::read(text).unwrap().fits(value)
    }

    #[test]
    fn the_printed_digits_decide() {
        assert_eq!(fits("24.38", 24.3805), Some(Digits::Rounded));
        assert_eq!(fits("285.12", 285.1292), Some(Digits::Truncated));
        assert_eq!(fits("285.12", 285.1301), None);
        assert_eq!(fits("255.0", 255.0083), Some(Digits::Rounded));
        assert_eq!(fits("255.0", 255.1), None);
        assert_eq!(fits("255", 255.9), Some(Digits::Truncated));
        assert_eq!(fits("0", 0.4), Some(Digits::Rounded));
    }

    #[test]
    fn truncation_goes_towards_zero_on_either_side() {
        assert_eq!(fits("-188.316", -188.3168), Some(Digits::Truncated));
        assert_eq!(fits("-179.784", -179.7831), None);
        assert_eq!(fits("1", -1.2), None);
    }

    #[test]
    fn only_plain_numbers_are_read() {
        for text in ["", "-", ".5", "1e3", "1,5", "about 3", "NaN", "0x10", "1.0.0"] {
            assert_eq!(Printed::read(text), None, "{text}");
        }
        let number = Printed::read("-0.120").unwrap();
        assert_eq!((number.value, number.decimals, number.text.as_str()), (-0.12, 3, "-0.120"));
    }
}
