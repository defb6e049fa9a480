//! How the numbers in a sentence are written.

use stormeter_statistics::Interval;
use stormeter_study::Metric;

use crate::quantity;
use crate::title::Titles;
use crate::{change, wording};

/// A ratio as a change, with its interval: `+3.4 % (90 % CI +1.0 to +5.9 %)`; from half or double on, `2.3 times`.
pub(super) fn change(ratio: f64, interval: Option<&Interval>) -> String {
    with_interval(ratio, interval, change::show, change::range)
}

/// A value of a metric, with its interval: `5.00ms (90 % CI 4.20ms to 5.80ms)`.
pub(super) fn value(
    metric: Metric,
    value: f64,
    interval: Option<&Interval>,
    titles: Titles,
) -> String {
    let write = |value| of_metric(metric, value, titles);
    with_interval(value, interval, write, |_, Interval { low, high, .. }| {
        format!("{} to {}", write(*low), write(*high))
    })
}

fn with_interval(
    value: f64,
    interval: Option<&Interval>,
    write: impl Fn(f64) -> String,
    write_range: impl Fn(f64, &Interval) -> String,
) -> String {
    let text = match interval.filter(|_| value.is_finite()) {
        None => write(value),
        Some(interval) => {
            let ends = match interval.low.is_finite() && interval.high.is_finite() {
                true => write_range(value, interval),
                false => "without bounds".into(),
            };
            format!("{} ({} CI {ends})", write(value), percent(interval.level))
        }
    };
    // A sentence may be broken anywhere; a page joins a number to its unit again.
    text.replace('\u{202f}', " ")
}

fn of_metric(metric: Metric, value: f64, titles: Titles) -> String {
    match metric {
        Metric::HostCpu => format!("{:.1} %", 100.0 * value),
        _ => titles.quantity(metric, value).to_string(),
    }
}

/// A level or a margin: `95 %`.
pub(super) fn percent(fraction: f64) -> String {
    format!("{} %", quantity::percent(fraction))
}

/// A p-value: `p = 0.0123`, `p < 0.0001`.
pub(super) fn p_value(p: f64) -> String {
    if p < 1e-4 { "p < 0.0001".into() } else { format!("p = {p:.4}") }
}

/// `1 block`, `2 blocks`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    wording::plural(count as u64, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_written_with_their_sign() {
        assert_eq!(change(1.034, None), "+3.4 %");
        assert_eq!(change(0.88, None), "−12.0 %");
        let interval = Interval { low: 1.8, high: 2.9, level: 0.9 };
        assert_eq!(change(2.31, Some(&interval)), "2.3 times (90 % CI 1.8 to 2.9 times)");
        assert_eq!(change(0.05, None), "0.0500 times");
        let endless = Interval { low: 0.0, high: f64::INFINITY, level: 0.95 };
        assert_eq!(change(1.5, Some(&endless)), "+50.0 % (95 % CI without bounds)");
        assert_eq!(change(f64::NAN, Some(&endless)), "–");
    }

    #[test]
    fn values_have_their_unit() {
        assert_eq!(value(Metric::LatencyP99, 5e6, None, Titles::Usual), "5.00ms");
        assert_eq!(value(Metric::HostCpu, 0.256, None, Titles::Usual), "25.6 %");
        assert_eq!(p_value(0.01234), "p = 0.0123");
        assert_eq!(p_value(1e-9), "p < 0.0001");
    }
}
