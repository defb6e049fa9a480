//! All cells relative to the baseline: for each metric a picture and a shaded table with the numbers.

use stormeter_statistics::{Relative, Verdict};
use stormeter_study::Metric;

use super::figure::{figure, legend};
use crate::acknowledged;
use crate::capital::capital;
use crate::change;
use crate::compact::sentence::{verdict_sign, verdict_word, verdict_word_for};
use crate::full::grid::{Grid, Load};
use crate::full::words;
use crate::markup::Markup;
use crate::page::{tables, typographic};
use crate::quantity::level_percent;
use crate::svg::color_class;
use crate::svg::dots::{Axis, Better, Dot, Dots, Mark, Row, dots};

/// The metrics, for the table of contents.
pub(super) fn places(grid: &Grid<'_>) -> Vec<(String, String)> {
    let metrics = grid.page_metrics().into_iter();
    metrics.map(|metric| (anchor(metric), grid.title(metric).to_string())).collect()
}

fn anchor(metric: Metric) -> String {
    format!("matrix-{}", metric.name())
}

pub(super) fn matrix(grid: &Grid<'_>) -> Option<Markup> {
    let metrics = grid.page_metrics();
    if metrics.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    for metric in metrics {
        page.tag("h3").at("id", anchor(metric)).open();
        page.text(grid.title(metric));
        page.text(" ");
        page.leaf("small", &words::about(grid.report, metric));
        page.close();
        if let Some(chart) = dots(&picture(grid, metric)) {
            legend(&mut page, grid);
            figure(&mut page, chart, "");
        }
        table(&mut page, grid, metric);
    }
    promises(&mut page, grid);
    let plan = grid.report.plan();
    let level = level_percent(plan.level_of_ratios());
    let intervals = match grid.is_predicted() {
        true => String::new(),
        false => format!(
            " Intervals of {} are at {level} %; the other metrics of a cell are one family (Holm's \
             correction) with wider ones. An arrow says that an interval reaches beyond the axis.",
            grid.title(plan.design.metric)
        ),
    };
    page.tag("p").at("class", "caption").text(&typographic(&format!(
        "Changes from {} at the same load, taken within the blocks; below them the absolute values.{intervals} \
         Hollow marks are not settled. Colours and shades say how far better (▲) or worse (▼) a cell is; a cell of \
         the table leads to its details.",
        words::baseline(plan),
    )));
    Some(page)
}

/// The changes of all cells, a row for each load.
fn picture(grid: &Grid<'_>, metric: Metric) -> Dots {
    let candidates: Vec<usize> =
        grid.columns().into_iter().filter(|&datastore| datastore != grid.baseline()).collect();
    let cells = || grid.loads.iter().flat_map(|load| &load.cells);
    let relatives = || cells().filter_map(|&cell| grid.relative(cell, metric));
    let intervals = relatives()
        .filter_map(|relative| grid.interval(relative))
        .map(|interval| (interval.low, interval.high));
    let ratios = relatives().map(|relative| relative.ratio);
    let axis = Axis::of_ratios(ratios, intervals, Better::of(metric));
    let rows = grid.loads.iter().enumerate().map(|(index, load)| {
        let dots = candidates.iter().filter_map(|&datastore| {
            Some(dot(grid, *load.cells.get(datastore)?, datastore, metric, load))
        });
        let (heading, label) = label(grid, index);
        Row { heading, label, dots: dots.collect(), ..Row::default() }
    });
    Dots {
        id: format!("changes-{}", metric.name()),
        title: format!("{} against {}", grid.title(metric), grid.datastore(grid.baseline())),
        rows: rows.collect(),
        axis,
        reference: Some(1.0),
        tick: Box::new(move |ratio| change::tick(ratio, axis.is_log)),
    }
}

/// The label of a load; a workload with several loads is a heading above them.
fn label(grid: &Grid<'_>, index: usize) -> (Option<String>, String) {
    let load = &grid.loads[index];
    let workload = grid.workload(load.workload);
    if grid.report.plan().workloads.len() == 1 {
        return (None, load.label.clone());
    }
    if !grid.has_many_loads() {
        return (None, workload);
    }
    let before = index.checked_sub(1).and_then(|before| grid.loads.get(before));
    let is_first = before.is_none_or(|before| before.workload != load.workload);
    (is_first.then_some(workload), load.label.clone())
}

