//! What an I/O costs in CPU time, and who pays: stacked bars.
//!
//! The parts of the initiator are told apart by lightness of one hue and all by their order, which the
//! legend repeats, so they are also told apart in print and by those who see no colours.

use super::scale::Scale;
use super::{CHARACTER, WIDTH, chart, duration_tick, line, text};
use crate::compact::model::{Compact, CpuPerIo};
use crate::markup::Markup;
use crate::quantity::duration;

/// Room above the bars, and for each line of the legend.
const TOP: f64 = 14.0;
const LEGEND_LINE: f64 = 20.0;
const ROW: f64 = 42.0;
const BAR: f64 = 24.0;
const RIGHT: f64 = 84.0;

/// A part of the CPU time.
pub(crate) struct Part {
    /// What legends and tables call it.
    pub(crate) name: &'static str,
    /// How it is drawn.
    class: &'static str,
    /// How to read it; `None` where it is unknown or does not exist.
    pub(crate) ns: fn(&CpuPerIo) -> Option<f64>,
}

/// The parts, from the left.
pub(crate) const PARTS: [Part; 5] = [
    Part { name: "driving threads, user", class: "p0", ns: |cpu| Some(cpu.threads_user_ns) },
    Part { name: "driving threads, system", class: "p1", ns: |cpu| Some(cpu.threads_system_ns) },
    Part { name: "rest of this process", class: "p2", ns: |cpu| Some(cpu.process_other_ns) },
    Part { name: "target (the server's processes)", class: "p4", ns: |cpu| cpu.target_ns },
    Part {
        name: "rest of the host, softirqs included",
        class: "p3",
        ns: |cpu| Some(cpu.host_other_ns),
    },
];

/// The parts that one of the datastores has.
pub(crate) fn parts(report: &Compact) -> impl Iterator<Item = &'static Part> {
    PARTS.iter().filter(|part| report.cpu.iter().any(|cpu| (part.ns)(cpu).is_some()))
}

/// The chart; `None` when CPU times are not known.
pub(crate) fn cpu(report: &Compact) -> Option<Markup> {
    let rows: Vec<&CpuPerIo> = report.cpu.iter().filter(|cpu| cpu.total_ns().is_finite()).collect();
    if rows.is_empty() {
        return None;
    }
    let most = rows.iter().map(|cpu| cpu.total_ns()).fold(0.0, f64::max);
    let longest = report.datastores.iter().map(|d| d.label.chars().count()).max().unwrap_or(0);
    let left = (longest as f64 * CHARACTER + 20.0).clamp(80.0, 200.0);
    let top = TOP + parts(report).count().div_ceil(2) as f64 * LEGEND_LINE;
    let height = top + rows.len() as f64 * ROW + 34.0;
    let x = Scale::linear(0.0, most, left, WIDTH - RIGHT);
    let mut markup = chart("cpu", height, "CPU time per I/O", &description(report, &rows));
    for (index, part) in parts(report).enumerate() {
        let at = (left + (index % 2) as f64 * 220.0, 6.0 + (index / 2) as f64 * LEGEND_LINE);
        markup
            .tag("rect")
            .at("class", format!("part {}", part.class))
            .at("x", at.0)
            .at("y", at.1)
            .at("width", 12.0)
            .at("height", 12.0)
            .empty();
        text(&mut markup, "tick start", (at.0 + 18.0, at.1 + 10.5), part.name);
    }
    let bottom = top + rows.len() as f64 * ROW;
    for tick in x.ticks(6) {
        let at = x.at(tick);
        line(&mut markup, "grid", (at, top), (at, bottom)).empty();
        text(&mut markup, "tick middle", (at, bottom + 18.0), &duration_tick(tick));
    }
    for (index, cpu) in rows.iter().enumerate() {
        row(&mut markup, report, cpu, &x, top + index as f64 * ROW + (ROW - BAR) / 2.0, left);
    }
    Some(markup)
}

fn row(markup: &mut Markup, report: &Compact, cpu: &CpuPerIo, x: &Scale, y: f64, left: f64) {
    let middle = y + BAR / 2.0 + 4.0;
    text(markup, "name end", (left - 12.0, middle), &report.label(cpu.datastore));
    let mut from = 0.0;
    for part in parts(report) {
        let Some(ns) = (part.ns)(cpu).map(|ns| ns.max(0.0)) else { continue };
        let (start, end) = (x.at(from), x.at(from + ns));
        from += ns;
        markup
            .tag("rect")
            .at("class", format!("part {}", part.class))
            .at("x", start)
            .at("y", y)
            .at("width", end - start)
            .at("height", BAR)
            .open();
        markup.leaf("title", &format!("{}: {}", part.name, duration(ns)));
        markup.close();
        let words = duration(ns).typeset();
        if end - start > words.chars().count() as f64 * CHARACTER + 8.0 {
            let class = format!("value middle on-{}", part.class);
            text(markup, &class, ((start + end) / 2.0, middle), &words);
        }
    }
    let total = duration(cpu.total_ns()).typeset();
    text(markup, "value start strong", (x.at(from) + 8.0, middle), &total);
}

fn description(report: &Compact, rows: &[&CpuPerIo]) -> String {
    rows.iter()
        .map(|cpu| {
            let parts: Vec<String> = parts(report)
                .filter_map(|part| Some(format!("{} {}", part.name, duration((part.ns)(cpu)?))))
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
