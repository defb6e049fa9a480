//! IOPS and mean latency over the time of the run, with the blocks marked.
//!
//! What the eye is to find here: drift from block to block, trials that did not settle, and
//! whether the datastores took turns. Every trial is a line of its own; nothing is drawn between
//! trials, because nothing was measured there.

use super::scale::Scale;
use super::{WIDTH, chart, color_class, duration_tick, path, text, y_axis};
use crate::compact::model::{Compact, TrialSeries};
use crate::markup::Markup;
use crate::model::SeriesPoint;
use crate::quantity::duration;
use stormeter_units::format_count;

const LEFT: f64 = 66.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 42.0;
const PANEL: f64 = 165.0;
const GAP: f64 = 40.0;
const HEIGHT: f64 = TOP + 2.0 * PANEL + GAP + 44.0;
/// More points than pixels only make the page heavy.
const MOST_POINTS: usize = 3000;
/// A latency that varies more than this is drawn on a logarithmic axis.
const LINEAR_UP_TO: f64 = 25.0;

/// The chart; `None` when no trial has a point.
pub(crate) fn series(report: &Compact) -> Option<Markup> {
    let points: usize = report.trials.iter().map(|trial| trial.points.len()).sum();
    if points == 0 {
        return None;
    }
    let end = report.trials.iter().map(|trial| trial.end_ns).max()?;
    let x = Scale::linear(0.0, end as f64, LEFT, WIDTH - RIGHT);
    let mut markup = chart(
        "series",
        HEIGHT,
        "IOPS and mean latency over the time of the run",
        &description(report, end),
    );
    let low = TOP + PANEL + GAP;
    blocks(&mut markup, report, &x, &[(TOP, TOP + PANEL), (low, low + PANEL)]);
    text(&mut markup, "name start", (LEFT, TOP - 26.0), "IOPS");
    text(&mut markup, "name start", (LEFT, low - 12.0), "mean latency");

    let group = points.div_ceil(MOST_POINTS).max(1);
    let thinned: Vec<(&TrialSeries, Vec<SeriesPoint>)> =
        report.trials.iter().map(|trial| (trial, thin(&trial.points, group))).collect();
    let all = || thinned.iter().flat_map(|(_, points)| points);

    let most = all().map(|point| point.iops).fold(0.0, f64::max);
    let y = Scale::linear(0.0, most * 1.05, TOP + PANEL, TOP);
    let ticks: Vec<_> = y.ticks(4).into_iter().map(|value| (value, format_count(value))).collect();
    y_axis(&mut markup, &y, (LEFT, WIDTH - RIGHT), &ticks);
    let told = |trial: &TrialSeries| {
        let latency = trial.latency_mean_ns.map(|ns| format!(", {}", duration(ns)));
        let (label, iops) = (report.label(trial.datastore), format_count(trial.iops));
        let latency = latency.unwrap_or_default();
        format!("{label}, block {}: {iops} IOPS{latency}", trial.block + 1)
    };
    lines(&mut markup, &thinned, &x, &told, |point| Some(y.at(point.iops)));

    let latencies = || all().filter_map(|point| point.latency_mean_ns).filter(|ns| *ns > 0.0);
    let least = latencies().fold(f64::INFINITY, f64::min);
    let most = latencies().fold(0.0, f64::max);
    let y = if most / least > LINEAR_UP_TO {
        Scale::log_rounded(least, most, low + PANEL, low)
    } else {
        Scale::linear(0.0, most * 1.05, low + PANEL, low)
    };
    let ticks: Vec<_> = y.ticks(4).into_iter().map(|ns| (ns, duration_tick(ns))).collect();
    y_axis(&mut markup, &y, (LEFT, WIDTH - RIGHT), &ticks);
    lines(&mut markup, &thinned, &x, &told, |point| point.latency_mean_ns.map(|ns| y.at(ns)));

    for tick in x.ticks(8) {
        let at = (x.at(tick), low + PANEL + 18.0);
        text(&mut markup, "tick middle", at, &duration_tick(tick));
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    text(&mut markup, "note middle", (middle, HEIGHT - 6.0), "time since the run began");
    Some(markup)
}

/// A background for every other block, and their numbers where there is room.
fn blocks(markup: &mut Markup, report: &Compact, x: &Scale, panels: &[(f64, f64)]) {
    let mut spans: Vec<(u32, u64, u64)> = Vec::new();
    for trial in &report.trials {
        match spans.iter_mut().find(|(block, ..)| *block == trial.block) {
            Some((_, start, end)) => {
                *start = (*start).min(trial.start_ns);
                *end = (*end).max(trial.end_ns);
            }
            None => spans.push((trial.block, trial.start_ns, trial.end_ns)),
        }
    }
    spans.sort_unstable();
    let room = spans.iter().map(|&(_, a, b)| x.at(b as f64) - x.at(a as f64));
    let narrowest = room.fold(f64::INFINITY, f64::min);
    let every = (26.0 / narrowest.max(0.5)).ceil() as usize;
    for (index, &(block, start, end)) in spans.iter().enumerate() {
        let (from, to) = (x.at(start as f64), x.at(end as f64));
        for &(top, bottom) in panels {
            markup
                .tag("rect")
                .at("class", if block % 2 == 0 { "band even" } else { "band" })
                .at("x", from)
                .at("y", top)
                .at("width", to - from)
                .at("height", bottom - top)
                .empty();
        }
        if index % every.max(1) == 0 {
            let number = (u64::from(block) + 1).to_string();
            text(markup, "tick middle", ((from + to) / 2.0, TOP - 6.0), &number);
        }
    }
    text(markup, "note end", (LEFT - 8.0, TOP - 6.0), "block");
}

fn lines(
    markup: &mut Markup,
    trials: &[(&TrialSeries, Vec<SeriesPoint>)],
    x: &Scale,
    told: &dyn Fn(&TrialSeries) -> String,
    y: impl Fn(&SeriesPoint) -> Option<f64>,
) {
    for (trial, points) in trials {
        let drawn: Vec<(f64, f64)> =
            points.iter().filter_map(|point| Some((x.at(point.at_ns as f64), y(point)?))).collect();
        let class = color_class(trial.datastore);
        match drawn.as_slice() {
            [] => {}
            [(cx, cy)] => markup
                .tag("circle")
                .at("class", format!("fill {class}"))
                .at("cx", *cx)
                .at("cy", *cy)
                .at("r", 2.0)
                .empty(),
            drawn => {
                markup.tag("path").at("class", format!("line {class}")).at("d", path(drawn)).open();
                markup.leaf("title", &told(trial));
                markup.close();
            }
        }
    }
}

/// Every `group` neighbouring intervals as one point; all intervals of a trial are equally long.
fn thin(points: &[SeriesPoint], group: usize) -> Vec<SeriesPoint> {
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (count, sum) = values.fold((0usize, 0.0), |(n, sum), value| (n + 1, sum + value));
        (count > 0).then(|| sum / count as f64)
    };
    points
        .chunks(group)
        .map(|chunk| SeriesPoint {
            at_ns: chunk[0].at_ns,
            iops: mean(&mut chunk.iter().map(|point| point.iops)).unwrap_or(0.0),
            latency_mean_ns: mean(&mut chunk.iter().filter_map(|point| point.latency_mean_ns)),
        })
        .collect()
}

fn description(report: &Compact, end_ns: u64) -> String {
    let mut text = format!(
        "{} trials in {} blocks over {}. ",
        report.trials.len(),
        report.status.blocks,
        duration(end_ns as f64)
    );
    for datastore in 0..report.datastores.len() {
        let rates = || report.trials.iter().filter(|t| t.datastore == datastore).map(|t| t.iops);
        if rates().next().is_some() {
            text += &format!(
                "{}: {} to {} IOPS a trial. ",
                report.label(datastore),
                format_count(rates().fold(f64::INFINITY, f64::min)),
                format_count(rates().fold(0.0, f64::max))
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_mean_and_the_times() {
        let point = |at_ns, iops, latency_mean_ns| SeriesPoint { at_ns, iops, latency_mean_ns };
        let points = [point(0, 10.0, Some(4.0)), point(1, 30.0, None), point(2, 50.0, None)];
        let thinned = thin(&points, 2);
        assert_eq!(thinned, [point(0, 20.0, Some(4.0)), point(2, 50.0, None)]);
        assert_eq!(thin(&points, 1), points);
    }
}