fn dot(grid: &Grid<'_>, cell: usize, datastore: usize, metric: Metric, load: &Load) -> Dot {
    let mark = Mark::Series(grid.hue(datastore));
    let name =
        format!("{}, {}, {}", grid.datastore(datastore), grid.workload(load.workload), load.label);
    let Some(relative) = grid.relative(cell, metric) else {
        let is_failed = grid.summary(cell).is_some_and(|summary| summary.failed.is_some());
        let words = if is_failed { "✕ failed" } else { "–" };
        let tooltip = format!("{name}: {words}");
        let words = words.to_string();
        return Dot { mark, tooltip, words, tone: "", value: None, ends: None, is_settled: false };
    };
    let verdict = verdict_of(relative);
    let interval = grid.interval(relative);
    let range = interval.map(|interval| {
        let level = level_percent(interval.level);
        format!(" ({level} % CI {})", change::range(relative.ratio, &interval))
    });
    let absolute =
        grid.value(cell, metric).map(|value| grid.quantity(cell, metric, value.value).typeset());
    let tooltip = format!(
        "{name}: {} {}{}",
        grid.title(metric),
        change::show(relative.ratio),
        range.unwrap_or_default()
    );
    Dot {
        mark,
        tooltip: tooltip + &absolute.map(|absolute| format!(", {absolute}")).unwrap_or_default(),
        words: format!(
            "{} {}",
            change::show(relative.ratio),
            verdict.map(verdict_sign).unwrap_or_default()
        ),
        tone: verdict.map(verdict_word).unwrap_or_default(),
        value: Some(relative.ratio),
        ends: interval.map(|interval| (interval.low, interval.high)),
        is_settled: !matches!(verdict, Some(Verdict::Inconclusive | Verdict::Invalid)),
    }
}

fn verdict_of(relative: &Relative) -> Option<Verdict> {
    Some(relative.comparison.as_ref()?.verdict)
}

fn table(page: &mut Markup, grid: &Grid<'_>, metric: Metric) {
    tables::table(page, "heat");
    page.tag("thead").open();
    page.tag("tr").open();
    page.tag("th").at("scope", "col").text(grid.title(metric));
    for (place, datastore) in grid.columns().into_iter().enumerate() {
        page.tag("th").at("scope", "col").open();
        page.tag("span").at("class", format!("swatch {}", color_class(place))).text("");
        page.text(&grid.datastore(datastore));
        page.close();
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    for (index, load) in grid.loads.iter().enumerate() {
        let (heading, label) = label(grid, index);
        if let Some(heading) = heading {
            page.tag("tr").at("class", "group").open();
            let columns = grid.datastores() + 1;
            page.tag("th").at("colspan", columns).at("scope", "rowgroup").text(&heading);
            page.close();
        }
        row(page, grid, load, &label, metric);
    }
    tables::close_table(page);
}

/// What acknowledged writes are on each datastore.
fn promises(page: &mut Markup, grid: &Grid<'_>) {
    let Some(words) = acknowledged::row(&grid.report.header) else { return };
    page.leaf("h3", &capital(acknowledged::TITLE));
    let columns = grid.columns();
    let mut head = vec![String::new()];
    head.extend(columns.iter().map(|&datastore| grid.datastore(datastore)));
    let mut row = vec!["without a flush".to_owned()];
    row.extend(columns.iter().map(|&it| words.get(it).copied().unwrap_or("–").to_owned()));
    tables::plain(page, &head, vec![row]);
}

fn row(page: &mut Markup, grid: &Grid<'_>, load: &Load, label: &str, metric: Metric) {
    page.tag("tr").open();
    page.tag("th").at("scope", "row").text(label);
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
    let verdict = relative.and_then(verdict_of);
    let shade = relative.map(|relative| shade(relative.ratio, verdict)).unwrap_or_default();
    page.tag("td").at("class", shade).open();
    page.tag("a").at("href", format!("#cell-{cell}")).open();
    match (grid.value(cell, metric), relative) {
        (None, _) => {
            let is_failed = grid.summary(cell).is_some_and(|summary| summary.failed.is_some());
            page.leaf("strong", if is_failed { "✕ failed" } else { "–" });
        }
        (Some(value), relative) => {
            if let Some(relative) = relative {
                page.leaf("strong", &change::show(relative.ratio));
                if let Some(verdict) = verdict {
                    let word = verdict_word_for(metric, verdict);
                    let class = format!("sign {}", verdict_word(verdict));
                    page.tag("abbr")
                        .at("title", word)
                        .at("class", class)
                        .text(verdict_sign(verdict));
                }
                if let Some(interval) = grid.interval(relative) {
                    let range = change::range(relative.ratio, &interval);
                    page.tag("span").at("class", "range").text(&range);
                }
            }
            page.tag("span")
                .at("class", "absolute")
                .text(&grid.quantity(cell, metric, value.value).typeset());
        }
    }
    page.close();
    page.close();
}

/// How strongly a cell is shaded; only settled differences are.
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
