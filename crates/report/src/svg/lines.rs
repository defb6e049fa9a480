//! Interaction plots: a metric over the levels of a factor, a line for each datastore. Parallel lines mean that
//! the factors do not interact; where lines cross or diverge, the difference depends on the level.

use stormeter_study::Metric;

use super::whisker::{Across, whisker};
use super::{
    BOLD_CHARACTER, CHARACTER, Scale, WIDTH, chart, color_class, dashes, line, mark, metric_tick,
    path, spread, text, y_axis,
};
use crate::label::elide;
use crate::markup::Markup;

const LEFT: f64 = 62.0;
/// Characters of a datastore's name at the end of its line.
const LONGEST_NAME: usize = 14;
const TOP: f64 = 30.0;
const PLOT: f64 = 190.0;
const UNDER: f64 = 40.0;
const PANEL: f64 = TOP + PLOT + UNDER;
/// Values that differ by more than this factor are drawn on a logarithmic axis.
const LINEAR_UP_TO: f64 = 20.0;
/// Distance between the marks of one level, so that their intervals do not hide each other.
const DODGE: f64 = 6.0;

/// One picture: levels from left to right, a line for each series.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) levels: Vec<String>,
    /// Place in the legend, name, and a value with the ends of its interval at each level.
    pub(crate) series: Vec<(usize, String, Vec<Option<Point>>)>,
}

/// A value and the ends of its interval.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) value: f64,
    pub(crate) ends: Option<(f64, f64)>,
}

/// The panels in pairs and on one axis, so that they can be compared; `None` without a line to draw.
pub(crate) fn lines(panels: &[Panel], metric: Metric, id: &str, title: &str) -> Option<Markup> {
    if !panels.iter().any(|panel| panel.levels.len() > 1) {
        return None;
    }
    let common = axis(panels)?;
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let height = panels.len().div_ceil(columns) as f64 * PANEL;
    let names =
        panels.iter().flat_map(|panel| &panel.series).map(|series| series.1.chars().count());
    let longest = names.max().unwrap_or(0).min(LONGEST_NAME);
    let right = longest as f64 * BOLD_CHARACTER + 24.0;
    let mut markup = chart(id, height, title, &description(panels, metric));
    for (index, panel) in panels.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let width = WIDTH / columns as f64;
        let at = (column as f64 * width, row as f64 * PANEL);
        markup.tag("g").at("transform", format!("translate({:.0} {:.0})", at.0, at.1)).open();
        self::panel(&mut markup, panel, metric, &common, width - right);
        markup.close();
    }
    Some(markup)
}

/// An axis for these panels; `None` when they have no value.
fn axis(panels: &[Panel]) -> Option<Scale> {
    let points = || {
        panels.iter().flat_map(|panel| &panel.series).flat_map(|series| series.2.iter().flatten())
    };
    let values = || points().map(|point| point.value).filter(|value| value.is_finite());
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let ends =
        points().filter_map(|point| point.ends).map(|ends| ends.1).filter(|end| end.is_finite());
    // A wide interval must not squeeze everything else to the ground.
    let top = ends.fold(most, f64::max).min(most * 2.0);
    Some(if least > 0.0 && most / least > LINEAR_UP_TO {
        Scale::log_rounded(least, top, TOP + PLOT, TOP)
    } else {
        Scale::linear(0.0, top * 1.04, TOP + PLOT, TOP)
    })
}

fn panel(markup: &mut Markup, panel: &Panel, metric: Metric, y: &Scale, right: f64) {
    text(markup, "name start", (LEFT, 14.0), &elide(&panel.title, 44));
    let ticks: Vec<_> = y
        .of(metric)
        .ticks(7)
        .into_iter()
        .map(|value| (value, metric_tick(metric, value)))
        .collect();
    y_axis(markup, y, (LEFT, right), &ticks);
    let step = (right - LEFT) / panel.levels.len().max(1) as f64;
    let x = |level: usize| LEFT + (level as f64 + 0.5) * step;
    // Labels that would run into each other stand in two lines.
    let longest = panel.levels.iter().map(|level| level.chars().count()).max().unwrap_or(1);
    let is_tight = (longest as f64 + 1.0) * CHARACTER > step;
    let most = (if is_tight { 2.0 * step } else { step } / CHARACTER).max(5.0) as usize;
    for (level, name) in panel.levels.iter().enumerate() {
        let lower = if is_tight && level % 2 == 1 { 13.0 } else { 0.0 };
        text(markup, "tick middle", (x(level), TOP + PLOT + 17.0 + lower), &elide(name, most));
    }
    let aside = |place: usize| {
        let middle = (panel.series.len().max(1) - 1) as f64 / 2.0;
        (place as f64 - middle) * DODGE.min(step / (panel.series.len() as f64 + 1.0))
    };
    let mut ends = Vec::new();
    for (place, name, values) in &panel.series {
        let drawn: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .filter_map(|(level, point)| Some((x(level), (*point)?.value)))
            .filter(|(_, value)| value.is_finite())
            .map(|(x, value)| (x + aside(*place), y.at(value)))
            .collect();
        let Some(&last) = drawn.last() else { continue };
        markup
            .tag("path")
            .at("class", format!("line thick {}", color_class(*place)))
            .at("stroke-dasharray", dashes(*place))
            .at("d", path(&drawn))
            .empty();
        for (level, point) in values.iter().enumerate() {
            let Some(point) = point.filter(|point| point.value.is_finite()) else { continue };
            let at = x(level) + aside(*place);
            markup.tag("g").open();
            let value = metric_tick(metric, point.value);
            markup.leaf("title", &format!("{name}, {}: {value}", panel.levels[level]));
            if let Some(ends) = point.ends {
                let class = format!("own {}", color_class(*place));
                whisker(markup, &class, y, ends, Across::Column(at));
            }
            mark(markup, *place, at, y.at(point.value));
            markup.close();
        }
        ends.push((*place, name, last));
    }
    let wanted: Vec<f64> = ends.iter().map(|end| end.2.1).collect();
    let heights = spread(&wanted, 15.0, TOP, TOP + PLOT);
    for ((place, name, end), height) in ends.into_iter().zip(heights) {
        line(markup, "leader", (end.0 + 6.0, end.1), (right + 4.0, height)).empty();
        let class = format!("name start ink {}", color_class(place));
        text(markup, &class, (right + 8.0, height + 4.0), &elide(name, LONGEST_NAME));
    }
}

fn description(panels: &[Panel], metric: Metric) -> String {
    const MOST: usize = 40;
    let mut words = Vec::new();
    for panel in panels {
        for (_, name, values) in &panel.series {
            let each = panel.levels.iter().zip(values).filter_map(|(level, point)| {
                Some(format!("{level} {}", metric_tick(metric, (*point)?.value)))
            });
            words.push(format!("{}: {name}: {}", panel.title, each.collect::<Vec<_>>().join(", ")));
        }
    }
    if words.len() > MOST {
        words.truncate(MOST);
        words.push("the rest is in the matrix".into());
    }
    words.join(". ") + "."
}
