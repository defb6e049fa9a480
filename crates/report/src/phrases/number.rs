//! How the numbers in a sentence are written.

use stormeter_statistics::Interval;
use stormeter_study::Metric;
use stormeter_units::{format_bytes, format_count, format_duration_ns};

use crate::quantity;

/// A ratio as a change, with its interval: `+3.4 % (90 % CI +1.0 % to +5.9 %)`; from half or double on, `× 2.31`.
pub(super) fn change(ratio: f64, interval: Option<&Interval>) -> String {
    let write = if ratio.ln().abs() >= 2f64.ln() { times } else { signed_percent };
    with_interval(ratio, interval, write)
}

/// A value of a metric, with its interval: `5.0ms (90 % CI 4.2ms to 5.8ms)`.
pub(super) fn value(metric: Metric, value: f64, interval: Option<&Interval>) -> String {
    with_interval(value, interval, |value| of_metric(metric, value))
}

fn with_interval(value: f64, interval: Option<&Interval>, write: impl Fn(f64) -> String) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    match interval {
        None => write(value),
        Some(Interval { low, high, level }) => {
            let level = percent(*level);
            let ends = match low.is_finite() && high.is_finite() {
                true => format!("{} to {}", write(*low), write(*high)),
                false => "without bounds".into(),
            };
            format!("{} ({level} CI {ends})", write(value))
        }
    }
}

fn times(ratio: f64) -> String {
    if ratio < 0.1 { format!("× {ratio:.4}") } else { format!("× {ratio:.2}") }
}

fn signed_percent(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let digits = if percent.abs() < 1.0 { 2 } else { 1 };
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{:.digits$} %", percent.abs())
}

fn of_metric(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Iops => format_count(value),
        Metric::Throughput => format!("{}/s", format_bytes(value.max(0.0) as u64)),
        Metric::HostCpu => format!("{:.1} %", 100.0 * value),
        _ => format_duration_ns(value),
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
    crate::wording::plural(count as u64, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_written_with_their_sign() {
        assert_eq!(change(1.034, None), "+3.4 %");
        assert_eq!(change(0.88, None), "−12.0 %");
        let interval = Interval { low: 1.8, high: 2.9, level: 0.9 };
        assert_eq!(change(2.31, Some(&interval)), "× 2.31 (90 % CI × 1.80 to × 2.90)");
        assert_eq!(change(0.05, None), "× 0.0500");
        let endless = Interval { low: 0.0, high: f64::INFINITY, level: 0.95 };
        assert_eq!(change(1.5, Some(&endless)), "+50.0 % (95 % CI without bounds)");
        assert_eq!(change(f64::NAN, Some(&endless)), "–");
    }

    #[test]
    fn values_have_their_unit() {
        assert_eq!(value(Metric::LatencyP99, 5e6, None), "5.00ms");
        assert_eq!(value(Metric::HostCpu, 0.256, None), "25.6 %");
        assert_eq!(p_value(0.01234), "p = 0.0123");
        assert_eq!(p_value(1e-9), "p < 0.0001");
    }
}
