//! The observations of a cell as a histogram with the normal curve of their mean and SD, which shows at a glance
//! whether the assumption of a t test is far off.

use stormeter_statistics::{Bins, Histogram, Summary};

use super::{Scale, columns, line, path, small_chart, text};
use crate::markup::Markup;

const WIDTH: f64 = 236.0;
const HEIGHT: f64 = 132.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 108.0;
/// More columns than this are too narrow to be seen.
const MOST_COLUMNS: usize = 24;
/// Fewer observations are not drawn.
pub(crate) const LEAST: usize = 8;

/// The chart; `tick` writes values. `None` with fewer than [`LEAST`] observations or without a spread.
pub(crate) fn normal(
    observations: &[f64],
    spread: &Summary,
    tick: &dyn Fn(f64) -> String,
    name: &str,
    color: &str,
) -> Option<Markup> {
    let sd = spread.sd.filter(|sd| *sd > 0.0)?;
    if observations.len() < LEAST || !(spread.range > 0.0 && spread.range.is_finite()) {
        return None;
    }
    let bins = Bins::Automatic { most: MOST_COLUMNS };
    let histogram = Histogram::of(observations, bins)?;
    let curve = |value: f64| histogram.expected_count(value).unwrap_or(0.0);
    let edges = histogram.edges();
    let counts = &histogram.counts;
    let low = spread.min.min(spread.mean - 2.5 * sd);
    let high = spread.max.max(spread.mean + 2.5 * sd);
    let x = Scale::linear(low, high, 6.0, WIDTH - 6.0);
    let most = counts.iter().copied().max().unwrap_or(0) as f64;
    let y = Scale::linear(0.0, most.max(curve(spread.mean)) * 1.05, BOTTOM, TOP);
    let skewness = spread.skewness.map_or("unknown".into(), |skewness| format!("{skewness:.2}"));
    let description = format!(
        "{} observations, mean {}, SD {}, skewness {skewness}.",
        spread.n,
        tick(spread.mean),
        tick(sd)
    );
    let mut markup = small_chart((WIDTH, HEIGHT), name, &description);
    text(&mut markup, "note start", (6.0, 12.0), &crate::label::elide(name, 40));
    let columns = columns(
        edges
            .windows(2)
            .zip(counts)
            .map(|(edges, count)| ((x.at(edges[0]), x.at(edges[1])), y.at(*count as f64))),
        BOTTOM,
    );
    markup.tag("path").at("class", format!("fill column {color}")).at("d", columns).empty();
    let steps = 32;
    let points: Vec<(f64, f64)> = (0..=steps)
        .map(|step| low + (high - low) * f64::from(step) / f64::from(steps))
        .map(|value| (x.at(value), y.at(curve(value))))
        .collect();
    markup.tag("path").at("class", "curve").at("d", path(&points)).empty();
    line(&mut markup, "axis", (6.0, BOTTOM), (WIDTH - 6.0, BOTTOM)).empty();
    for value in [spread.min, spread.max] {
        let at = x.at(value).clamp(26.0, WIDTH - 26.0);
        line(&mut markup, "axis", (x.at(value), BOTTOM), (x.at(value), BOTTOM + 3.0)).empty();
        text(&mut markup, "note middle", (at, BOTTOM + 15.0), &tick(value));
    }
    Some(markup)
}
