//! Every cell in full, folded away: its metrics, latencies, time, CPU parts, the steps of a trial of fixed work.

use stormeter_statistics::CellSummary;
use stormeter_study::Metric;
use stormeter_units::format_count;

use super::monitoring;
use crate::change;
use crate::compact::sentence::{verdict_sign, verdict_word_for};
use crate::compact::{PARTS, cpu_per_io};
use crate::full::grid::Grid;
use crate::full::steps::{HEAD, caption, of_cells, rows, sentence};
use crate::markup::Markup;
use crate::page::{tables, typographic};
use crate::quantity::{Quantity, decimals, duration};
use crate::svg::color_class;

const PERCENTILES: [(f64, &str); 7] = [
    (0.5, "p50"),
    (0.75, "p75"),
    (0.9, "p90"),
    (0.95, "p95"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (0.9999, "p99.99"),
];

pub(super) fn cells(grid: &Grid<'_>) -> Option<Markup> {
    let metrics = grid.metrics();
    let mut page = Markup::default();
    let mut group = None;
    for (index, summary) in grid.report.analysis.cells.iter().enumerate() {
        let Some(cell) = grid.cells.get(index) else { continue };
        if group.replace(cell.workload) != Some(cell.workload) {
            page.leaf("h3", &grid.workload(cell.workload));
        }
        self::cell(&mut page, grid, index, summary, &metrics);
    }
    group.map(|_| page)
}

fn cell(
    page: &mut Markup,
    grid: &Grid<'_>,
    index: usize,
    summary: &CellSummary,
    metrics: &[Metric],
) {
    let place = grid.cells.get(index).map_or(0, |cell| grid.hue(cell.datastore));
    page.tag("details").at("class", "cell").open();
    page.tag("summary").open();
    page.tag("span").at("class", format!("swatch {}", color_class(place))).text("");
    page.text(&grid.name(index));
    page.tag("span").at("class", "gist").text(&gist(grid, index, summary));
    page.close();
    if let Some(failed) = &summary.failed {
        let text = format!("{} failed; the first: {}", failed.count, failed.first);
        page.tag("p").at("class", "remark").text(&text);
    }
    // A link to what is inside opens the details; one to the details themselves would not.
    page.tag("div").at("class", "pair").at("id", format!("cell-{index}")).open();
    page.tag("div").open();
    values(page, grid, index, metrics);
    page.close();
    page.tag("div").open();
    latencies(page, grid, index, summary);
    cpu(page, grid, index, summary);
    steps(page, summary);
    if let Some(touched) = &summary.touched {
        let words = format!("Touched of the disks: {}.", crate::touched::words(touched));
        page.tag("p").at("class", "fine").text(&typographic(&words));
    }
    verified(page, summary);
    page.close();
    page.close();
    disturbed(page, grid, index);
    if let Some(chart) = monitoring::of_cell(grid, index) {
        page.tag("figure").open();
        page.append(chart);
        page.close();
    }
    page.close();
}

/// The cell in a few words: its primary metric and the change from the baseline.
fn gist(grid: &Grid<'_>, index: usize, summary: &CellSummary) -> String {
    let metric = grid.report.plan().design.metric;
    let Some(value) = grid.value(index, metric) else {
        return if summary.failed.is_some() { "failed".into() } else { "not measured".into() };
    };
    let titles = grid.titles_of(index);
    let absolute = titles.quantity(metric, value.value).typeset();
    let relative = match grid.relative(index, metric) {
        Some(relative) => format!(" · {}", change::show(relative.ratio)),
        None => String::new(),
    };
    let unit = match metric {
        Metric::Iops => format!(" {}", titles.of(metric)),
        _ => String::new(),
    };
    format!("{absolute}{unit}{relative}")
}

fn values(page: &mut Markup, grid: &Grid<'_>, index: usize, metrics: &[Metric]) {
    // The baseline has no relative values.
    let is_baseline = grid.is_baseline(index);
    let titles = grid.titles_of(index);
    let rows = metrics.iter().filter_map(|&metric| {
        let value = grid.value(index, metric)?;
        let spread = crate::quantity::spread_percent(&crate::compact::MetricValue {
            metric,
            value: value.value,
            interval: grid.interval_of(value),
            n: value.n,
        });
        let spread = spread.map(|s| format!(" ±\u{202f}{s}\u{202f}%")).unwrap_or_default();
        let relative = grid.relative(index, metric);
        let comparison = relative.and_then(|relative| relative.comparison.as_ref());
        let range = relative.and_then(|relative| {
            let interval = grid.interval(relative)?;
            Some(format!(" ({})", change::range(relative.ratio, &interval)))
        });
        let relative = relative.map(|relative| change::show(relative.ratio)).unwrap_or_default();
        let word = comparison.map(|comparison| {
            let word = verdict_word_for(metric, comparison.verdict);
            format!("{} {word}", verdict_sign(comparison.verdict))
        });
        let mut row = vec![
            titles.of(metric).to_string(),
            format!("{}{spread}", titles.quantity(metric, value.value).typeset()),
        ];
        if !is_baseline {
            row.push(format!("{relative}{}", range.unwrap_or_default()));
            row.push(word.unwrap_or_default());
        }
        Some(row)
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        let head = ["metric", "value", "change", "verdict"].map(String::from);
        tables::plain(page, &head[..if is_baseline { 2 } else { 4 }], rows);
    }
}

fn latencies(page: &mut Markup, grid: &Grid<'_>, index: usize, summary: &CellSummary) {
    let count = summary.latencies.count();
    let issue = &summary.issue;
    let rows: Vec<Vec<String>> = PERCENTILES
        .iter()
        // A percentile with less than one I/O above it is left out.
        .filter(|(fraction, _)| (1.0 - fraction) * count as f64 >= 0.999)
        .filter_map(|(fraction, name)| {
            let latency = summary.latencies.percentile_ns(*fraction)?;
            let mut row = vec![name.to_string(), duration(latency).typeset()];
            for times in issue.iter().flat_map(|issue| [&issue.service, &issue.lateness]) {
                let ns = times.histogram.percentile_ns(*fraction);
                row.push(ns.map_or("–".into(), |ns| duration(ns).typeset()));
            }
            Some(row)
        })
        .collect();
    if !rows.is_empty() {
        let trials = crate::wording::plural(summary.trials.into(), "trial");
        let time = grid.titles_of(index).latency();
        let mut head = vec!["percentile".to_string(), format!("{time}, {trials} merged")];
        if issue.is_some() {
            head.extend(["service time".into(), "lateness".into()]);
        }
        tables::plain(page, &head, rows);
    }
}

fn cpu(page: &mut Markup, grid: &Grid<'_>, index: usize, summary: &CellSummary) {
    if summary.operations == 0 || summary.cpu.host.busy_ns() == 0 {
        return;
    }
    let cpu = cpu_per_io(0, &summary.cpu, summary.operations);
    let total = cpu.total_ns();
    let rows = PARTS.iter().filter_map(|part| {
        let ns = (part.ns)(&cpu)?;
        let share = decimals(100.0 * ns / total);
        Some(vec![part.name.to_string(), format!("{} ({share}\u{202f}%)", duration(ns).typeset())])
    });
    let operation = grid.titles_of(index).operation();
    tables::plain(page, &["CPU".to_string(), format!("time per {operation}")], rows.collect());
}

/// The steps on the storage in the cell's middle trial; their numbers are those of the marks on the chart
/// below.
fn disturbed(page: &mut Markup, grid: &Grid<'_>, cell: usize) {
    let cells = of_cells(grid);
    let Some((_, disturbed)) = cells.iter().find(|(of, _)| *of == cell) else { return };
    let rows = self::rows(disturbed, Quantity::typeset).into_iter().map(|row| row.to_vec());
    tables::plain(page, &HEAD.map(String::from), rows.collect());
    let words = format!("{}. {}", capital(&sentence(disturbed, grid.titles_of(cell))), caption());
    page.tag("p").at("class", "fine").text(&typographic(&words));
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn steps(page: &mut Markup, summary: &CellSummary) {
    if summary.steps.is_empty() {
        return;
    }
    let rows = summary.steps.iter().map(|step| {
        let mean = step.total_ns as f64 / step.times.max(1) as f64;
        let times = format_count(step.times as f64).replace(' ', "\u{202f}");
        let longest = duration(step.max_ns as f64).typeset();
        vec![step.name.clone(), times, duration(mean).typeset(), longest]
    });
    let head = ["step", "times", "mean", "longest"].map(String::from);
    tables::plain(page, &head, rows.collect());
}

fn verified(page: &mut Markup, summary: &CellSummary) {
    let Some(verified) = &summary.verified else { return };
    let count = |count: u64| format_count(count as f64);
    let words = format!(
        "Verified: {} blocks read back, {} of them wrong.",
        count(verified.blocks),
        count(verified.wrong_blocks)
    );
    page.tag("p").at("class", "fine").text(&typographic(&words));
}
