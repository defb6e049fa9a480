//! Anything over time: panels of lines that share their horizontal axis, and marks across them for what
//! was done meanwhile.

use stormeter_units::{format_bytes, format_count};

use super::{Scale, duration_tick, line, path, spread, text, titled, y_axis};
use crate::markup::{Markup, coordinate};
use crate::model::StepMark;

/// Durations that vary by more than this factor are drawn on a logarithmic axis.
const LINEAR_UP_TO: f64 = 25.0;
/// The numbers of marks stand at least this far apart, however close their lines are.
const APART: f64 = 13.0;

/// How a panel's values are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// A count, such as IOPS.
    Count,
    /// Nanoseconds.
    Duration,
    /// A share from 0 to 1, on an axis to 1.
    Share,
    /// Whole CPUs, on an axis to 1 at least.
    Cpus,
    /// A small number, on an axis to 1 at least.
    Few,
    /// Bytes a second.
    Rate,
    /// Bytes.
    Bytes,
}

impl Unit {
    fn tick(self, value: f64) -> String {
        match self {
            _ if value == 0.0 => "0".into(),
            Unit::Count => format_count(value),
            Unit::Duration => duration_tick(value),
            Unit::Share => format!("{:.0} %", value * 100.0),
            Unit::Cpus | Unit::Few => format!("{}", (value * 100.0).round() / 100.0),
            Unit::Rate => format!("{}/s", format_bytes(value as u64)),
            Unit::Bytes => format_bytes(value as u64),
        }
    }
}

/// A line, or the level strokes of many trials.
pub(crate) struct Line {
    /// Its class: `line s1`, `line s1 pale`.
    pub(crate) class: String,
    /// How it is dashed; `none` for a full line.
    pub(crate) dashes: &'static str,
    /// What is shown when the pointer rests on it; `None` for its range.
    pub(crate) tooltip: Option<String>,
    pub(crate) form: Form,
}

pub(crate) enum Form {
    /// Points (time in nanoseconds, value); a line is broken where a value is not finite.
    Points(Vec<(f64, f64)>),
    /// Start, end, value: a level stroke each; with one text for each, every stroke says what it is.
    Levels(Vec<(f64, f64, f64)>, Vec<String>),
}

impl Line {
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let values: Box<dyn Iterator<Item = f64> + '_> = match &self.form {
            Form::Points(points) => Box::new(points.iter().map(|point| point.1)),
            Form::Levels(levels, _) => Box::new(levels.iter().map(|level| level.2)),
        };
        values.filter(|value| value.is_finite())
    }

    fn highest(&self) -> f64 {
        self.values().fold(0.0, f64::max)
    }

    fn lowest(&self) -> f64 {
        self.values().fold(self.highest(), f64::min)
    }

    fn is_empty(&self) -> bool {
        match &self.form {
            Form::Points(points) => points.is_empty(),
            Form::Levels(levels, _) => levels.is_empty(),
        }
    }
}

/// A picture of lines.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) lines: Vec<Line>,
}

impl Panel {
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.iter().all(Line::is_empty)
    }
}

/// Where a panel lies, and the time from left to right in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) span: (f64, f64),
}

impl Frame {
    /// The axis of time.
    pub(crate) fn x(&self) -> Scale {
        Scale::linear(self.span.0, self.span.1, self.left, self.right)
    }
}

/// Draws a panel.
pub(crate) fn panel(markup: &mut Markup, panel: &Panel, frame: Frame) {
    let Frame { left, right, top, bottom, .. } = frame;
    let x = frame.x();
    let most = panel.lines.iter().map(Line::highest).fold(0.0, f64::max);
    let high = match panel.unit {
        Unit::Share => 1.0,
        Unit::Cpus | Unit::Few if most <= 1.0 => 1.0,
        // Round powers of two are what byte rates are read in.
        Unit::Rate | Unit::Bytes => most.max(1024.0) * 1.05,
        _ => most * 1.05,
    };
    let positive = || panel.lines.iter().flat_map(Line::values).filter(|value| *value > 0.0);
    let least = positive().fold(f64::INFINITY, f64::min);
    let y = match panel.unit {
        Unit::Duration if most / least > LINEAR_UP_TO => {
            Scale::log_rounded(least, most, bottom, top)
        }
        unit => {
            Scale::linear(0.0, high, bottom, top).binary(matches!(unit, Unit::Rate | Unit::Bytes))
        }
    };
    text(markup, "note start", (left, top - 6.0), &panel.title);
    let ticks: Vec<(f64, String)> = y
        .ticks(((bottom - top) / if panel.unit == Unit::Few { 20.0 } else { 28.0 }) as usize)
        .into_iter()
        .map(|value| (value, panel.unit.tick(value)))
        .collect();
    y_axis(markup, &y, (left, right), &ticks);
    for line in panel.lines.iter().filter(|line| !line.is_empty()) {
        let drawn = match &line.form {
            Form::Points(points) => broken_path(points, &x, &y),
            Form::Levels(levels, tooltips) if tooltips.len() == levels.len() => {
                for (level, tooltip) in levels.iter().zip(tooltips) {
                    let drawn = strokes(std::slice::from_ref(level), &x, &y);
                    markup.tag("path").at("class", line.class.as_str()).at("d", drawn).open();
                    markup.leaf("title", tooltip);
                    markup.close();
                }
                continue;
            }
            Form::Levels(levels, _) => strokes(levels, &x, &y),
        };
        let tag = markup.tag("path").at("class", line.class.as_str());
        let tag = if line.dashes == "none" { tag } else { tag.at("stroke-dasharray", line.dashes) };
        tag.at("d", drawn).open();
        markup.leaf("title", &line.tooltip.clone().unwrap_or_else(|| range(panel, line)));
        markup.close();
    }
}

