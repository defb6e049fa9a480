//! How many I/Os took how long: a row for each datastore, all on the same two axes.
//!
//! The stored buckets are much finer than a pixel. They are merged into columns of equal width on the logarithmic
//! axis; a bucket that spans two columns is divided between them.

use super::percentile::latency_at;
use super::scale::Scale;
use super::{BOLD_CHARACTER, WIDTH, chart, color_class, duration_tick, line, rect, text};
use crate::compact::model::{Compact, LatencyDistribution};
use crate::markup::Markup;
use crate::quantity::{duration, percent};

const LEFT: f64 = 66.0;
const RIGHT: f64 = 16.0;
const HEADING: f64 = 22.0;
const PLOT: f64 = 84.0;
const ROW: f64 = HEADING + PLOT + 14.0;
const COLUMNS: usize = 113;
/// A column with a smaller share of the I/Os is too low for the pointer.
const LEAST_NAMED: f64 = 0.0005;

/// The chart; `None` without an I/O.
pub(crate) fn histogram(report: &Compact) -> Option<Markup> {
    let rows: Vec<&LatencyDistribution> =
        report.latencies.iter().filter(|row| row.buckets.iter().any(|b| b.count > 0)).collect();
    let used = || rows.iter().flat_map(|row| row.buckets.iter()).filter(|b| b.count > 0);
    let low = used().map(|bucket| bucket.low_ns.max(1)).min()?;
    let high = used().map(|bucket| bucket.high_ns).max()?;
    let x = Scale::log_rounded(low as f64, high as f64, LEFT, WIDTH - RIGHT);
    let columns: Vec<Vec<f64>> = rows.iter().map(|row| columns(row, &x)).collect();
    let most = columns.iter().flatten().copied().fold(0.0, f64::max);
    let height = rows.len() as f64 * ROW + 34.0;
    let mut markup =
        chart("histogram", height, "How many I/Os took how long", &description(report, &rows));
    let bottom = height - 34.0;
    for tick in x.ticks(9) {
        let at = x.at(tick);
        line(&mut markup, "grid", (at, HEADING - 4.0), (at, bottom - 10.0)).empty();
        text(&mut markup, "tick middle", (at, bottom + 6.0), &duration_tick(tick));
    }
    text(&mut markup, "note middle", ((LEFT + WIDTH - RIGHT) / 2.0, height - 6.0), "latency");
    for (index, (row, shares)) in rows.iter().zip(&columns).enumerate() {
        self::row(&mut markup, report, row, shares, most, &x, index as f64 * ROW);
    }
    Some(markup)
}

/// The share of the I/Os in each column.
fn columns(row: &LatencyDistribution, x: &Scale) -> Vec<f64> {
    let total: f64 = row.buckets.iter().map(|bucket| bucket.count as f64).sum();
    let mut shares = vec![0.0; COLUMNS];
    let column_of = |ns: f64| (x.at(ns) - LEFT) / (WIDTH - RIGHT - LEFT) * COLUMNS as f64;
    for bucket in row.buckets.iter().filter(|bucket| bucket.count > 0) {
        let from = column_of(bucket.low_ns.max(1) as f64);
        let to = column_of(bucket.high_ns as f64).max(from + 1e-6);
        let share = bucket.count as f64 / total;
        for (column, place) in shares.iter_mut().enumerate() {
            let overlap = to.min(column as f64 + 1.0) - from.max(column as f64);
            if overlap > 0.0 {
                *place += share * overlap / (to - from);
            }
        }
    }
    shares
}

fn row(
    markup: &mut Markup,
    report: &Compact,
    latencies: &LatencyDistribution,
    shares: &[f64],
    most: f64,
    x: &Scale,
    top: f64,
) {
    let (ceiling, floor) = (top + HEADING, top + HEADING + PLOT);
    let y = Scale::linear(0.0, most, floor, ceiling);
    let class = color_class(latencies.datastore);
    let label = report.label(latencies.datastore);
    text(markup, &format!("name start ink halo {class}"), (LEFT, top + 13.0), &label);
    for share in y.ticks(3).into_iter().filter(|share| *share > 0.0) {
        let words = format!("{} %", percent(share));
        text(markup, "tick end", (LEFT - 8.0, y.at(share) + 4.0), &words);
    }
    let width = (WIDTH - RIGHT - LEFT) / COLUMNS as f64;
    let left = |column: usize| LEFT + column as f64 * width;
    let outline = super::columns(
        shares
            .iter()
            .enumerate()
            .map(|(column, share)| ((left(column), left(column + 1)), y.at(*share))),
        floor,
    );
    markup.tag("path").at("class", format!("fill {class}")).at("d", outline).empty();
    line(markup, "axis", (LEFT, floor), (WIDTH - RIGHT, floor)).empty();
    for (column, share) in shares.iter().enumerate().filter(|(_, share)| **share >= LEAST_NAMED) {
        let ns = |column: usize| x.value(left(column));
        let (from, to) = (duration(ns(column)), duration(ns(column + 1)));
        rect(markup, "hit", (left(column), ceiling), (width, floor - ceiling)).open();
        markup.leaf("title", &format!("{from} to {to}: {} %", percent(*share)));
        markup.close();
    }
    let mut named = Vec::new();
    for (fraction, name) in [(0.5, "median"), (0.99, "p99")] {
        let Some(latency) = latency_at(latencies, fraction) else { continue };
        let at = x.at(latency);
        // A light line under the dots keeps them visible on the columns.
        line(markup, "mark-under", (at, ceiling), (at, floor)).empty();
        line(markup, "mark", (at, ceiling - 2.0), (at, floor)).empty();
        named.push(format!("{name} {}", duration(latency).typeset()));
    }
    let after_label = LEFT + label.chars().count() as f64 * BOLD_CHARACTER + 14.0;
    text(markup, "tick start halo", (after_label, top + 13.0), &named.join(", "));
}

fn description(report: &Compact, rows: &[&LatencyDistribution]) -> String {
    rows.iter()
        .map(|row| {
            let operations: u64 = row.buckets.iter().map(|bucket| bucket.count).sum();
            let percentile = |fraction: f64| {
                latency_at(row, fraction).map_or("unknown".into(), |ns| duration(ns).to_string())
            };
            format!(
                "{}: {operations} I/Os, half of them within {}, 99 % within {}. ",
                report.label(row.datastore),
                percentile(0.5),
                percentile(0.99)
            )
        })
        .collect()
}
