//! The load: each cell with its values so far, and I/O over time.

use stormeter_study::Metric;

use super::model::{LoadPoint, Moment};
use crate::capital::capital;
use crate::markup::Markup;
use crate::page;
use crate::page::tables;
use crate::quantity::metric_value;
use crate::svg::over_time::{Form, Frame, Line, Panel, Unit, panel, time_axis};
use crate::svg::{WIDTH, chart, color_class};

/// The metrics of the table, as far as cells have them.
const METRICS: [Metric; 5] =
    [Metric::Iops, Metric::Throughput, Metric::LatencyMean, Metric::LatencyP99, Metric::CpuPerIo];
const LEFT: f64 = 66.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 22.0;
const PLOT: f64 = 110.0;
const GAP: f64 = 34.0;

pub(super) fn cells(moment: &Moment) -> String {
    let mut part = Markup::default();
    part.leaf("h2", if moment.cells.len() == 1 { "The cell" } else { "The cells" });
    let known: Vec<Metric> = METRICS
        .into_iter()
        .filter(|metric| {
            moment.cells.iter().any(|cell| cell.values.iter().any(|value| value.0 == *metric))
        })
        .collect();
    tables::table(&mut part, "numbers");
    part.tag("thead").open();
    part.tag("tr").open();
    for name in ["cell".to_owned(), "trials".into()]
        .into_iter()
        .chain(known.iter().map(|it| it.title().to_owned()))
    {
        part.tag("th").at("scope", "col").text(&name);
    }
    part.close();
    part.close();
    part.tag("tbody").open();
    for cell in &moment.cells {
        part.tag("tr").at("class", if cell.is_running { "running" } else { "" }).open();
        part.tag("th").at("scope", "row").open();
        part.tag("span").at("class", format!("swatch {}", color_class(cell.place))).text("");
        part.text(&cell.name);
        part.close();
        part.leaf("td", &cell.trials.to_string());
        for metric in &known {
            let value = cell.values.iter().find(|value| value.0 == *metric);
            part.leaf(
                "td",
                &value.map_or("–".into(), |(metric, value)| metric_value(*metric, *value)),
            );
        }
        part.close();
    }
    tables::close_table(&mut part);
    part.finish()
}

pub(super) fn over_time(moment: &Moment) -> String {
    let mut part = Markup::default();
    part.leaf("h2", "I/O over time");
    let panels = [
        panel_of(moment, Metric::Iops, Unit::Count, |point| Some(point.iops)),
        panel_of(moment, Metric::LatencyMean, Unit::Duration, |point| point.latency_mean_ns),
    ];
    if panels.iter().all(Panel::is_empty) {
        part.tag("p").at("class", "caption").text("No I/O yet.");
        return part.finish();
    }
    let names = moment.series.iter().enumerate();
    page::legend(&mut part, names.map(|(place, series)| (place, series.name.as_str(), false)));
    part.tag("figure").open();
    let height = TOP + 2.0 * PLOT + GAP + 22.0;
    let mut markup =
        chart("load", height, "I/O over time", &format!("{} datastores", moment.series.len()));
    let mut top = TOP;
    for one in &panels {
        let frame = frame(moment, top, PLOT);
        panel(&mut markup, one, frame);
        if top > TOP {
            time_axis(&mut markup, frame, 8);
        }
        top += PLOT + GAP;
    }
    part.append(markup);
    part.leaf(
        "figcaption",
        "Time since the run started. Datastores take turns; ramps are left out.",
    );
    part.close();
    part.finish()
}

/// Where a panel lies that goes from the start of the run to now.
pub(super) fn frame(moment: &Moment, top: f64, height: f64) -> Frame {
    let now = (moment.elapsed_ns as f64).max(1e9);
    Frame { left: LEFT, right: WIDTH - RIGHT, top, bottom: top + height, span: (0.0, now) }
}

fn panel_of(
    moment: &Moment,
    metric: Metric,
    unit: Unit,
    value: fn(&LoadPoint) -> Option<f64>,
) -> Panel {
    let lines = moment.series.iter().enumerate().map(|(place, series)| Line {
        class: format!("line level {}", color_class(place)),
        dashes: "none",
        tooltip: Some(format!("{}, {}", series.name, metric.title())),
        form: Form::Levels(
            series
                .points
                .iter()
                .filter_map(|point| {
                    Some((point.start_ns as f64, point.end_ns as f64, value(point)?))
                })
                .collect(),
            Vec::new(),
        ),
    });
    Panel { title: capital(metric.title()), unit, lines: lines.collect() }
}
