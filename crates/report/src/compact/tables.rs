//! The numbers behind the charts, for readers who want exact values or cannot see the drawing.

use stormeter_study::Metric;
use stormeter_units::format_count;

use super::cpu::parts;
use super::model::{Compact, Datastore, LatencyDistribution, MetricComparison, PercentilePoint};
use super::sentence::verdict_word_for;
use crate::acknowledged;
use crate::change;
use crate::markup::Markup;
use crate::page::tables::{close_table, plain, table};
use crate::page::{breakable, typographic};
use crate::quantity::{decimals, duration, quantity, spread_percent};
use crate::svg::color_class;

/// The metrics of all datastores, absolute and relative.
pub(super) fn summary(page: &mut Markup, report: &Compact) {
    let plan = &report.header.plan;
    // Few columns leave room for the verdict after the number.
    let class = match report.datastores.len() {
        ..=2 => "summary wide stacked",
        // The verdict does not fit next to the interval.
        3 => "summary wide crowded stacked",
        _ => "summary stacked",
    };
    table(page, class);
    page.tag("thead").open();
    page.tag("tr").open();
    page.tag("th").at("scope", "col").text("");
    for (index, datastore) in report.datastores.iter().enumerate() {
        page.tag("th").at("scope", "col").at("title", datastore.description.url.as_str()).open();
        page.tag("span").at("class", format!("swatch {}", color_class(index))).text("");
        breakable(page, &datastore.label);
        if index == plan.baseline {
            page.text(" ");
            page.tag("small").text("baseline");
        }
        page.close();
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    for metric in report.metrics() {
        let class = if metric == plan.design.metric { "primary" } else { "other" };
        page.tag("tr").at("class", class).open();
        page.tag("th").at("scope", "row").text(metric.title());
        for (index, datastore) in report.datastores.iter().enumerate() {
            // On a narrow screen the table is stacked and its head hidden.
            page.tag("td").at("data-label", datastore.label.as_str()).open();
            absolute(page, datastore, metric);
            // The baseline itself has no comparison.
            if let Some(of) = report.comparison(index, metric) {
                relative(page, of);
            }
            page.close();
        }
        page.close();
    }
    promises(page, report);
    close_table(page);
    page.tag("p").at("class", "caption").text(&typographic(
        "Absolute values are means over the trials, percentiles those of all trials' I/Os merged, the \
         maximum the largest. Below them: the change from the baseline with its interval, and the verdict. \
         The first row carries the verdict of the page.",
    ));
}

/// What acknowledged writes are, below the metrics.
fn promises(page: &mut Markup, report: &Compact) {
    let Some(words) = acknowledged::row(&report.header) else { return };
    page.tag("tr").at("class", "other words").open();
    page.tag("th").at("scope", "row").text(acknowledged::TITLE);
    for (datastore, words) in report.datastores.iter().zip(words) {
        page.tag("td").at("data-label", datastore.label.as_str()).text(words);
    }
    page.close();
}

fn absolute(page: &mut Markup, datastore: &Datastore, metric: Metric) {
    let Some(value) = datastore.value(metric) else {
        page.tag("span").at("class", "absolute").text("–");
        return;
    };
    page.tag("span").at("class", "absolute").text(&quantity(metric, value.value).typeset());
    if let Some(spread) = spread_percent(value) {
        page.text(" ");
        page.tag("span").at("class", "spread").text(&format!("±\u{202f}{spread}\u{202f}%"));
    }
}

fn relative(page: &mut Markup, of: &MetricComparison) {
    let comparison = &of.comparison;
    page.tag("span").at("class", "relative").open();
    page.text(&change::show(comparison.ratio));
    page.text(" ");
    let range = change::range(comparison.ratio, &comparison.interval);
    page.tag("span").at("class", "spread").text(&format!("({range})"));
    page.close();
    page.text(" ");
    let word = verdict_word_for(of.metric, comparison.verdict);
    let class = super::sentence::verdict_word(comparison.verdict);
    page.tag("span").at("class", format!("word {class}")).text(word);
}

/// Points of the percentile curves that have names.
pub(super) fn percentiles(page: &mut Markup, report: &Compact) {
    const NAMED: [f64; 9] = [0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999];
    let at = |points: &[PercentilePoint], fraction: f64| {
        let mut points = points.iter();
        points.find(|point| (point.fraction - fraction).abs() < 1e-9).map(|point| point.latency_ns)
    };
    // A column of latencies, and one of service times if there are any.
    let columns: Vec<(String, &[PercentilePoint])> = report
        .latencies
        .iter()
        .flat_map(|latencies| {
            let label = report.label(latencies.datastore);
            let service = (format!("{label}, service time"), latencies.service.as_slice());
            [(label, latencies.percentiles.as_slice()), service]
        })
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let rows = NAMED
        .into_iter()
        .filter(|&fraction| columns.iter().any(|(_, points)| at(points, fraction).is_some()))
        .map(|fraction| {
            let name = match fraction {
                0.0 => "least".to_string(),
                fraction => {
                    let digits = format!("{:.4}", fraction * 100.0);
                    format!("p{}", digits.trim_end_matches('0').trim_end_matches('.'))
                }
            };
            let values = columns.iter().map(|(_, points)| {
                at(points, fraction).map_or("–".into(), |ns| duration(ns).typeset())
            });
            std::iter::once(name).chain(values).collect()
        })
        .collect();
    let mut head = vec!["percentile".to_string()];
    head.extend(columns.iter().map(|(name, _)| name.clone()));
    plain(page, &head, rows);
}

/// The histograms by octave: all buckets would be thousands of rows, and they are in the results file.
pub(super) fn histogram(page: &mut Markup, report: &Compact) {
    let octave = |ns: u64| 63 - ns.max(1).leading_zeros();
    let used = |latencies: &LatencyDistribution| {
        latencies
            .buckets
            .iter()
            .filter(|b| b.count > 0)
            .map(|b| octave(b.low_ns))
            .collect::<Vec<_>>()
    };
    let octaves: Vec<u32> = report.latencies.iter().flat_map(used).collect();
    let (Some(&first), Some(&last)) = (octaves.iter().min(), octaves.iter().max()) else { return };
    let rows = (first..=last)
        .map(|row| {
            let low = 1u64 << row;
            let name = format!(
                "{} to {}",
                duration(low as f64).typeset(),
                duration(low as f64 * 2.0).typeset()
            );
            let values = report.latencies.iter().map(|latencies| {
                let buckets = latencies.buckets.iter();
                let count: u64 = buckets.filter(|b| octave(b.low_ns) == row).map(|b| b.count).sum();
                format_count(count as f64).replace(' ', "\u{202f}")
            });
            std::iter::once(name).chain(values).collect()
        })
        .collect();
    let mut head = vec!["latency".to_string()];
    head.extend(report.latencies.iter().map(|l| format!("{}, I/Os", report.label(l.datastore))));
    plain(page, &head, rows);
}

/// A row for each trial, in the order of the run.
pub(super) fn trials(page: &mut Markup, report: &Compact) {
    let head = ["block", "datastore", "began after", "IOPS", "mean latency"].map(String::from);
    let rows = report
        .trials
        .iter()
        .map(|trial| {
            vec![
                (u64::from(trial.block) + 1).to_string(),
                report.label(trial.datastore),
                duration(trial.start_ns as f64).typeset(),
                quantity(Metric::Iops, trial.iops).typeset(),
                trial.latency_mean_ns.map_or("–".into(), |ns| duration(ns).typeset()),
            ]
        })
        .collect();
    plain(page, &head, rows);
}

/// The parts of the CPU time per I/O.
pub(super) fn cpu(page: &mut Markup, report: &Compact) {
    let mut head = vec!["datastore".to_string()];
    head.extend(parts(report).map(|part| part.name.to_string()));
    head.push("in all".into());
    let rows = report
        .cpu
        .iter()
        .map(|cpu| {
            let total = cpu.total_ns();
            let parts = parts(report).map(|part| match (part.ns)(cpu) {
                None => "–".to_string(),
                Some(ns) => {
                    let share = decimals(100.0 * ns / total);
                    format!("{} ({share}\u{202f}%)", duration(ns).typeset())
                }
            });
            std::iter::once(report.label(cpu.datastore))
                .chain(parts)
                .chain(std::iter::once(duration(total).typeset()))
                .collect()
        })
        .collect();
    plain(page, &head, rows);
}
