//! Units that several formats print in, as factors to those of the values here: bytes, seconds, nanoseconds.

use crate::figure::Figure;

/// Nanoseconds of a microsecond.
pub(crate) const US: f64 = 1e3;
/// Nanoseconds of a millisecond.
pub(crate) const MS: f64 = 1e6;
/// Bytes of a binary kilobyte.
pub(crate) const KIB: f64 = 1024.0;
/// Bytes of a binary megabyte.
pub(crate) const MIB: f64 = 1_048_576.0;

/// The share of a percentage, without the digits that binary fractions add: 99.9 is 0.999.
pub(crate) fn share(percent: f64) -> f64 {
    (percent * 1e10).round() / 1e12
}

/// The figure with the precision of digits that were cut off, not rounded.
pub(crate) fn cut(figure: Figure) -> Figure {
    Figure { half: figure.half * 2.0, ..figure }
}
