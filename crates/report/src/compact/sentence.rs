//! A verdict as a sentence that can be defended: who, by how much, how sure, on what evidence.
//!
//! Rates are stated of the datastore ("is 23.4 % slower in IOPS"); latencies and CPU costs are stated of
//! the metric ("its p99 latency is 31.0 % higher"), because "30 % slower" of
//! a latency can be read in two ways.

use stormeter_statistics::{Comparison, Interval, Verdict};
use stormeter_study::Metric;

use super::model::{Compact, MetricComparison};
use crate::change::{is_multiple, multiple};
use crate::model::{Finding, Severity};
use crate::quantity::{decimals, level_percent, percent};
use crate::title::Titles;
use crate::wording::plural;

/// The first sentences of a report: one for each candidate, or why there is no verdict.
pub fn headline(report: &Compact) -> Vec<String> {
    let sentences: Vec<String> =
        report.primaries().map(|comparison| sentence(report, comparison)).collect();
    if !sentences.is_empty() {
        return sentences;
    }
    let broken = report.findings.iter().find(|finding| finding.severity == Severity::Invalid);
    vec![match broken {
        Some(finding) => format!("The result is invalid: {}.", finding.what),
        None => format!(
            "No result yet: {} done, and a comparison needs at least 2.",
            plural(u64::from(report.status.blocks), "complete block")
        ),
    }]
}

/// The verdict of a comparison as a sentence with a full stop.
pub fn sentence(report: &Compact, of: &MetricComparison) -> String {
    let names = Names {
        candidate: report.label(of.candidate),
        baseline: report.label(of.baseline),
        margin: report.header.plan.design.margin,
        invalid_by: reason(&report.findings),
        titles: Titles::Usual,
    };
    sentence_of(&names, of.metric, &of.comparison)
}

/// The subjects of a verdict.
pub(crate) struct Names {
    /// Name of the candidate.
    pub(crate) candidate: String,
    /// Name of the baseline.
    pub(crate) baseline: String,
    /// The margin of equivalence, as a share.
    pub(crate) margin: f64,
    /// Why the result is invalid, if it is.
    pub(crate) invalid_by: String,
    /// What metrics are called.
    pub(crate) titles: Titles,
}

/// The verdict on a metric as a sentence with a full stop.
pub(crate) fn sentence_of(names: &Names, metric: Metric, comparison: &Comparison) -> String {
    let Names { candidate, baseline, invalid_by, titles, .. } = names;
    let title = titles.of(metric);
    let margin = percent(names.margin);
    let blocks = plural(comparison.blocks as u64, "block");
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            let but_small = if comparison.within_margin {
                format!("; the difference is real, but within the {margin} % margin")
            } else {
                String::new()
            };
            let claim = claim(candidate, baseline, (metric, title), comparison);
            format!("{claim}, {blocks}{but_small}.")
        }
        Verdict::Equivalent => format!(
            "{candidate} and {baseline} are equivalent in {}: the difference is within the \
             {margin} % margin ({}, {}), {blocks}.",
            title,
            change(comparison.ratio),
            straddling(&comparison.interval),
        ),
        Verdict::Inconclusive => {
            let either = either(candidate, baseline, (metric, title));
            let outlook = match comparison.blocks_needed {
                Some(needed) => format!("; about {needed} blocks would probably decide it"),
                None => "; more blocks are unlikely to decide it".to_string(),
            };
            format!(
                "Inconclusive: {either} (measured {}, {}, {blocks}){outlook}.",
                change(comparison.ratio),
                straddling(&comparison.interval),
            )
        }
        Verdict::Invalid => format!(
            "The result is invalid: {invalid_by}; nothing can be concluded about {candidate} and \
             {baseline} in {}.",
            title,
        ),
    }
}

/// A verdict in a word, for tables and as the class that colours it.
pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Invalid => "invalid",
    }
}

/// A sign next to the word or in its place, so that a verdict does not depend on its colour.
pub(crate) fn verdict_sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Equivalent => "=",
        Verdict::Inconclusive => "?",
        Verdict::Invalid => "✕",
    }
}

/// What the signs of these verdicts mean: `▲ better, ▼ worse`, where a line does not break after a sign.
pub(crate) fn signs(is_shown: impl Fn(Verdict) -> bool) -> String {
    let meanings = [
        (Verdict::Faster, "better"),
        (Verdict::Slower, "worse"),
        (Verdict::Equivalent, "equivalent"),
        (Verdict::Inconclusive, "inconclusive"),
        (Verdict::Invalid, "invalid"),
    ];
    let shown = meanings.into_iter().filter(|(verdict, _)| is_shown(*verdict));
    let shown =
        shown.map(|(verdict, meaning)| format!("{}\u{202f}{meaning}", verdict_sign(verdict)));
    shown.collect::<Vec<_>>().join(", ")
}

