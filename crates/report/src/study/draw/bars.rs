//! One metric of a workload relative to the baseline (= 100): groups by load, a bar a datastore, in
//! the manner of NetApp TR-3808 (2010), with intervals as whiskers, which that report has not.

use stormeter_statistics::Verdict;
use stormeter_study::Metric;

use super::letter;
use crate::markup::Markup;
use crate::study::grid::{Grid, Load, hundred};
use crate::svg::{Scale, WIDTH, color_class, line, narrow_chart, text, y_axis};

const LEFT: f64 = 46.0;
/// Characters of a load's label, and the width of one.
const LONGEST_LABEL: usize = 18;
const NAME_CHARACTER: f64 = 7.6;
const TOP: f64 = 20.0;
const PLOT: f64 = 170.0;
const UNDER: f64 = 46.0;
const PANEL: f64 = TOP + PLOT + UNDER;
const GROUP_GAP: f64 = 22.0;
const NARROWEST: f64 = 9.0;
const WIDEST: f64 = 58.0;
/// Groups stand no further apart than this, or the eye no longer compares them.
const WIDEST_GAP: f64 = 84.0;
/// From this width on a bar has room for its number.
const NUMBERED: f64 = 27.0;
/// Beyond this bars from 0 hide the small ones, and the axis is logarithmic.
const LINEAR_UP_TO: f64 = 500.0;

/// So many times the longest bar a whisker may reach.
const WHISKER_REACH: f64 = 2.0;

/// The chart; `None` when nothing is relative to anything.
pub(crate) fn bars(grid: &Grid<'_>, workload: usize, metric: Metric, id: &str) -> Option<Markup> {
    let loads = grid.loads_of(workload);
    let relatives = |load: &&Load| load.cells.iter().any(|&c| grid.relative(c, metric).is_some());
    if !loads.iter().any(relatives) {
        return None;
    }
    let columns = grid.columns();
    let room = WIDTH - LEFT;
    let longest = loads.iter().map(|load| load.label.chars().count()).max().unwrap_or(0);
    let label = longest.min(LONGEST_LABEL) as f64 * NAME_CHARACTER + 14.0;
    let narrowest = (columns.len() as f64 * NARROWEST + GROUP_GAP).max(label);
    let most_groups = ((room / narrowest) as usize).max(1);
    let panels = loads.len().div_ceil(most_groups);
    let groups = loads.len().div_ceil(panels);
    let bar = (room / groups as f64 - GROUP_GAP) / columns.len() as f64;
    let bar = bar.clamp(NARROWEST * 0.4, WIDEST);
    let gap = room / groups as f64 - bar * columns.len() as f64;
    let gap = gap.clamp(GROUP_GAP * 0.5, WIDEST_GAP);
    let y = axis(grid, metric);
    let title = format!(
        "{} of {} relative to {} = 100",
        metric.title(),
        grid.workload(workload),
        grid.datastore(grid.baseline())
    );
    let height = panels as f64 * PANEL;
    let width = LEFT + groups as f64 * (bar * columns.len() as f64 + gap);
    let size = (width.min(WIDTH), height);
    let mut markup = narrow_chart(id, size, &title, &description(grid, &loads, metric));
    for (panel, loads) in loads.chunks(groups).enumerate() {
        let top = panel as f64 * PANEL;
        self::panel(&mut markup, grid, loads, metric, &y, (top, bar, gap));
    }
    Some(markup)
}

/// One axis for all workloads of a metric, so that their charts can be compared.
fn axis(grid: &Grid<'_>, metric: Metric) -> Scale {
    let relatives = || {
        let cells = grid.loads.iter().flat_map(|load| &load.cells);
        cells.filter_map(|&cell| grid.relative(cell, metric))
    };
    let hundreds = |ratios: &mut dyn Iterator<Item = f64>| {
        let within = ratios.map(|ratio| ratio * 100.0).filter(|at| at.is_finite() && *at > 0.0);
        within.fold((100.0f64, 100.0f64), |(low, high), at| (low.min(at), high.max(at)))
    };
    let (least, most) = hundreds(&mut relatives().map(|relative| relative.ratio));
    let intervals =
        || relatives().filter_map(|relative| Some(relative.comparison.as_ref()?.interval));
    let (low, high) = hundreds(&mut intervals().flat_map(|interval| [interval.low, interval.high]));
    // An interval that reaches far out does not press all else to the ground: its whisker is cut off.
    let low = low.max(least / WHISKER_REACH).min(least);
    let high = high.min(most * WHISKER_REACH).max(most);
    if high <= LINEAR_UP_TO {
        Scale::linear(0.0, high * 1.06, TOP + PLOT, TOP)
    } else {
        Scale::log_rounded(low.min(50.0), high, TOP + PLOT, TOP)
    }
}

