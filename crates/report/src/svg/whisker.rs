//! Intervals as whiskers. One that reaches beyond the axis is clipped there and ends in an arrow: a wide
//! interval must not squeeze all others to a point, and must not look as if it ended at the edge.

use super::scale::Scale;
use super::{line, polygon};
use crate::change::is_multiple;
use crate::markup::Markup;

/// Half the length of the stroke across an end.
const CAP: f64 = 3.5;
const ARROW: f64 = 6.0;

/// Along which axis the interval lies, and where it stands on the other one.
#[derive(Clone, Copy)]
pub(crate) enum Across {
    /// The interval lies along x, at this y.
    Row(f64),
    /// The interval lies along y, at this x.
    Column(f64),
}

/// Draws an interval; `class` carries its colour.
pub(crate) fn whisker(
    markup: &mut Markup,
    class: &str,
    scale: &Scale,
    (low, high): (f64, f64),
    across: Across,
) {
    if low.is_nan() || high.is_nan() {
        return;
    }
    let reserve = (scale.high() - scale.low()).abs() * 1e-9;
    let is_cut = [low < scale.low() - reserve, high > scale.high() + reserve];
    let ends = [scale.at(low.max(scale.low())), scale.at(high.min(scale.high()))];
    let place = |along: f64, aside: f64| match across {
        Across::Row(y) => (along, y + aside),
        Across::Column(x) => (x + aside, along),
    };
    let class = format!("whisker {class}");
    line(markup, &class, place(ends[0], 0.0), place(ends[1], 0.0)).empty();
    let outwards = (ends[1] - ends[0]).signum();
    for (end, is_cut, outwards) in [(ends[0], is_cut[0], -outwards), (ends[1], is_cut[1], outwards)]
    {
        if !is_cut {
            line(markup, &class, place(end, -CAP), place(end, CAP)).empty();
            continue;
        }
        let head = [
            place(end - outwards * ARROW, -CAP - 0.5),
            place(end + outwards, 0.0),
            place(end - outwards * ARROW, CAP + 0.5),
        ];
        polygon(markup, &format!("arrow {class}"), head.into_iter());
    }
}

/// How many times beyond the farthest value an interval may reach before it is clipped.
const REACH: f64 = 1.6;

/// The range of an axis of ratios, and whether some of them are written as multiples. The range contains 1,
/// every value, and the ends of intervals up to `REACH` times beyond the farthest values.
pub(crate) fn ends_of(
    values: impl Iterator<Item = f64>,
    intervals: impl Iterator<Item = (f64, f64)>,
) -> (f64, f64, bool) {
    let is_drawable = |value: &f64| value.is_finite() && *value > 0.0 && *value < 1e9;
    let (least, most) = values
        .filter(is_drawable)
        .fold((1.0f64, 1.0f64), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = intervals
        .flat_map(|(low, high)| [low, high])
        .filter(is_drawable)
        .fold((least, most), |(low, high), end| (low.min(end), high.max(end)));
    let has_multiples = is_multiple(least) || is_multiple(most);
    (low.max(least / REACH), high.min(most * REACH), has_multiples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(low: f64, high: f64) -> String {
        let mut markup = Markup::default();
        let scale = Scale::linear(0.0, 10.0, 0.0, 100.0);
        whisker(&mut markup, "s1", &scale, (low, high), Across::Row(5.0));
        markup.finish()
    }

    #[test]
    fn an_interval_beyond_the_axis_ends_in_an_arrow() {
        assert_eq!(drawn(2.0, 8.0).matches("arrow").count(), 0);
        let cut = drawn(2.0, 1e6);
        assert_eq!(cut.matches("arrow").count(), 1);
        assert!(cut.contains("M94 1L101 5L94 9Z"), "{cut}");
        assert_eq!(drawn(f64::NEG_INFINITY, f64::INFINITY).matches("arrow").count(), 2);
        assert_eq!(drawn(f64::NAN, 1.0), "");
    }

    #[test]
    fn a_wide_interval_does_not_set_the_axis() {
        let (low, high, has_multiples) =
            ends_of([0.8, 1.1].into_iter(), [(0.001, 1e6)].into_iter());
        assert_eq!((low, high, has_multiples), (0.8 / REACH, 1.1 * REACH, false));
        assert_eq!(ends_of([0.9].into_iter(), [(0.85, 0.95)].into_iter()), (0.85, 1.0, false));
        assert_eq!(ends_of([0.4, 3.0].into_iter(), std::iter::empty()), (0.4, 3.0, true));
    }
}
