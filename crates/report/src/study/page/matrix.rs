//! All cells relative to the baseline: bar charts a workload, and shaded tables with the numbers.

use stormeter_statistics::Verdict;
use stormeter_study::Metric;

use super::{figure, legend};
use crate::html::{tables, typographic};
use crate::markup::Markup;
use crate::quantity::{level_percent, quantity};
use crate::sentence::{verdict_word, verdict_word_for};
use crate::study::draw::bars::bars;
use crate::study::grid::{Grid, Load, hundred, hundred_half};
use crate::study::words;
use crate::svg::color_class;

/// The metrics, for the table of contents.
pub(super) fn places(grid: &Grid<'_>) -> Vec<(String, String)> {
    let metrics = grid.headline_metrics().into_iter();
    metrics.map(|metric| (anchor(metric), metric.title().to_string())).collect()
}

fn anchor(metric: Metric) -> String {
    format!("matrix-{}", metric.name())
}

pub(super) fn matrix(grid: &Grid<'_>) -> Option<Markup> {
    let metrics = grid.headline_metrics();
    if metrics.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    for metric in metrics {
        page.tag("h3").at("id", anchor(metric)).open();
        page.text(metric.title());
        page.text(" ");
        page.leaf("small", words::better(metric));
        page.close();
        charts(&mut page, grid, metric);
        table(&mut page, grid, metric);
    }
    let plan = grid.report.plan();
    page.tag("p").at("class", "caption").text(&typographic(&format!(
        "{} = 100 at each load. Ratios are taken within the blocks; whiskers and ± are {} % intervals, of \
         the metrics beside the primary one adjusted by Holm. Below the relative value stands the \
         absolute one. Pale bars are not settled. Shades say how far better (▲) or worse (▼) a cell is; \
         a cell leads to its details.",
        words::baseline(plan),
        level_percent(plan.design.level)
    )));
    Some(page)
}

fn charts(page: &mut Markup, grid: &Grid<'_>, metric: Metric) {
    let workloads = grid.report.plan().workloads.len();
    let charts: Vec<(usize, Markup)> = (0..workloads)
        .filter_map(|workload| {
            let id = format!("bars-{}-{workload}", metric.name());
            Some((workload, bars(grid, workload, metric, &id)?))
        })
        .collect();
    if charts.is_empty() {
        return;
    }
    legend(page, grid, true);
    let is_alone = charts.len() == 1;
    page.tag("div").at("class", "bars").open();
    for (workload, chart) in charts {
        page.tag("div").open();
        if !is_alone {
            page.leaf("h4", &grid.workload(workload));
        }
        figure(page, chart, "");
        page.close();
    }
    page.close();
}

fn table(page: &mut Markup, grid: &Grid<'_>, metric: Metric) {
    tables::table(page, "heat");
    page.tag("thead").open();
    page.tag("tr").open();
    page.tag("th").at("scope", "col").text(metric.title());
    for (place, datastore) in grid.columns().into_iter().enumerate() {
        page.tag("th").at("scope", "col").open();
        page.tag("span").at("class", format!("swatch {}", color_class(place))).text("");
        page.text(&grid.datastore(datastore));
        page.close();
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    let mut workload = None;
    for load in &grid.loads {
        if workload != Some(load.workload) && grid.report.plan().workloads.len() > 1 {
            page.tag("tr").at("class", "group").open();
            let columns = grid.datastores() + 1;
            page.tag("th")
                .at("colspan", columns)
                .at("scope", "rowgroup")
                .text(&grid.workload(load.workload));
            page.close();
        }
        workload = Some(load.workload);
        row(page, grid, load, metric);
    }
    tables::close_table(page);
}

fn row(page: &mut Markup, grid: &Grid<'_>, load: &Load, metric: Metric) {
    page.tag("tr").open();
    page.tag("th").at("scope", "row").text(&load.label);
    for datastore in grid.columns() {
        match load.cells.get(datastore) {
            Some(&cell) => self::cell(page, grid, cell, metric),
            None => page.leaf("td", ""),
        }
    }
    page.close();
}

fn cell(page: &mut Markup, grid: &Grid<'_>, cell: usize, metric: Metric) {
    let relative = grid.relative(cell, metric);
    let verdict = relative.and_then(|relative| Some(relative.comparison.as_ref()?.verdict));
    let shade = relative.map(|relative| shade(relative.ratio, verdict)).unwrap_or_default();
    page.tag("td").at("class", shade).open();
    page.tag("a").at("href", format!("#cell-{cell}")).open();
    match (grid.value(cell, metric), relative) {
        (None, _) => {
            let is_failed = grid.summary(cell).is_some_and(|summary| summary.failed.is_some());
            page.leaf("strong", if is_failed { "✕ failed" } else { "–" });
        }
        (Some(value), relative) => {
            let relative_words = match relative {
                Some(relative) => hundred(relative.ratio),
                None if grid.is_baseline(cell) => "100".into(),
                None => "–".into(),
            };
            page.leaf("strong", &relative_words);
            if let Some(half) = relative.and_then(hundred_half) {
                page.tag("small").text(&format!(" ±\u{202f}{half}"));
            }
            if let Some(verdict) = verdict {
                let word = verdict_word_for(metric, verdict);
                let class = format!("sign {}", verdict_word(verdict));
                page.tag("abbr").at("title", word).at("class", class).text(symbol(verdict));
            }
            page.tag("span").at("class", "absolute").text(&quantity(metric, value.value).typeset());
        }
    }
    page.close();
    page.close();
}

pub(super) fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Equivalent => "=",
        Verdict::Inconclusive => "?",
        Verdict::Invalid => "✕",
    }
}

/// How strongly a cell is shaded: only what is shown to be better or worse is.
fn shade(ratio: f64, verdict: Option<Verdict>) -> &'static str {
    let distance = ratio.ln().abs();
    // A tenth, a third, and more than that.
    let strength = [0.1, 0.35].into_iter().filter(|step| distance > *step).count();
    match (verdict, strength) {
        (Some(Verdict::Faster), 0) => "up1",
        (Some(Verdict::Faster), 1) => "up2",
        (Some(Verdict::Faster), _) => "up3",
        (Some(Verdict::Slower), 0) => "down1",
        (Some(Verdict::Slower), 1) => "down2",
        (Some(Verdict::Slower), _) => "down3",
        _ => "",
    }
}
