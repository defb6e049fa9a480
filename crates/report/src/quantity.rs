//! Metrics as people read them: a number of about three digits and a unit.

use stormeter_study::Metric;
use stormeter_units::{format_count, format_duration_ns};

use crate::compact::model::MetricValue;

/// A number and its unit: text joins them, a page puts a thin space between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity {
    pub(crate) number: String,
    pub(crate) unit: String,
}

impl Quantity {
    /// With narrow no-break spaces, for drawings and the page.
    pub(crate) fn typeset(&self) -> String {
        let number = self.number.replace(' ', "\u{202f}");
        if self.unit.is_empty() { number } else { format!("{number}\u{202f}{}", self.unit) }
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.number, self.unit)
    }
}

/// The unit of a metric's value as it is stored: `1/s`, `B/s`, `ns`, or `1` for a share.
pub fn metric_unit(metric: Metric) -> &'static str {
    match metric {
        Metric::Iops | Metric::Updates => "1/s",
        Metric::Throughput => "B/s",
        Metric::HostCpu => "1",
        _ => "ns",
    }
}

/// A metric's value for people: `128 431`, `501.7MiB/s`, `54.1µs`.
pub fn metric_value(metric: Metric, value: f64) -> String {
    quantity(metric, value).to_string()
}

pub(crate) fn quantity(metric: Metric, value: f64) -> Quantity {
    if !value.is_finite() {
        return unknown();
    }
    match metric {
        Metric::Iops | Metric::Updates if value.abs() < 100.0 => {
            Quantity { number: format!("{value:.1}"), unit: String::new() }
        }
        Metric::Iops | Metric::Updates => {
            Quantity { number: format_count(value), unit: String::new() }
        }
        Metric::Throughput => throughput(value),
        Metric::HostCpu => Quantity { number: format!("{:.1}", value * 100.0), unit: "%".into() },
        _ => duration(value),
    }
}

fn unknown() -> Quantity {
    Quantity { number: "–".into(), unit: String::new() }
}

/// A duration with three digits.
pub(crate) fn duration(ns: f64) -> Quantity {
    if !ns.is_finite() {
        return unknown();
    }
    let text = format_duration_ns(ns);
    let end = text.find(char::is_alphabetic).unwrap_or(text.len());
    Quantity { number: text[..end].into(), unit: text[end..].into() }
}

fn throughput(bytes_per_s: f64) -> Quantity {
    const UNITS: [&str; 4] = ["B/s", "KiB/s", "MiB/s", "GiB/s"];
    let mut value = bytes_per_s;
    let mut unit = 0;
    // Up to 9999 of a unit, so that MiB/s stay comparable between datastores.
    while value.abs() >= 10_000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value.abs() >= 1000.0 { 0 } else { 1 };
    Quantity { number: format!("{value:.digits$}"), unit: UNITS[unit].into() }
}

/// The half width of a value's interval as a share of it, in per cent: `1.2`; `None` without one.
pub(crate) fn spread_percent(value: &MetricValue) -> Option<String> {
    let interval = value.interval?;
    let half = interval.relative_half_width(value.value) * 100.0;
    // Beyond tenfold the exact size of the uncertainty does not matter.
    half.is_finite().then(|| if half > 999.0 { ">999".into() } else { decimals(half) })
}

/// A percentage with at least two digits: `240`, `23.4`, `1.2`, `0.04`.
pub(crate) fn decimals(percent: f64) -> String {
    match percent.abs() {
        size if !size.is_finite() => "–".into(),
        size if size >= 99.95 => format!("{percent:.0}"),
        size if size >= 0.095 || size == 0.0 => format!("{percent:.1}"),
        _ => format!("{percent:.2}"),
    }
}

/// A confidence level: `95`, `99.3`.
pub(crate) fn level_percent(level: f64) -> String {
    let text = format!("{:.1}", level * 100.0);
    text.strip_suffix(".0").map(String::from).unwrap_or(text)
}

/// A fraction as a percentage without needless zeros: 0.05 is `5`.
pub(crate) fn percent(fraction: f64) -> String {
    let text = format!("{:.2}", fraction * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_has_its_unit() {
        assert_eq!(metric_value(Metric::Iops, 128_431.0), "128 431");
        assert_eq!(metric_value(Metric::Iops, 12.34), "12.3");
        assert_eq!(metric_value(Metric::Throughput, 526_072_000.0), "501.7MiB/s");
        assert_eq!(metric_value(Metric::Throughput, 5_260_720_000.0), "5017MiB/s");
        assert_eq!(metric_value(Metric::LatencyP99, 54_120.0), "54.1µs");
        assert_eq!(metric_value(Metric::CpuPerIo, f64::NAN), "–");
        assert_eq!(duration(2.3e9), Quantity { number: "2.30".into(), unit: "s".into() });
    }

    #[test]
    fn percentages_keep_what_matters() {
        assert_eq!(decimals(240.4), "240");
        assert_eq!(decimals(23.44), "23.4");
        assert_eq!(decimals(0.04), "0.04");
        assert_eq!(decimals(0.0), "0.0");
        assert_eq!(level_percent(0.95), "95");
        assert_eq!(level_percent(0.99286), "99.3");
        assert_eq!(percent(0.05), "5");
        assert_eq!(percent(0.025), "2.5");
    }
}
