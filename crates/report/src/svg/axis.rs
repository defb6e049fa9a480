//! Axes: grid lines, and values as an axis says them.

use stormeter_study::Metric;

use super::scale::Scale;
use super::shape::{line, text};
use crate::markup::Markup;
use crate::quantity::{duration, percent, quantity};

/// Horizontal grid lines with their values on the left.
pub(crate) fn y_axis(markup: &mut Markup, scale: &Scale, x: (f64, f64), ticks: &[(f64, String)]) {
    for (value, label) in ticks {
        let y = scale.at(*value);
        line(markup, "grid", (x.0, y), (x.1, y)).empty();
        text(markup, "tick end", (x.0 - 8.0, y + 4.0), label);
    }
}

/// A duration as an axis says it: `0`, `50 µs`, `1.5 ms`.
pub(crate) fn duration_tick(ns: f64) -> String {
    if ns == 0.0 {
        return "0".into();
    }
    let quantity = duration(ns);
    let number = match quantity.number.contains('.') {
        true => quantity.number.trim_end_matches('0').trim_end_matches('.'),
        false => &quantity.number,
    };
    format!("{number} {}", quantity.unit)
}

/// A metric's value at an axis.
pub(crate) fn metric_tick(metric: Metric, value: f64) -> String {
    match metric {
        Metric::HostCpu => format!("{}\u{202f}%", percent(value)),
        Metric::Iops | Metric::Throughput | Metric::Updates if value == 0.0 => "0".into(),
        Metric::Iops | Metric::Throughput | Metric::Updates => quantity(metric, value).typeset(),
        _ => duration_tick(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_unit_of_their_metric() {
        assert_eq!(metric_tick(Metric::Iops, 20_000.0), "20\u{202f}000");
        assert_eq!(metric_tick(Metric::LatencyMean, 1.5e6), "1.5 ms");
        assert_eq!(metric_tick(Metric::HostCpu, 0.5), "50\u{202f}%");
        assert_eq!(metric_tick(Metric::HostCpu, 0.0002), "0.02\u{202f}%");
    }
}
