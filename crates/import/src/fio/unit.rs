//! The unit in which fio measures latencies: it has changed once.

use crate::figure::Figure;

/// The unit of latencies, and with it the layout of the histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Since fio 2.99; keys end in `_ns`.
    Nanoseconds,
    /// Before. A latency is the difference of two clock readings that are each cut to whole microseconds, so that
    /// it is up to 1 µs too long or too short.
    Microseconds,
}

impl Unit {
    /// Nanoseconds of a unit.
    pub(crate) fn ns(self) -> f64 {
        match self {
            Self::Nanoseconds => 1.0,
            Self::Microseconds => 1e3,
        }
    }

    /// The error, in this unit, that the clock makes in addition to the printing.
    fn clock_error(self) -> f64 {
        match self {
            Self::Nanoseconds => 0.0,
            Self::Microseconds => 1.0,
        }
    }

    /// A value in this unit, with its printing's half digit, as nanoseconds.
    pub(crate) fn figure(self, value: f64, half: f64) -> Figure {
        Figure { value, half: half + self.clock_error() }.times(self.ns())
    }
}
