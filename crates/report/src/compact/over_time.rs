//! IOPS and mean latency over the time of the run, with the blocks marked.
//!
//! The eye looks here for drift from block to block, for trials that did not settle, and for whether the
//! datastores took turns. Every trial is a line of its own; nothing is drawn between trials, because
//! nothing was measured there.

use stormeter_units::format_count;

use super::model::{Compact, TrialSeries};
use crate::markup::Markup;
use crate::model::SeriesPoint;
use crate::quantity::duration;
use crate::svg::over_time::{Form, Frame, Line, Panel, Unit, panel, time_axis};
use crate::svg::{WIDTH, chart, color_class, rect, text};

const LEFT: f64 = 66.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 42.0;
const PLOT: f64 = 165.0;
const GAP: f64 = 40.0;
const HEIGHT: f64 = TOP + 2.0 * PLOT + GAP + 44.0;
/// More points than pixels only make the page heavy.
const MOST_POINTS: usize = 3000;

/// The chart; `None` when no trial has a point.
pub(super) fn over_time(report: &Compact) -> Option<Markup> {
    let points: usize = report.trials.iter().map(|trial| trial.points.len()).sum();
    if points == 0 {
        return None;
    }
    let end = report.trials.iter().map(|trial| trial.end_ns).max()?;
    let title = "IOPS and mean latency over the time of the run";
    let mut markup = chart("series", HEIGHT, title, &description(report, end));
    let frames = [TOP, TOP + PLOT + GAP].map(|top| Frame {
        left: LEFT,
        right: WIDTH - RIGHT,
        top,
        bottom: top + PLOT,
        span: (0.0, end as f64),
    });
    blocks(&mut markup, report, &frames);
    let group = points.div_ceil(MOST_POINTS).max(1);
    for (one, frame) in panels(report, group).iter().zip(frames) {
        panel(&mut markup, one, frame);
    }
    time_axis(&mut markup, frames[1], 8);
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    text(&mut markup, "note middle", (middle, HEIGHT - 6.0), "time since the run started");
    Some(markup)
}

fn panels(report: &Compact, group: usize) -> [Panel; 2] {
    let thinned: Vec<(&TrialSeries, Vec<SeriesPoint>)> =
        report.trials.iter().map(|trial| (trial, thin(&trial.points, group))).collect();
    let panel = |title: &str, unit, value: fn(&SeriesPoint) -> Option<f64>| {
        let lines = thinned.iter().map(|(trial, points)| Line {
            class: format!("line {}", color_class(trial.datastore)),
            dashes: "none",
            tooltip: Some(in_words(report, trial)),
            form: Form::Points(
                points
                    .iter()
                    .filter_map(|point| Some((point.at_ns as f64, value(point)?)))
                    .collect(),
            ),
        });
        Panel { title: title.into(), unit, lines: lines.collect() }
    };
    [
        panel("IOPS", Unit::Count, |point| Some(point.iops)),
        panel("mean latency", Unit::Duration, |point| {
            point.latency_mean_ns.filter(|latency| *latency > 0.0)
        }),
    ]
}

/// A trial in words.
fn in_words(report: &Compact, trial: &TrialSeries) -> String {
    let latency = trial.latency_mean_ns.map(|ns| format!(", {}", duration(ns)));
    let (label, iops) = (report.label(trial.datastore), format_count(trial.iops));
    format!("{label}, block {}: {iops} IOPS{}", trial.block + 1, latency.unwrap_or_default())
}

/// A background for every other block, and their numbers where there is room.
fn blocks(markup: &mut Markup, report: &Compact, frames: &[Frame; 2]) {
    let x = frames[0].x();
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
        let class = if block % 2 == 0 { "band even" } else { "band" };
        for frame in frames {
            rect(markup, class, (from, frame.top), (to - from, frame.bottom - frame.top)).empty();
        }
        if index % every.max(1) == 0 {
            let number = (u64::from(block) + 1).to_string();
            text(markup, "tick middle", ((from + to) / 2.0, TOP - 22.0), &number);
        }
    }
    text(markup, "note end", (LEFT - 8.0, TOP - 22.0), "block");
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
