//! What an I/O costs in CPU time, and who pays: stacked bars.
//!
//! The parts are told apart by lightness of one hue and by their order, which the legend repeats,
//! so they are also told apart in print and by those who see no colours.

use super::scale::Scale;
use super::{CHARACTER, WIDTH, chart, duration_tick, line, text};
use crate::markup::Markup;
use crate::model::{CpuPerIo, Report};
use crate::quantity::duration;

const TOP: f64 = 54.0;
const ROW: f64 = 42.0;
const BAR: f64 = 24.0;
const RIGHT: f64 = 84.0;

/// A part's name, and how to read it.
type Part = (&'static str, fn(&CpuPerIo) -> f64);

/// The parts, from the left.
pub(crate) const PARTS: [Part; 4] = [
    ("driving threads, user", |cpu| cpu.threads_user_ns),
    ("driving threads, system", |cpu| cpu.threads_system_ns),
    ("rest of this process", |cpu| cpu.process_other_ns),
    ("rest of the host, softirqs included", |cpu| cpu.host_other_ns),
];

/// The chart; `None` when CPU times are not known.
pub(crate) fn cpu(report: &Report) -> Option<Markup> {
    let rows: Vec<&CpuPerIo> = report.cpu.iter().filter(|cpu| cpu.total_ns().is_finite()).collect();
    if rows.is_empty() {
        return None;
    }
    let most = rows.iter().map(|cpu| cpu.total_ns()).fold(0.0, f64::max);
    let longest = report.datastores.iter().map(|d| d.label.chars().count()).max().unwrap_or(0);
    let left = (longest as f64 * CHARACTER + 20.0).clamp(80.0, 200.0);
    let height = TOP + rows.len() as f64 * ROW + 34.0;
    let x = Scale::linear(0.0, most, left, WIDTH - RIGHT);
    let mut markup = chart("cpu", height, "CPU time per I/O", &description(report, &rows));
    for (index, (name, _)) in PARTS.iter().enumerate() {
        let at = (left + (index % 2) as f64 * 220.0, 6.0 + (index / 2) as f64 * 20.0);
        markup
            .tag("rect")
            .at("class", format!("part p{index}"))
            .at("x", at.0)
            .at("y", at.1)
            .at("width", 12.0)
            .at("height", 12.0)
            .empty();
        text(&mut markup, "tick start", (at.0 + 18.0, at.1 + 10.5), name);
    }
    let bottom = TOP + rows.len() as f64 * ROW;
    for tick in x.ticks(6) {
        let at = x.at(tick);
        line(&mut markup, "grid", (at, TOP), (at, bottom)).empty();
        text(&mut markup, "tick middle", (at, bottom + 18.0), &duration_tick(tick));
    }
    for (index, cpu) in rows.iter().enumerate() {
        row(&mut markup, report, cpu, &x, TOP + index as f64 * ROW + (ROW - BAR) / 2.0, left);
    }
    Some(markup)
}

fn row(markup: &mut Markup, report: &Report, cpu: &CpuPerIo, x: &Scale, y: f64, left: f64) {
    let middle = y + BAR / 2.0 + 4.0;
    text(markup, "name end", (left - 12.0, middle), &report.label(cpu.datastore));
    let mut from = 0.0;
    for (index, (name, part)) in PARTS.iter().enumerate() {
        let ns = part(cpu).max(0.0);
        let (start, end) = (x.at(from), x.at(from + ns));
        from += ns;
        markup
            .tag("rect")
            .at("class", format!("part p{index}"))
            .at("x", start)
            .at("y", y)
            .at("width", end - start)
            .at("height", BAR)
            .open();
        markup.leaf("title", &format!("{name}: {}", duration(ns)));
        markup.close();
        let words = duration(ns).typeset();
        if end - start > words.chars().count() as f64 * CHARACTER + 8.0 {
            let class = format!("value middle on-p{index}");
            text(markup, &class, ((start + end) / 2.0, middle), &words);
        }
    }
    let total = duration(cpu.total_ns()).typeset();
    text(markup, "value start strong", (x.at(from) + 8.0, middle), &total);
}

fn description(report: &Report, rows: &[&CpuPerIo]) -> String {
    rows.iter()
        .map(|cpu| {
            let parts: Vec<String> = PARTS
                .iter()
                .map(|(name, part)| format!("{name} {}", duration(part(cpu))))
                .collect();
            format!(
                "{}: {} in all; {}. ",
                report.label(cpu.datastore),
                duration(cpu.total_ns()),
                parts.join(", ")
            )
        })
        .collect()
}
