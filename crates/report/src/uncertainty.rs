//! A relative value with its interval: `±` where both sides are about equal, otherwise the interval itself, because
//! `264 ±616` would suggest −352.

use stormeter_statistics::Interval;

use crate::full::hundred;

/// Sides that differ by more than this share of the larger are not about equal.
const ALIKE: f64 = 0.2;
/// Beyond this, in per cent of the baseline, the exact size of the uncertainty does not matter.
const MOST: f64 = 9_999.0;

/// The candidate when the baseline is 100: `76.6 ±1.5`, `264 (79 to 880)`, `150 (1 to >9999)`.
pub(crate) fn relative(ratio: f64, interval: &Interval) -> String {
    let value = hundred(ratio);
    let (below, above) = ((ratio - interval.low) * 100.0, (interval.high - ratio) * 100.0);
    if !below.is_finite() {
        return format!("{value} (no bounds)");
    }
    let larger = below.max(above);
    if larger.is_finite() && (above - below).abs() <= ALIKE * larger {
        let digits = if ratio >= 10.0 { 0 } else { 1 };
        return format!("{value} ±{larger:.digits$}");
    }
    format!("{} ({} to {})", end(ratio), end(interval.low), end(interval.high))
}

/// An end of a wide interval: three digits are enough.
fn end(ratio: f64) -> String {
    match ratio * 100.0 {
        percent if !percent.is_finite() || percent > MOST => format!(">{MOST:.0}"),
        percent if percent >= 100.0 => format!("{percent:.0}"),
        percent if percent < 0.1 => "0".into(),
        percent => format!("{percent:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ratio: f64, low: f64, high: f64) -> String {
        relative(ratio, &Interval { low, high, level: 0.95 })
    }

    #[test]
    fn like_sides_are_plus_or_minus_and_unlike_ones_an_interval() {
        assert_eq!(shown(0.766, 0.751, 0.781), "76.6 ±1.5");
        assert_eq!(shown(21.3, 20.9, 21.7), "2130 ±40");
        assert_eq!(shown(2.637, 0.79, 8.80), "264 (79.0 to 880)");
        assert_eq!(shown(1.0, 1.0, 1.0), "100.0 ±0.0");
    }

    #[test]
    fn what_is_hardly_known_takes_no_more_room() {
        assert_eq!(shown(1.5, 1e-43, 1.38e43), "150 (0 to >9999)");
        assert_eq!(shown(1.5, 0.0, f64::INFINITY), "150 (0 to >9999)");
        assert_eq!(shown(1.5, f64::NEG_INFINITY, f64::INFINITY), "150.0 (no bounds)");
        assert_eq!(shown(1.5, f64::NAN, f64::NAN), "150.0 (no bounds)");
    }
}
