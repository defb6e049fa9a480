//! Each metric as its change from the baseline, with the interval as a whisker.
//!
//! A bar to the left is bad news of a rate and good news of a latency. So its end carries the colour of
//! the verdict, and the number at the right, written as in the headline, its sign. Where something is
//! more than four times the baseline the axis is logarithmic.

use stormeter_statistics::Verdict;

use super::scale::Scale;
use super::whisker::{Across, ends_of, whisker};
use super::{WIDTH, chart, color_class, line, text};
use crate::change::{self, OF_COMPARISON};
use crate::compact::model::{Compact, MetricComparison};
use crate::compact::sentence::{verdict_sign, verdict_word, verdict_word_for};
use crate::markup::Markup;

const LEFT: f64 = 148.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 26.0;
const BAR: f64 = 15.0;
const BAR_GAP: f64 = 4.0;
const GROUP_LEAST: f64 = 32.0;
const GROUP_GAP: f64 = 12.0;
/// Width of the coloured end.
const CAP: f64 = 5.0;
/// From this ratio on the axis is logarithmic.
const LINEAR_UP_TO: f64 = 4.0;
/// So many times beyond the longest bar a whisker may reach before it is cut off.
const REACH: f64 = 1.6;

/// The chart; `None` when there is nothing to compare.
pub(crate) fn bars(report: &Compact) -> Option<Markup> {
    let candidates: Vec<usize> =
        (0..report.datastores.len()).filter(|&d| d != report.header.plan.baseline).collect();
    let groups: Vec<Vec<&MetricComparison>> = report
        .metrics()
        .into_iter()
        .map(|metric| candidates.iter().filter_map(|&c| report.comparison(c, metric)).collect())
        .filter(|group: &Vec<_>| !group.is_empty())
        .collect();
    if groups.is_empty() {
        return None;
    }
    let group_height =
        |bars: usize| (bars as f64 * (BAR + BAR_GAP) - BAR_GAP).max(GROUP_LEAST) + GROUP_GAP;
    let height = TOP + groups.iter().map(|group| group_height(group.len())).sum::<f64>() + 26.0;
    let (scale, is_log) = scale(&groups);
    let baseline = report.label(report.header.plan.baseline);
    let mut markup = chart(
        "bars",
        height,
        &format!("Each metric against {baseline}"),
        &description(report, &groups),
    );
    let bottom = height - 26.0;
    for tick in scale.ticks(6) {
        let x = scale.at(tick);
        line(&mut markup, "grid", (x, TOP - 6.0), (x, bottom)).empty();
        text(&mut markup, "tick middle", (x, bottom + 16.0), &change::tick(tick, is_log));
    }
    let mut top = TOP;
    for group in &groups {
        self::group(&mut markup, report, &scale, group, top);
        top += group_height(group.len());
    }
    let x = scale.at(1.0);
    line(&mut markup, "baseline", (x, TOP - 6.0), (x, bottom)).empty();
    text(&mut markup, "note middle", (x, TOP - 11.0), &baseline);
    if is_log {
        text(&mut markup, "note end", (WIDTH, bottom + 16.0), "logarithmic axis");
    }
    Some(markup)
}

/// An axis that holds every bar, and every whisker as far as it is not cut off; and whether it is
/// logarithmic.
fn scale(groups: &[Vec<&MetricComparison>]) -> (Scale, bool) {
    let all = || groups.iter().flatten().map(|of| &of.comparison);
    let ratios = all().map(|comparison| comparison.ratio);
    let intervals = all().map(|comparison| (comparison.interval.low, comparison.interval.high));
    let (low, high) = ends_of(ratios, intervals, REACH);
    if high <= LINEAR_UP_TO {
        let reserve = (high - low).max(0.02) * 0.04;
        (Scale::linear((low - reserve).max(0.0), high + reserve, LEFT, WIDTH - RIGHT), false)
    } else {
        (Scale::log_rounded(low.min(0.8), high, LEFT, WIDTH - RIGHT), true)
    }
}

fn group(
    markup: &mut Markup,
    report: &Compact,
    scale: &Scale,
    group: &[&MetricComparison],
    top: f64,
) {
    let bars_height = group.len() as f64 * (BAR + BAR_GAP) - BAR_GAP;
    let middle = top + bars_height.max(GROUP_LEAST) / 2.0;
    let Some(first) = group.first() else { return };
    let metric = first.metric;
    let class = if first.primary { "name end strong" } else { "name end" };
    text(markup, class, (LEFT - 14.0, middle - 1.0), metric.title());
    let better = if metric.higher_is_better() { "more is better" } else { "less is better" };
    text(markup, "note end", (LEFT - 14.0, middle + 13.0), better);
    for (index, of) in group.iter().enumerate() {
        let y = middle - bars_height / 2.0 + index as f64 * (BAR + BAR_GAP);
        bar(markup, report, scale, of, y);
    }
}

fn bar(markup: &mut Markup, report: &Compact, scale: &Scale, of: &MetricComparison, y: f64) {
    let comparison = &of.comparison;
    let (foot, tip) = (scale.at(1.0), scale.at(comparison.ratio));
    let is_settled =
        matches!(comparison.verdict, Verdict::Faster | Verdict::Slower | Verdict::Equivalent);
    let faint = if is_settled { "" } else { " faint" };
    let word = verdict_word(comparison.verdict);
    markup.tag("g").open();
    markup.leaf("title", &crate::compact::sentence::sentence(report, of));
    let rect = |markup: &mut Markup, class: &str, from: f64, to: f64| {
        markup
            .tag("rect")
            .at("class", class)
            .at("x", from.min(to))
            .at("y", y)
            .at("width", (to - from).abs())
            .at("height", BAR)
            .empty();
    };
    rect(markup, "hit", LEFT, WIDTH);
    rect(markup, &format!("fill {}{faint}", color_class(of.candidate)), foot, tip);
    if is_settled {
        let width = CAP.min((tip - foot).abs()) * (tip - foot).signum();
        rect(markup, &format!("tone {word}"), tip - width, tip);
    }
    let middle = y + BAR / 2.0;
    let ends = (comparison.interval.low, comparison.interval.high);
    // A light line under the dark one keeps the whisker visible on the bar.
    for class in ["under", "over"] {
        whisker(markup, class, scale, ends, Across::Row(middle));
    }
    let value = format!(
        "{} {} {}",
        OF_COMPARISON.show(comparison.ratio),
        verdict_sign(comparison.verdict),
        verdict_word_for(of.metric, comparison.verdict)
    );
    let class = format!("value start tone {word}");
    text(markup, &class, (WIDTH - RIGHT + 14.0, middle + 4.5), &value);
    markup.close();
}

fn description(report: &Compact, groups: &[Vec<&MetricComparison>]) -> String {
    groups
        .iter()
        .flatten()
        .map(|of| {
            let comparison = &of.comparison;
            format!(
                "{}, {}: {} ({}). ",
                of.metric.title(),
                report.label(of.candidate),
                OF_COMPARISON.show(comparison.ratio),
                OF_COMPARISON.range(comparison.ratio, &comparison.interval)
            )
        })
        .collect()
}
