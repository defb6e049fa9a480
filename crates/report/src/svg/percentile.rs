//! Latency by percentile: how slow is the slowest half, tenth, hundredth, thousandth of the I/Os?
//!
//! The horizontal axis gives each further nine the same width (90, 99, 99.9 …) and the vertical one is logarithmic,
//! so that the tail is as visible as the median.

use super::scale::Scale;
use super::{
    BOLD_CHARACTER, WIDTH, chart, color_class, dashes, duration_tick, line, path, spread, text,
    y_axis,
};
use crate::compact::model::{Compact, LatencyDistribution, PercentilePoint};
use crate::markup::Markup;
use crate::quantity::duration;

const LEFT: f64 = 66.0;
const TOP: f64 = 14.0;
const HEIGHT: f64 = 380.0;
const BOTTOM: f64 = HEIGHT - 46.0;

/// Percentiles with a line and a label.
const MARKS: [(f64, &str); 9] = [
    (0.0, "0"),
    (0.5, "50"),
    (0.9, "90"),
    (0.99, "99"),
    (0.999, "99.9"),
    (0.9999, "99.99"),
    (0.99999, "99.999"),
    (0.999999, "99.9999"),
    (0.9999999, "99.99999"),
];

/// The chart; `None` when there is no curve.
pub(crate) fn percentile(report: &Compact) -> Option<Markup> {
    let curves: Vec<(&LatencyDistribution, Vec<PercentilePoint>)> = report
        .latencies
        .iter()
        .map(|latencies| (latencies, drawable(latencies)))
        .filter(|(_, points)| points.len() > 1)
        .collect();
    let latencies = curves.iter().flat_map(|(_, points)| points.iter().map(|p| p.latency_ns));
    let low = latencies.clone().fold(f64::INFINITY, f64::min);
    let high = latencies.fold(0.0, f64::max);
    let last = curves.iter().filter_map(|(_, points)| points.last());
    let end = last.map(|point| nines(point.fraction)).fold(1.0, f64::max);
    if curves.is_empty() {
        return None;
    }
    let longest = report.datastores.iter().map(|d| d.label.chars().count()).max().unwrap_or(0);
    let right = WIDTH - (longest as f64 * BOLD_CHARACTER + 12.0).min(210.0);
    let x = Scale::linear(0.0, end, LEFT, right);
    let y = Scale::log_rounded(low, high, BOTTOM, TOP);
    let mut markup =
        chart("percentiles", HEIGHT, "Latency by percentile", &description(report, &curves));
    let ticks: Vec<_> = y.ticks(9).into_iter().map(|ns| (ns, duration_tick(ns))).collect();
    y_axis(&mut markup, &y, (LEFT, right), &ticks);
    for (fraction, label) in MARKS.iter().filter(|(fraction, _)| nines(*fraction) <= end + 0.01) {
        let at = x.at(nines(*fraction));
        line(&mut markup, "grid", (at, TOP), (at, BOTTOM)).empty();
        text(&mut markup, "tick middle", (at, BOTTOM + 18.0), label);
    }
    let middle = (LEFT + right) / 2.0;
    text(&mut markup, "note middle", (middle, HEIGHT - 8.0), "percentile of the I/Os");
    let mut ends = Vec::new();
    for (latencies, points) in &curves {
        let drawn: Vec<(f64, f64)> =
            points.iter().map(|p| (x.at(nines(p.fraction)), y.at(p.latency_ns))).collect();
        markup
            .tag("path")
            .at("class", format!("line thick {}", color_class(latencies.datastore)))
            .at("stroke-dasharray", dashes(latencies.datastore))
            .at("d", path(&drawn))
            .empty();
        for (fraction, name) in MARKS.iter().skip(1) {
            let Some(latency) = latency_at(latencies, *fraction) else { continue };
            let label = report.label(latencies.datastore);
            markup
                .tag("circle")
                .at("class", "hit")
                .at("cx", x.at(nines(*fraction)))
                .at("cy", y.at(latency))
                .at("r", 8.0)
                .open();
            markup.leaf("title", &format!("{label}: p{name} {}", duration(latency)));
            markup.close();
        }
        ends.push(drawn.last().map_or((right, BOTTOM), |&end| end));
    }
    let wanted: Vec<f64> = ends.iter().map(|end| end.1).collect();
    let heights = spread(&wanted, 17.0, TOP + 6.0, BOTTOM);
    for (((latencies, _), end), height) in curves.iter().zip(&ends).zip(heights) {
        line(&mut markup, "leader", (end.0 + 2.0, end.1), (right + 6.0, height)).empty();
        let class = format!("name start ink {}", color_class(latencies.datastore));
        text(&mut markup, &class, (right + 9.0, height + 4.0), &report.label(latencies.datastore));
    }
    Some(markup)
}

/// The points that have a place on both axes.
fn drawable(latencies: &LatencyDistribution) -> Vec<PercentilePoint> {
    latencies
        .percentiles
        .iter()
        .copied()
        .filter(|p| (0.0..1.0).contains(&p.fraction) && p.latency_ns > 0.0)
        .filter(|p| p.latency_ns.is_finite())
        .collect()
}

/// 0.9 → 1, 0.99 → 2: the number of nines.
fn nines(fraction: f64) -> f64 {
    -(1.0 - fraction).log10()
}

/// The latency at a fraction, where the curve has that point.
pub(super) fn latency_at(latencies: &LatencyDistribution, fraction: f64) -> Option<f64> {
    let mut points = latencies.percentiles.iter();
    points.find(|point| (point.fraction - fraction).abs() < 1e-9).map(|point| point.latency_ns)
}

fn description(
    report: &Compact,
    curves: &[(&LatencyDistribution, Vec<PercentilePoint>)],
) -> String {
    let mut text = String::new();
    for (latencies, _) in curves {
        text += &format!("{}:", report.label(latencies.datastore));
        for (fraction, name) in MARKS.iter().skip(1) {
            if let Some(latency) = latency_at(latencies, *fraction) {
                text += &format!(" p{name} {}", duration(latency));
            }
        }
        text += ". ";
    }
    text
}