/// A row of groups. `place` is the row's top, the width of a bar and the gap between groups.
fn panel(
    markup: &mut Markup,
    grid: &Grid<'_>,
    loads: &[&Load],
    metric: Metric,
    y: &Scale,
    place: (f64, f64, f64),
) {
    let (top, bar, gap) = place;
    let width = loads.len() as f64 * (grid.datastores() as f64 * bar + gap);
    markup.tag("g").at("transform", format!("translate(0 {top:.0})")).open();
    let right = LEFT + width;
    let ticks: Vec<_> = y.ticks(5).into_iter().map(|tick| (tick, hundredth(tick))).collect();
    y_axis(markup, y, (LEFT, right), &ticks);
    let at = y.at(100.0);
    let mut labels = Markup::default();
    let mut x = LEFT + gap / 2.0;
    for load in loads {
        let from = x;
        for (position, datastore) in grid.columns().into_iter().enumerate() {
            if let Some(&cell) = load.cells.get(datastore) {
                self::bar(markup, &mut labels, grid, cell, metric, y, (x, bar, position));
            }
            x += bar;
        }
        let middle = (from + x) / 2.0;
        let room = ((x - from + gap) / NAME_CHARACTER) as usize;
        let words = crate::label::elide(&load.label, room.clamp(4, LONGEST_LABEL));
        text(&mut labels, "name middle", (middle, TOP + PLOT + 34.0), &words);
        x += gap;
    }
    line(markup, "baseline", (LEFT, at), (right, at)).empty();
    markup.append(labels);
    markup.close();
}

/// A relative value at the axis, where 100 is the baseline: whole, unless it is below 1.
fn hundredth(value: f64) -> String {
    if value == 0.0 || value >= 0.95 { format!("{value:.0}") } else { decimals_below_one(value) }
}

/// One significant digit.
fn decimals_below_one(value: f64) -> String {
    let digits = (-value.log10().floor()).clamp(1.0, 9.0) as usize;
    format!("{value:.digits$}")
}

fn bar(
    markup: &mut Markup,
    labels: &mut Markup,
    grid: &Grid<'_>,
    cell: usize,
    metric: Metric,
    y: &Scale,
    place: (f64, f64, usize),
) {
    let (x, width, position) = place;
    let middle = x + width / 2.0;
    if width >= NARROWEST {
        text(labels, "tick middle", (middle, TOP + PLOT + 15.0), &letter(position));
    }
    let relative = grid.relative(cell, metric);
    let ratio = match relative {
        Some(relative) => relative.ratio,
        None if grid.is_baseline(cell) && grid.value(cell, metric).is_some() => 1.0,
        None => {
            text(labels, "note middle", (middle, TOP + PLOT - 4.0), "×");
            return;
        }
    };
    let foot = if y.low() > 0.0 { y.at(100.0) } else { y.at(0.0) };
    let tip = y.at(ratio * 100.0);
    let comparison = relative.and_then(|relative| relative.comparison.as_ref());
    let is_settled = comparison.is_none_or(|comparison| {
        !matches!(comparison.verdict, Verdict::Inconclusive | Verdict::Invalid)
    });
    let faint = if is_settled { "" } else { " faint" };
    markup
        .tag("rect")
        .at("class", format!("fill {}{faint}", color_class(position)))
        .at("x", x + 1.0)
        .at("y", foot.min(tip))
        .at("width", (width - 2.0).max(1.0))
        .at("height", (tip - foot).abs())
        .empty();
    let mut highest = tip.min(foot);
    if let Some(comparison) = comparison {
        let end = |ratio: f64, edge: f64| {
            if ratio.is_finite() { y.at(ratio * 100.0) } else { edge }
        };
        let low = end(comparison.interval.low, foot);
        let high = end(comparison.interval.high, TOP);
        highest = highest.min(high);
        // A light line under the dark one keeps the whisker visible on the bar.
        let reach = (width / 4.0).min(4.0);
        for class in ["whisker under", "whisker"] {
            line(markup, class, (middle, low), (middle, high)).empty();
            for at in [low, high] {
                line(markup, class, (middle - reach, at), (middle + reach, at)).empty();
            }
        }
    }
    if width >= NUMBERED {
        text(labels, "value middle halo", (middle, highest - 6.0), &hundred(ratio));
    }
}

fn description(grid: &Grid<'_>, loads: &[&Load], metric: Metric) -> String {
    const MOST: usize = 60;
    let cells = loads.iter().flat_map(|load| load.cells.iter().map(move |&cell| (load, cell)));
    let mut words: Vec<String> = cells
        .filter_map(|(load, cell)| {
            let relative = grid.relative(cell, metric)?;
            let datastore = grid.datastore(grid.cells[cell].datastore);
            Some(format!("{datastore}, {}: {}", load.label, hundred(relative.ratio)))
        })
        .collect();
    if words.len() > MOST {
        words.truncate(MOST);
        words.push("the rest is in the table".into());
    }
    words.join(". ") + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_at_an_axis_is_rounded_to_nothing() {
        let all = [0.0, 0.001, 0.02, 0.5, 1.0, 50.0, 2000.0].map(hundredth);
        assert_eq!(all, ["0", "0.001", "0.02", "0.5", "1", "50", "2000"]);
    }
}
