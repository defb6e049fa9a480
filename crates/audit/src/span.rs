//! A number that is known within bounds: what the printed digits leave open, carried through a computation.

/// A number between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Lowest possible value.
    pub low: f64,
    /// The value as printed, or computed from what is printed.
    pub middle: f64,
    /// Highest possible value.
    pub high: f64,
}

impl Span {
    /// A number that is known exactly.
    pub fn exact(value: f64) -> Self {
        Self { low: value, middle: value, high: value }
    }

    /// A number and how far rounding may have moved it.
    pub fn around(value: f64, half: f64) -> Self {
        Self { low: value - half, middle: value, high: value + half }
    }

    /// The same quantity in another unit; the factor is above zero.
    pub fn scaled(self, factor: f64) -> Self {
        Self { low: self.low * factor, middle: self.middle * factor, high: self.high * factor }
    }

    /// Of numbers that are not negative.
    pub fn times(self, other: Span) -> Self {
        let [low, middle, high] = [self.low.max(0.0), self.middle, self.high];
        Self {
            low: low * other.low.max(0.0),
            middle: middle * other.middle,
            high: high * other.high,
        }
    }

    /// Of numbers that are not negative.
    pub fn over(self, other: Span) -> Self {
        Self {
            low: self.low.max(0.0) / other.high,
            middle: self.middle / other.middle,
            high: self.high / other.low.max(0.0),
        }
    }

    /// The sum.
    pub fn plus(self, other: Span) -> Self {
        Self {
            low: self.low + other.low,
            middle: self.middle + other.middle,
            high: self.high + other.high,
        }
    }

    /// The difference.
    pub fn minus(self, other: Span) -> Self {
        Self {
            low: self.low - other.high,
            middle: self.middle - other.middle,
            high: self.high - other.low,
        }
    }

    /// The square root, of a number that is not negative.
    pub fn root(self) -> Self {
        Self {
            low: self.low.max(0.0).sqrt(),
            middle: self.middle.max(0.0).sqrt(),
            high: self.high.max(0.0).sqrt(),
        }
    }

    /// Whether some number is within both. Room for the last bits of arithmetic is added.
    pub fn meets(self, other: Span) -> bool {
        let room = 1e-9 * self.middle.abs().max(other.middle.abs());
        self.low <= other.high + room && other.low <= self.high + room
    }

    /// Whether every number of this is above every one of the other.
    pub fn is_above(self, other: Span) -> bool {
        self.low > other.high && !self.meets(other)
    }

    /// How many times the other this is, from middle to middle; `None` unless both are above zero.
    pub fn ratio(self, other: Span) -> Option<f64> {
        (self.middle > 0.0 && other.middle > 0.0).then(|| self.middle / other.middle)
    }

    /// How far apart both are at least, as the ratio of the nearer ends, 1 or more; `None` if they meet, or an end is
    /// not above zero.
    pub fn apart(self, other: Span) -> Option<f64> {
        if self.meets(other) {
            return None;
        }
        let (less, more) = if self.low > other.high { (other, self) } else { (self, other) };
        (less.high > 0.0).then(|| more.low / less.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_go_through_a_computation() {
        let product = Span::around(4.0, 0.5).times(Span::exact(2.0));
        assert_eq!((product.low, product.middle, product.high), (7.0, 8.0, 9.0));
        let quotient = Span::exact(9.0).over(Span::around(2.0, 1.0));
        assert_eq!((quotient.low, quotient.middle, quotient.high), (3.0, 4.5, 9.0));
        let difference = Span::around(5.0, 1.0).minus(Span::around(2.0, 0.5));
        assert_eq!((difference.low, difference.high), (1.5, 4.5));
    }

    #[test]
    fn what_touches_meets() {
        assert!(Span::around(1.0, 0.5).meets(Span::around(2.0, 0.5)));
        assert!(!Span::around(1.0, 0.4).meets(Span::around(2.0, 0.5)));
        assert_eq!(Span::around(1.0, 0.0).apart(Span::around(2.5, 0.5)), Some(2.0));
        assert_eq!(Span::around(1.0, 1.0).apart(Span::around(2.5, 0.5)), None);
        assert!(Span::exact(3.0).is_above(Span::around(2.0, 0.5)));
    }
}
