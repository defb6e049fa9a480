//! Each metric as its change from the baseline, all on one axis: a row a metric, a mark a candidate.
//!
//! Fewer IOPS are bad news and a lower latency is good news, so the side of the axis says which it is: the
//! better stands on the right. The number at the right, written as in the headline, has the sign.

use stormeter_statistics::Verdict;

use super::model::{Compact, MetricComparison};
use super::sentence::{sentence, verdict_sign, verdict_word, verdict_word_for};
use crate::change::{self, oriented};
use crate::full::words::better;
use crate::markup::Markup;
use crate::svg::dots::{Axis, Better, Dot, Dots, Mark, Row, dots};

/// The chart; `None` when there is nothing to compare.
pub(super) fn changes(report: &Compact) -> Option<Markup> {
    let candidates: Vec<usize> =
        (0..report.datastores.len()).filter(|&d| d != report.header.plan.baseline).collect();
    let groups: Vec<Vec<&MetricComparison>> = report
        .metrics()
        .into_iter()
        .map(|metric| candidates.iter().filter_map(|&c| report.comparison(c, metric)).collect())
        .filter(|group: &Vec<_>| !group.is_empty())
        .collect();
    let all = || groups.iter().flatten().map(|of| (of.metric.higher_is_better(), &of.comparison));
    let is_log = all().any(|(_, of)| change::is_multiple(of.ratio));
    let places = all().map(|(up, of)| oriented::place(of.ratio, up, is_log));
    let intervals =
        all().map(|(up, of)| oriented::ends((of.interval.low, of.interval.high), up, is_log));
    let axis = Axis { is_log, ..Axis::of_ratios(places, intervals, Better::Mirrored) };
    let rows = groups.iter().map(|group| row(report, group, is_log)).collect();
    dots(&Dots {
        id: "changes".into(),
        title: format!("Each metric against {}", report.label(report.header.plan.baseline)),
        axis,
        rows,
        reference: Some(1.0),
        tick: Box::new(move |place| oriented::tick(place, is_log)),
    })
}

fn row(report: &Compact, group: &[&MetricComparison], is_log: bool) -> Row {
    let Some(first) = group.first() else { return Row::default() };
    Row {
        heading: None,
        label: first.metric.title().into(),
        note: Some(better(first.metric)),
        is_strong: first.primary,
        dots: group.iter().map(|of| dot(report, of, is_log)).collect(),
    }
}

fn dot(report: &Compact, of: &MetricComparison, is_log: bool) -> Dot {
    let comparison = &of.comparison;
    let up = of.metric.higher_is_better();
    Dot {
        mark: Mark::Series(of.candidate),
        tooltip: sentence(report, of),
        words: format!(
            "{} {} {}",
            change::show(comparison.ratio),
            verdict_sign(comparison.verdict),
            verdict_word_for(of.metric, comparison.verdict)
        ),
        tone: verdict_word(comparison.verdict),
        value: Some(oriented::place(comparison.ratio, up, is_log)),
        ends: Some(oriented::ends((comparison.interval.low, comparison.interval.high), up, is_log)),
        is_settled: !matches!(comparison.verdict, Verdict::Inconclusive | Verdict::Invalid),
    }
}
