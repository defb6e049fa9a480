//! How the numbers of an answer are written.

use stormeter_study::Metric;
use stormeter_study::question::{Change, Relation};
use stormeter_units::{format_bytes, format_count, format_duration_ns};

use crate::estimate::Interval;

/// `1 block`, `2 blocks`.
pub(super) fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn times(log: f64) -> String {
    let ratio = log.exp();
    if ratio < 0.1 { format!("× {ratio:.4}") } else { format!("× {ratio:.2}") }
}

fn signed_percent(log: f64) -> String {
    let percent = 100.0 * log.exp_m1();
    let digits = if percent.abs() < 1.0 { 2 } else { 1 };
    let text = format!("{:.digits$}", percent.abs());
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{text} %")
}

/// A change by this logarithm, with its interval: `+3.4 % (90 % CI +1.0 % to +5.9 %)`; to half or
/// double and beyond, `× 2.31`.
pub(super) fn change_with_interval(log: f64, interval: Option<&Interval>) -> String {
    let write = if log.abs() >= 2f64.ln() { times } else { signed_percent };
    match interval {
        None => write(log),
        Some(Interval { low, high, level }) => {
            format!("{} ({} CI {} to {})", write(log), percent(*level), write(*low), write(*high))
        }
    }
}

/// A level or margin: `95 %`.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{} %", (fraction * 1e4).round() / 100.0)
}

/// A value of a metric with its unit.
pub(crate) fn quantity(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Iops => format_count(value),
        Metric::Throughput => format!("{}/s", format_bytes(value.max(0.0) as u64)),
        Metric::HostCpu => format!("{:.1} %", 100.0 * value),
        _ => format_duration_ns(value),
    }
}

/// A p-value: `p = 0.012`, `p < 0.0001`.
pub(crate) fn p_value(p: f64) -> String {
    if p < 1e-4 { "p < 0.0001".into() } else { format!("p = {p:.4}") }
}

/// What is claimed of the subject, as a phrase and as its contrary.
pub(super) struct Phrase {
    /// `nas is faster than local`.
    pub(super) yes: String,
    /// `nas is not faster than local`.
    pub(super) no: String,
}

/// The phrase of a comparison. The metric's title goes where a phrase needs it.
pub(super) fn comparison(
    subject: &str,
    object: &str,
    relation: &Relation,
    metric: Metric,
) -> Phrase {
    let title = metric.title();
    let bound = |least: &str, percent: f64| match percent {
        0.0 if least == "at least" => String::new(),
        percent => format!("{least} {percent} % "),
    };
    let changed = |change: &Change, bound: String| match change {
        Change::Faster => ("is", "is not", format!("{bound}faster than {object} in {title}")),
        Change::Slower => ("is", "is not", format!("{bound}slower than {object} in {title}")),
        Change::Lower => ("has", "does not have", format!("{bound}lower {title} than {object}")),
        Change::Higher => ("has", "does not have", format!("{bound}higher {title} than {object}")),
    };
    let (is, is_not, rest) = match relation {
        Relation::Differs => {
            return Phrase {
                yes: format!("{subject} differs from {object} in {title}"),
                no: format!("{subject} does not differ from {object} in {title}"),
            };
        }
        Relation::Equal => ("is", "is not", format!("equal to {object} in {title}")),
        Relation::Within { percent } => {
            ("is", "is not", format!("within {percent} % of {object} in {title}"))
        }
        Relation::AtLeast { change, percent } => changed(change, bound("at least", *percent)),
        Relation::AtMost { change, percent } => changed(change, bound("at most", *percent)),
    };
    Phrase { yes: format!("{subject} {is} {rest}"), no: format!("{subject} {is_not} {rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_written_with_their_sign() {
        assert_eq!(change_with_interval(1.034f64.ln(), None), "+3.4 %");
        assert_eq!(change_with_interval(0.88f64.ln(), None), "−12.0 %");
        let interval = Interval { low: 1.8f64.ln(), high: 2.9f64.ln(), level: 0.9 };
        let text = change_with_interval(2.31f64.ln(), Some(&interval));
        assert_eq!(text, "× 2.31 (90 % CI × 1.80 to × 2.90)");
    }

    #[test]
    fn quantities_carry_their_unit() {
        assert_eq!(quantity(Metric::LatencyP99, 5e6), "5.00ms");
        assert_eq!(quantity(Metric::HostCpu, 0.256), "25.6 %");
        assert_eq!(p_value(0.01234), "p = 0.0123");
        assert_eq!(p_value(1e-9), "p < 0.0001");
    }

    #[test]
    fn phrases_have_a_contrary() {
        let relation = Relation::AtMost { change: Change::Higher, percent: 10.0 };
        let phrase = comparison("a", "b", &relation, Metric::CpuPerIo);
        assert_eq!(phrase.yes, "a has at most 10 % higher initiator CPU per I/O than b");
        assert_eq!(phrase.no, "a does not have at most 10 % higher initiator CPU per I/O than b");
    }
}
