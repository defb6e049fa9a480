//! Each metric relative to the baseline (= 100), with the interval as a whisker.
//!
//! Bars begin at 0 as long as that leaves the small differences visible. Where something is more
//! than four times the baseline the axis is logarithmic and bars begin at the baseline, because a
//! bar from 0 has no meaning there.

use stormeter_statistics::Verdict;

use super::scale::Scale;
use super::{WIDTH, chart, color_class, line, text};
use crate::markup::Markup;
use crate::model::{MetricComparison, Report};

const LEFT: f64 = 148.0;
const RIGHT: f64 = 92.0;
const TOP: f64 = 26.0;
const BAR: f64 = 15.0;
const BAR_GAP: f64 = 4.0;
const GROUP_LEAST: f64 = 32.0;
const GROUP_GAP: f64 = 12.0;
const LINEAR_UP_TO: f64 = 400.0;

/// The chart; `None` when there is nothing to compare.
pub(crate) fn bars(report: &Report) -> Option<Markup> {
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
    let scale = scale(groups.iter().flatten().copied());
    let baseline = report.label(report.header.plan.baseline);
    let mut markup = chart(
        "bars",
        height,
        &format!("Each metric relative to {baseline} = 100"),
        &description(report, &groups),
    );
    let bottom = height - 26.0;
    for tick in scale.ticks(6) {
        let x = scale.at(tick);
        line(&mut markup, "grid", (x, TOP - 6.0), (x, bottom)).empty();
        text(&mut markup, "tick middle", (x, bottom + 16.0), &format!("{tick:.0}"));
    }
    // Bars, then the baseline across them, then the words across both.
    let mut labels = Markup::default();
    let mut top = TOP;
    for group in &groups {
        self::group(&mut markup, &mut labels, report, &scale, group, top);
        top += group_height(group.len());
    }
    let x = scale.at(100.0);
    line(&mut markup, "baseline", (x, TOP - 6.0), (x, bottom)).empty();
    markup.append(labels);
    text(&mut markup, "note middle", (x, TOP - 11.0), &format!("{baseline} = 100"));
    if scale.low() > 0.0 {
        text(&mut markup, "note end", (WIDTH, TOP - 11.0), "logarithmic axis");
    }
    Some(markup)
}

/// An axis that holds every bar and whisker with a finite end.
fn scale<'a>(comparisons: impl Iterator<Item = &'a MetricComparison>) -> Scale {
    let mut low: f64 = 100.0;
    let mut high: f64 = 100.0;
    for of in comparisons {
        let interval = of.comparison.interval;
        for end in [of.comparison.ratio, interval.low, interval.high].map(|ratio| ratio * 100.0) {
            // A whisker without end is drawn to the edge and does not set the axis.
            if end.is_finite() && end > 0.0 && end < 1e7 {
                low = low.min(end);
                high = high.max(end);
            }
        }
    }
    if high <= LINEAR_UP_TO {
        Scale::linear(0.0, high * 1.02, LEFT, WIDTH - RIGHT)
    } else {
        // Room for the numbers at the left ends too.
        Scale::log_rounded(low.min(80.0), high, LEFT + 44.0, WIDTH - RIGHT)
    }
}

fn group(
    markup: &mut Markup,
    labels: &mut Markup,
    report: &Report,
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
        bar(markup, labels, report, scale, of, y);
    }
}

fn bar(
    markup: &mut Markup,
    labels: &mut Markup,
    report: &Report,
    scale: &Scale,
    of: &MetricComparison,
    y: f64,
) {
    let comparison = &of.comparison;
    let foot = if scale.low() > 0.0 { scale.at(100.0) } else { scale.at(0.0) };
    let tip = scale.at(comparison.ratio * 100.0);
    let is_settled =
        matches!(comparison.verdict, Verdict::Faster | Verdict::Slower | Verdict::Equivalent);
    let faint = if is_settled { "" } else { " faint" };
    markup
        .tag("rect")
        .at("class", format!("fill {}{faint}", color_class(of.candidate)))
        .at("x", foot.min(tip))
        .at("y", y)
        .at("width", (tip - foot).abs())
        .at("height", BAR)
        .at("rx", 1.5)
        .open();
    markup.leaf("title", &crate::sentence::sentence(report, of));
    markup.close();
    let middle = y + BAR / 2.0;
    let end = |ratio: f64, edge: f64| {
        if ratio.is_finite() { scale.at(ratio * 100.0) } else { edge }
    };
    let low = end(comparison.interval.low, scale.at(scale.low()));
    let high = end(comparison.interval.high, scale.at(scale.high()));
    // A light line under the dark one keeps the whisker visible on the bar.
    for class in ["whisker under", "whisker"] {
        line(markup, class, (low, middle), (high, middle)).empty();
        for x in [low, high] {
            line(markup, class, (x, middle - 4.0), (x, middle + 4.0)).empty();
        }
    }
    let digits = if comparison.ratio >= 10.0 { 0 } else { 1 };
    let value = format!("{:.digits$}", comparison.ratio * 100.0);
    let (class, x) = if tip < foot {
        ("value end halo", low.min(tip) - 8.0)
    } else {
        ("value start halo", high.max(tip) + 8.0)
    };
    text(labels, class, (x, middle + 4.5), &value);
}

fn description(report: &Report, groups: &[Vec<&MetricComparison>]) -> String {
    groups
        .iter()
        .flatten()
        .map(|of| {
            let interval = of.comparison.interval;
            format!(
                "{}, {}: {:.1} ({:.1} to {:.1}). ",
                of.metric.title(),
                report.label(of.candidate),
                of.comparison.ratio * 100.0,
                interval.low * 100.0,
                interval.high * 100.0
            )
        })
        .collect()
}