/// What a line is, with its lowest and highest value.
fn range(panel: &Panel, line: &Line) -> String {
    let (least, most) = (panel.unit.tick(line.lowest()), panel.unit.tick(line.highest()));
    format!("{}: {least} to {most}", panel.title)
}

/// The times under the lowest panels.
pub(crate) fn time_axis(markup: &mut Markup, frame: Frame, ticks: usize) {
    line(markup, "axis", (frame.left, frame.bottom), (frame.right, frame.bottom)).empty();
    for tick in time_ticks(frame.span.1, ticks) {
        let at = (frame.x().at(tick), frame.bottom + 15.0);
        text(markup, "tick middle", at, &duration_tick(tick));
    }
}

/// Draws what was done meanwhile: a line across the panel with a number, which a table next to the chart
/// explains.
pub(crate) fn marks(markup: &mut Markup, steps: &[StepMark], frame: Frame) {
    let Frame { left, right, top, bottom, .. } = frame;
    let at: Vec<f64> =
        steps.iter().map(|step| frame.x().at(step.at_ns as f64).clamp(left, right)).collect();
    let numbers = spread(&at, APART, left, right);
    for ((step, at), (number, place)) in steps.iter().zip(at).zip((1..).zip(numbers)) {
        titled(markup, "step", &format!("{number}: {}", step.what));
        line(markup, "mark", (at, top - 1.0), (at, bottom)).empty();
        text(markup, "note middle halo", (place, top + 8.0), &number.to_string());
        markup.close();
    }
}

/// Round times: seconds, minutes and hours as clocks have them, not powers of ten.
fn time_ticks(end_ns: f64, count: usize) -> Vec<f64> {
    const STEPS_S: [f64; 17] = [
        0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0,
        10_800.0, 21_600.0, 86_400.0,
    ];
    let rough = end_ns / 1e9 / count.max(1) as f64;
    let step = STEPS_S
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or((rough / 86_400.0).ceil() * 86_400.0);
    let most = (end_ns / 1e9 / step).floor().clamp(0.0, 100.0) as usize;
    (0..=most).map(|index| index as f64 * step * 1e9).collect()
}

fn broken_path(points: &[(f64, f64)], x: &Scale, y: &Scale) -> String {
    points
        .split(|point| !point.1.is_finite())
        .filter(|run| !run.is_empty())
        .map(|run| {
            let drawn: Vec<(f64, f64)> = run.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
            match drawn.as_slice() {
                // A point alone is a short stroke, or it would not show.
                [only] => path(&[(only.0 - 0.6, only.1), (only.0 + 0.6, only.1)]),
                drawn => path(drawn),
            }
        })
        .collect()
}

fn strokes(levels: &[(f64, f64, f64)], x: &Scale, y: &Scale) -> String {
    let mut drawn = std::collections::HashSet::new();
    let mut path = String::new();
    for &(from, to, value) in levels.iter().filter(|level| level.2.is_finite()) {
        let (from, at) = (x.at(from), coordinate(y.at(value)));
        let to = x.at(to).max(from + 1.0);
        let stroke = format!("M{} {at}H{}", coordinate(from), coordinate(to));
        // What would lie over another stroke is not drawn again.
        if drawn.insert(stroke.clone()) {
            path += &stroke;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_as_clocks_have_them() {
        let minutes = |ns: f64| time_ticks(ns, 6).into_iter().map(|t| t / 6e10).collect::<Vec<_>>();
        assert_eq!(minutes(25.0 * 6e10), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);
        assert_eq!(time_ticks(0.0, 6), [0.0]);
        assert!(time_ticks(1e18, 6).len() < 10);
    }

    #[test]
    fn a_line_is_broken_where_nothing_was_measured() {
        let (x, y) = (Scale::linear(0.0, 4.0, 0.0, 40.0), Scale::linear(0.0, 1.0, 10.0, 0.0));
        let points = [(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0)];
        assert_eq!(broken_path(&points, &x, &y), "M0 10L10 0M29.4 0L30.6 0");
        let levels = [(0.0, 1.0, 0.5), (0.0, 1.0, 0.5), (1.0, 2.0, f64::NAN)];
        assert_eq!(strokes(&levels, &x, &y), "M0 5H10");
    }

    #[test]
    fn every_step_has_a_line_where_it_started_and_numbers_do_not_overlap() {
        let step = |at_ns| StepMark {
            what: "pause <nas>".into(),
            at_ns,
            planned_ns: at_ns,
            took_ns: 0,
            recovery: None,
        };
        let mut markup = Markup::default();
        let frame = Frame { left: 0.0, right: 100.0, top: 20.0, bottom: 60.0, span: (0.0, 1000.0) };
        marks(&mut markup, &[step(500), step(510)], frame);
        let drawn = markup.finish();
        assert!(drawn.contains("x1=\"50\"") && drawn.contains("x1=\"51\""), "{drawn}");
        assert!(drawn.contains("x=\"50\"") && drawn.contains("x=\"63\""), "{drawn}");
        assert!(drawn.contains("1: pause &lt;nas&gt;"), "{drawn}");
    }
}
