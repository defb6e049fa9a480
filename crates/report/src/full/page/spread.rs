//! The observations themselves: histograms with normal curves, and descriptive statistics.

use stormeter_statistics::CellSummary;
use stormeter_study::Unit;

use crate::full::grid::Grid;
use crate::full::words;
use crate::markup::Markup;
use crate::page::{tables, typographic};
use crate::quantity::decimals;
use crate::svg::{color_class, normal};

/// More small charts than this are folded away.
const MOST_UNFOLDED: usize = 12;
/// With fewer observations than this in every cell, only the columns that they can fill are shown.
const FEW: usize = 8;

pub(super) fn spread(grid: &Grid<'_>) -> Option<Markup> {
    let cells = &grid.report.analysis.cells;
    // A model that repeats itself has no spread to describe.
    let is_shown = |cell: &CellSummary| {
        cell.spread.is_some_and(|spread| grid.is_shown(spread.cv.unwrap_or(f64::INFINITY)))
    };
    if !cells.iter().any(is_shown) {
        return None;
    }
    let metric = grid.report.plan().design.metric;
    let charts: Vec<Markup> = cells
        .iter()
        .enumerate()
        .filter_map(|(index, cell)| {
            let place = grid.cells.get(index).map_or(0, |cell| grid.hue(cell.datastore));
            let name = grid.name(index);
            let tick = |value| grid.titles_of(index).tick(metric, value);
            normal(&cell.observations, cell.spread.as_ref()?, &tick, &name, &color_class(place))
        })
        .collect();
    let mut page = Markup::default();
    if !charts.is_empty() {
        let is_folded = charts.len() > MOST_UNFOLDED;
        if is_folded {
            page.tag("details").open();
            page.leaf("summary", &format!("{} histograms with normal curves", charts.len()));
        }
        page.tag("div").at("class", "smalls").open();
        for chart in charts {
            page.append(chart);
        }
        page.close();
        page.tag("p").at("class", "caption").text(&format!(
            "{} of each observation of a cell; the curve is the normal distribution of their mean and SD.",
            grid.title(metric)
        ));
        if is_folded {
            page.close();
        }
    }
    table(&mut page, grid);
    Some(page)
}

fn table(page: &mut Markup, grid: &Grid<'_>) {
    let metric = grid.report.plan().design.metric;
    let cells = &grid.report.analysis.cells;
    let dependent = cells.iter().any(|cell| cell.dependence.is_some());
    // A handful of values has no shape.
    let is_few = cells.iter().all(|cell| cell.spread.is_none_or(|spread| spread.n < FEW));
    let heads: &[&str] = match is_few {
        true => &["cell", "n", "mean", "SD", "CV", "least", "most"],
        false => &[
            "cell", "n", "mean", "SE", "SD", "variance", "median", "least", "most", "range", "CV",
            "skewness",
        ],
    };
    let mut head: Vec<String> = heads.iter().map(|head| head.to_string()).collect();
    if dependent {
        head.extend(["lag\u{2011}1", "eff. n"].map(String::from));
    }
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".into());
    let rows = cells.iter().enumerate().filter_map(|(index, cell)| {
        let spread = cell.spread?;
        let show = |value: f64| grid.quantity(index, metric, value).typeset();
        let (sd, cv) = (
            or_dash(spread.sd.map(show)),
            or_dash(spread.cv.map(|cv| format!("{}\u{202f}%", decimals(cv * 100.0)))),
        );
        let (name, n, mean) = (grid.name(index), spread.n.to_string(), show(spread.mean));
        let (least, most) = (show(spread.min), show(spread.max));
        let mut row = match is_few {
            true => vec![name, n, mean, sd, cv, least, most],
            false => vec![
                name,
                n,
                mean,
                or_dash(spread.se.map(show)),
                sd,
                or_dash(spread.variance.map(|variance| typographic(&words::number(variance)))),
                show(spread.median),
                least,
                most,
                show(spread.range),
                cv,
                or_dash(spread.skewness.map(|skewness| format!("{skewness:.2}"))),
            ],
        };
        if dependent {
            row.push(or_dash(cell.dependence.map(|d| format!("{:.2}", d.lag1))));
            let effective = cell.dependence.map(|d| format!("{:.1} of {}", d.effective_n, d.n));
            row.push(or_dash(effective));
        }
        Some(row)
    });
    let rows: Vec<_> = rows.collect();
    let is_long = rows.len() > 2 * MOST_UNFOLDED;
    if is_long {
        page.tag("details").open();
        page.leaf("summary", &format!("Description of {} cells", rows.len()));
    }
    tables::plain(page, &head, rows);
    let dependence = if dependent {
        " Lag-1 and eff. n are those of the intervals within the trials: the autocorrelation of \
         neighbouring intervals, and how many independent ones would say as much about the mean as all \
         of them do."
    } else {
        ""
    };
    page.tag("p").at("class", "caption").text(&format!(
        "{} of the cell's {}; SD with n − 1{}.{dependence}",
        grid.title(metric),
        match grid.report.analysis.unit {
            Unit::Trial => "trials",
            Unit::Interval => "intervals",
        },
        match is_few {
            true => String::new(),
            false => {
                let unit = crate::quantity::metric_unit(metric);
                format!(", and so the variance, in the squared stored unit ({unit})")
            }
        }
    ));
    if is_long {
        page.close();
    }
}
