//! The observations themselves: histograms with normal curves, and their description in numbers.

use crate::html::{tables, typographic};
use crate::markup::Markup;
use crate::quantity::{decimals, quantity};
use crate::study::draw::normal::normal;
use crate::study::grid::Grid;
use crate::study::words;
use crate::svg::color_class;

/// More small charts than this are folded away.
const MOST_UNFOLDED: usize = 12;

pub(super) fn spread(grid: &Grid<'_>) -> Option<Markup> {
    let cells = &grid.report.analysis.cells;
    if cells.iter().all(|cell| cell.spread.is_none()) {
        return None;
    }
    let metric = grid.report.plan().design.metric;
    let charts: Vec<Markup> = cells
        .iter()
        .enumerate()
        .filter_map(|(index, cell)| {
            let place = grid.cells.get(index).map_or(0, |cell| grid.hue(cell.datastore));
            let name = grid.name(index);
            normal(&cell.observations, cell.spread.as_ref()?, metric, &name, &color_class(place))
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
            metric.title()
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
    let heads = [
        "cell", "n", "mean", "SE", "SD", "variance", "median", "least", "most", "range", "CV",
        "skewness",
    ];
    let mut head: Vec<String> = heads.map(String::from).to_vec();
    if dependent {
        head.extend(["lag\u{2011}1", "eff. n"].map(String::from));
    }
    let show = |value: f64| quantity(metric, value).typeset();
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".into());
    let rows = cells.iter().enumerate().filter_map(|(index, cell)| {
        let spread = cell.spread?;
        let mut row = vec![
            grid.name(index),
            spread.n.to_string(),
            show(spread.mean),
            or_dash(spread.se.map(show)),
            or_dash(spread.sd.map(show)),
            or_dash(spread.variance.map(|variance| typographic(&words::number(variance)))),
            show(spread.median),
            show(spread.min),
            show(spread.max),
            show(spread.range),
            or_dash(spread.cv.map(|cv| format!("{}\u{202f}%", decimals(cv * 100.0)))),
            or_dash(spread.skewness.map(|skewness| format!("{skewness:.2}"))),
        ];
        if dependent {
            row.push(or_dash(cell.dependence.map(|d| format!("{:.2}", d.lag1))));
            row.push(or_dash(cell.dependence.map(|d| words::number(d.effective_n))));
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
        " Lag-1: autocorrelation of neighbouring observations of one run; effective n: as many \
         independent observations would say as much about the mean."
    } else {
        ""
    };
    page.tag("p").at("class", "caption").text(&format!(
        "{}; SD and variance with n − 1, variance in the squared stored unit ({}).{dependence}",
        metric.title(),
        crate::quantity::metric_unit(metric)
    ));
    if is_long {
        page.close();
    }
}