/// The word that fits the metric: a CPU cost is cheaper, not faster.
pub(crate) fn verdict_word_for(metric: Metric, verdict: Verdict) -> &'static str {
    match (kind(metric), verdict) {
        (MetricKind::Cost, Verdict::Faster) => "cheaper",
        (MetricKind::Cost, Verdict::Slower) => "costlier",
        _ => verdict_word(verdict),
    }
}

/// How sentences are worded for a metric.
enum MetricKind {
    Rate,
    Latency,
    Cost,
}

fn kind(metric: Metric) -> MetricKind {
    match metric {
        Metric::Iops | Metric::Throughput | Metric::Updates => MetricKind::Rate,
        Metric::CpuPerIo | Metric::TargetCpuPerIo | Metric::HostCpuPerIo | Metric::HostCpu => {
            MetricKind::Cost
        }
        _ => MetricKind::Latency,
    }
}

fn claim(
    candidate: &str,
    baseline: &str,
    (metric, title): (Metric, &str),
    comparison: &Comparison,
) -> String {
    let Comparison { ratio, interval, .. } = comparison;
    let Interval { low, high, .. } = *interval;
    let level = level_percent(interval.level);
    let (up, down) = match kind(metric) {
        MetricKind::Rate => ("faster", "slower"),
        MetricKind::Latency => ("higher", "lower"),
        MetricKind::Cost => ("more", "less"),
    };
    let word = if *ratio >= 1.0 { up } else { down };
    let by = format!("{} % {word}", decimals((ratio - 1.0).abs() * 100.0));
    let range = format!("{level} % CI {} {word}", range(low, high));
    let times = format!("{} times", multiple(*ratio));
    let times_range = format!("{level} % CI {} to {} times", multiple(low), multiple(high));
    let is_multiple = is_multiple(*ratio);
    match (kind(metric), is_multiple) {
        (MetricKind::Rate, false) => {
            format!("{candidate} is {by} than {baseline} in {title} ({range})")
        }
        (MetricKind::Rate, true) => {
            format!("{candidate} is {times} as fast as {baseline} in {title} ({times_range})")
        }
        (MetricKind::Latency, is_multiple) => {
            let relation = if *ratio >= 1.0 { "slower" } else { "faster" };
            let what = if is_multiple {
                format!("{times} as high ({times_range})")
            } else {
                format!("{by} ({range})")
            };
            format!("{candidate} is {relation} than {baseline}: its {title} is {what}")
        }
        (MetricKind::Cost, false) => {
            format!("{candidate} costs {by} {title} than {baseline} ({range})")
        }
        (MetricKind::Cost, true) => {
            format!("{candidate} costs {times} the {title} of {baseline} ({times_range})")
        }
    }
}

/// The distances of an interval that does not contain 1, the smaller first: `21.9 to 24.8 %`.
fn range(low: f64, high: f64) -> String {
    let mut ends = [(low - 1.0).abs() * 100.0, (high - 1.0).abs() * 100.0];
    ends.sort_by(f64::total_cmp);
    format!("{} to {} %", decimals(ends[0]), decimals(ends[1]))
}

/// `3.2 % lower`, `0.6 % higher`, `2.4 times as high`.
fn change(ratio: f64) -> String {
    if is_multiple(ratio) {
        return format!("{} times as high", multiple(ratio));
    }
    let word = if ratio >= 1.0 { "higher" } else { "lower" };
    format!("{} % {word}", decimals((ratio - 1.0).abs() * 100.0))
}

/// An interval that may contain 1.
fn straddling(interval: &Interval) -> String {
    let level = level_percent(interval.level);
    if !(interval.low.is_finite() && interval.high.is_finite()) {
        return format!("{level} % CI without bounds");
    }
    format!("{level} % CI {} to {}", change(interval.low), change(interval.high))
}

fn either(candidate: &str, baseline: &str, (metric, title): (Metric, &str)) -> String {
    match kind(metric) {
        MetricKind::Rate => {
            format!("{candidate} may be faster or slower than {baseline} in {title}")
        }
        MetricKind::Latency => {
            format!("{candidate} may have a higher or a lower {title} than {baseline}")
        }
        MetricKind::Cost => format!("{candidate} may cost more or less {title} than {baseline}"),
    }
}

pub(crate) fn reason(findings: &[Finding]) -> String {
    let found = findings.iter().find(|finding| finding.severity == Severity::Invalid);
    match found {
        Some(finding) if finding.subject.is_empty() => finding.what.clone(),
        Some(finding) => format!("{}: {}", finding.subject, finding.what),
        None => "a law is broken".to_string(),
    }
}
