//! What an I/O costs in CPU time, and who pays.

use super::model::{Compact, CpuPerIo};
use crate::markup::Markup;
use crate::page::swatches;
use crate::quantity::duration;
use crate::svg::duration_tick;
use crate::svg::stacked::{self, Row, Stacked, stacked};

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
pub(super) fn parts(report: &Compact) -> impl Iterator<Item = &'static Part> {
    PARTS.iter().filter(|part| report.cpu.iter().any(|cpu| (part.ns)(cpu).is_some()))
}

/// Legend and chart; `None` when CPU times are not known.
pub(super) fn cpu(report: &Compact) -> Option<Markup> {
    let known: Vec<&CpuPerIo> =
        report.cpu.iter().filter(|cpu| cpu.total_ns().is_finite()).collect();
    let chart = stacked(&Stacked {
        id: "cpu".into(),
        title: "CPU time per I/O".into(),
        description: description(report, &known),
        rows: known.iter().map(|cpu| row(report, cpu)).collect(),
        high: known.iter().map(|cpu| cpu.total_ns()).fold(0.0, f64::max),
        tick: duration_tick,
        row: 36.0,
    })?;
    let mut page = Markup::default();
    swatches(&mut page, parts(report).map(|part| (part.class.into(), part.name)));
    page.append(chart);
    Some(page)
}

fn row(report: &Compact, cpu: &CpuPerIo) -> Row {
    let parts = parts(report).filter_map(|part| {
        let ns = (part.ns)(cpu)?.max(0.0);
        Some(stacked::Part {
            class: part.class.into(),
            on: format!("on-{}", part.class),
            length: ns,
            tooltip: format!("{}: {}", part.name, duration(ns)),
            words: duration(ns).typeset(),
        })
    });
    Row {
        label: report.label(cpu.datastore),
        parts: parts.collect(),
        whole: duration(cpu.total_ns()).typeset(),
    }
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
