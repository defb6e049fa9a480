//! Limits with their units: `5ms`, `200MB/s`, `50%`, and back.

use stormeter_units::parse_duration_ns;

use crate::plan::Metric;

/// The value of a quantity in the metric's unit: I/Os per second, bytes per second, a fraction, or
/// nanoseconds.
pub(super) fn value_of(metric: Metric, text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let lower = text.to_lowercase();
    match metric {
        Metric::Iops => number(lower.strip_suffix("iops").unwrap_or(&lower)),
        Metric::Updates => number(lower.strip_suffix("/s").unwrap_or(&lower)),
        Metric::HostCpu => {
            let percent = lower.strip_suffix('%').or_else(|| lower.strip_suffix("percent"))?;
            number(percent).map(|percent| percent / 100.0).filter(|share| *share <= 1.0)
        }
        Metric::Throughput => {
            let units = [
                ("kib/s", 1024.0),
                ("mib/s", 1048576.0),
                ("gib/s", 1073741824.0),
                ("kb/s", 1e3),
                ("mb/s", 1e6),
                ("gb/s", 1e9),
                ("b/s", 1.0),
            ];
            let (unit, bytes) = units.into_iter().find(|(unit, _)| lower.ends_with(unit))?;
            number(lower.strip_suffix(unit)?).map(|value| value * bytes)
        }
        // A bare number would be seconds, which is never meant for a latency.
        _ if lower.ends_with(|last: char| last.is_ascii_digit()) => None,
        _ => parse_duration_ns(&lower).ok().map(|ns| ns as f64),
    }
}

/// A limit as written in a question: `5ms`, `200MB/s`, with the unit and the fewest digits that read
/// back without loss.
pub fn text_of(metric: Metric, value: f64) -> String {
    let units: &[(&str, f64)] = match metric {
        Metric::Iops | Metric::Updates => &[("", 1.0)],
        Metric::Throughput => &[("MB/s", 1e6), ("B/s", 1.0)],
        Metric::HostCpu => &[("%", 0.01)],
        _ => &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)],
    };
    let written =
        |digits: usize, (unit, size): (&str, f64)| format!("{:.digits$}{unit}", value / size);
    // Whole numbers in a larger unit before decimals in any.
    let tries = (0..=17).flat_map(|digits| units.iter().map(move |unit| written(digits, *unit)));
    let fallback = units.last().map(|unit| format!("{}{}", value / unit.1, unit.0));
    tries
        .into_iter()
        .find(|text| value_of(metric, text) == Some(value))
        .or(fallback)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_in_the_unit_of_their_metric() {
        assert_eq!(value_of(Metric::Iops, "20000"), Some(20000.0));
        assert_eq!(value_of(Metric::Iops, "20000iops"), Some(20000.0));
        assert_eq!(value_of(Metric::Throughput, "200MB/s"), Some(2e8));
        assert_eq!(value_of(Metric::Throughput, "1MiB/s"), Some(1048576.0));
        assert_eq!(value_of(Metric::HostCpu, "50%"), Some(0.5));
        assert_eq!(value_of(Metric::LatencyP99, "1.5ms"), Some(1.5e6));
        assert_eq!(value_of(Metric::CpuPerIo, "40us"), Some(4e4));
        assert_eq!(value_of(Metric::LatencyP99, "5"), None, "a unit is missing");
        assert_eq!(value_of(Metric::HostCpu, "150%"), None);
        assert_eq!(value_of(Metric::Throughput, "200"), None);
    }

    #[test]
    fn limits_are_written_as_people_do() {
        assert_eq!(text_of(Metric::LatencyP99, 5e6), "5ms");
        assert_eq!(text_of(Metric::Elapsed, 9e10), "90s");
        assert_eq!(text_of(Metric::HostCpu, 0.07), "7%");
        assert_eq!(text_of(Metric::Throughput, 2e8), "200MB/s");
        assert_eq!(text_of(Metric::Iops, 1234.5), "1234.5");
    }
}
