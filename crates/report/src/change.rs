//! How a ratio to the baseline is written: as a change, or beyond a factor of two as a multiple.
//!
//! A reader compares sentence, chart and table, and the pages of comparisons and studies, so all of them
//! write one number in one way.

use stormeter_statistics::Interval;

use crate::quantity::decimals;

/// Whether a ratio is written as a multiple.
pub(crate) fn is_multiple(ratio: f64) -> bool {
    ratio >= 2.0 || ratio <= 0.5
}

/// `−42.8 %`, `+3.4 %`, `21.3 times`; `–` for what is not finite.
pub(crate) fn show(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() => "–".into(),
        ratio if is_multiple(ratio) => format!("{}\u{202f}times", multiple(ratio)),
        ratio => format!("{}\u{202f}%", percent(ratio)),
    }
}

/// Both ends as the ratio itself is written: `−45.0 to −40.2 %`, `19.0 to 23.1 times`.
pub(crate) fn range(ratio: f64, interval: &Interval) -> String {
    let end = |end: f64| match end {
        end if !end.is_finite() || end <= 0.0 => "…".to_string(),
        end if is_multiple(ratio) && end > 1000.0 => "> 1000".into(),
        end if is_multiple(ratio) && end < 0.0001 => "0".into(),
        end if is_multiple(ratio) => multiple(end),
        // The exact size of such an uncertainty does not matter.
        end if end > 11.0 => "> +1000".into(),
        end => percent(end),
    };
    let unit = if is_multiple(ratio) { "times" } else { "%" };
    format!("{} to {}\u{202f}{unit}", end(interval.low), end(interval.high))
}

/// `2.4`, `0.42`, `0.0312`: at least two digits.
pub(crate) fn multiple(ratio: f64) -> String {
    let digits = match ratio {
        ratio if ratio < 0.1 => 4,
        ratio if ratio < 1.0 => 2,
        ratio if ratio >= 1000.0 => 0,
        _ => 1,
    };
    format!("{ratio:.digits$}")
}

fn percent(ratio: f64) -> String {
    let sign = if ratio < 1.0 { "−" } else { "+" };
    format!("{sign}{}", decimals((ratio - 1.0).abs() * 100.0))
}

/// A ratio at an axis: `−40 %`, `0 %` on a linear one, `0.5 times` on a logarithmic one.
pub(crate) fn tick(ratio: f64, is_log: bool) -> String {
    if is_log {
        return times(ratio);
    }
    let percent = (ratio - 1.0) * 100.0;
    let percent = (percent * 1000.0).round() / 1000.0;
    match percent {
        0.0 => "0\u{202f}%".into(),
        percent if percent < 0.0 => format!("−{}\u{202f}%", short(-percent)),
        percent => format!("+{}\u{202f}%", short(percent)),
    }
}

/// A multiple at an axis.
fn times(ratio: f64) -> String {
    match short(ratio).as_str() {
        "1" => "equal".into(),
        number => format!("{number}\u{202f}times"),
    }
}

/// A round number without needless zeros; none is rounded to nothing.
fn short(value: f64) -> String {
    let digits = match value {
        value if value > 0.0 => (1.0 - value.log10().floor()).clamp(4.0, 12.0) as usize,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Ratios of metrics of which some are better high and some low, on one axis: the better on the right.
/// A change keeps its size, and only its side says whether it is better.
pub(crate) mod oriented {
    use super::{short, times};

    /// Where a ratio stands: as itself where more is better.
    pub(crate) fn place(ratio: f64, higher_is_better: bool, is_log: bool) -> f64 {
        match (higher_is_better, is_log) {
            (true, _) => ratio,
            (false, true) => 1.0 / ratio,
            (false, false) => 2.0 - ratio,
        }
    }

    /// Both ends of an interval, the lower place first.
    pub(crate) fn ends(ends: (f64, f64), higher_is_better: bool, is_log: bool) -> (f64, f64) {
        let (low, high) =
            (place(ends.0, higher_is_better, is_log), place(ends.1, higher_is_better, is_log));
        if higher_is_better { (low, high) } else { (high, low) }
    }

    /// A place at the axis, without a sign, since the sign depends on the metric: `20 %`, `2 times`.
    pub(crate) fn tick(place: f64, is_log: bool) -> String {
        match is_log {
            true => times(place.max(1.0 / place)),
            false => {
                let percent = ((place - 1.0).abs() * 1e5).round() / 1e3;
                format!("{}\u{202f}%", short(percent))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_change_or_a_multiple() {
        let shown = [0.572, 0.992, 1.0, 1.0004, 2.5, 13.02, 0.42, 0.0312, f64::NAN];
        let shown = shown.map(|ratio| show(ratio).replace('\u{202f}', " "));
        let expected = [
            "−42.8 %",
            "−0.8 %",
            "+0.0 %",
            "+0.04 %",
            "2.5 times",
            "13.0 times",
            "0.42 times",
            "0.0312 times",
            "–",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn both_ends_of_an_interval_are_written_as_its_middle_is() {
        let range = |ratio: f64, low, high| {
            range(ratio, &Interval { low, high, level: 0.95 }).replace('\u{202f}', " ")
        };
        assert_eq!(range(0.572, 0.55, 0.598), "−45.0 to −40.2 %");
        assert_eq!(range(3.4, 2.5, 4.6), "2.5 to 4.6 times");
        assert_eq!(range(0.9, 0.0, f64::INFINITY), "… to … %");
        assert_eq!(range(0.9, 0.003, 324.0), "−99.7 to > +1000 %");
        assert_eq!(range(0.15, 1e-6, 1616.0), "0 to > 1000 times");
    }

    #[test]
    fn ticks_are_short() {
        let shown =
            [(1.0, false), (0.6, false), (1.002, false), (0.02, true), (20.0, true), (5e-6, true)];
        let shown = shown.map(|(ratio, is_log)| tick(ratio, is_log).replace('\u{202f}', " "));
        assert_eq!(shown, ["0 %", "−40 %", "+0.2 %", "0.02 times", "20 times", "0.000005 times"]);
    }

    #[test]
    fn what_is_better_stands_on_the_right() {
        for is_log in [false, true] {
            let low = oriented::place(0.8, false, is_log);
            assert!(low > 1.0 && oriented::place(0.8, true, is_log) < 1.0);
            let (from, to) = oriented::ends((0.7, 0.9), false, is_log);
            assert!(1.0 < from && from < low && low < to);
        }
        let tick = |place, is_log| oriented::tick(place, is_log).replace('\u{202f}', " ");
        assert_eq!(tick(0.8, false), tick(1.2, false));
        assert_eq!([0.5, 1.0, 2.0].map(|place| tick(place, true)), ["2 times", "equal", "2 times"]);
    }
}
