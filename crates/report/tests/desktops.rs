//! Desktops on demand in text, page and JSON, and what their metrics are called.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod markup;
mod study_fixture;

use std::path::Path;

use markup::{elements, fetches_nothing};
use stormeter_report::{TerminalOptions, html, json, terminal};
use study_fixture::{desktops, study};

#[test]
fn the_json_has_users_and_desktops_of_each_cell() {
    let printed = json(&desktops());
    let cells = printed["desktops"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    assert_eq!(cells[1]["came"], 17.25);
    assert!(cells[0]["total_ratio"].is_null());
    assert!(cells[1]["total_ratio"].as_f64().unwrap() > 1.8);
    // Sentences have the words of the report; metrics keep their names.
    let comparisons = printed["comparisons"].as_array().unwrap();
    let of_waits = comparisons.iter().find(|it| it["metric"] == "latency-p95").unwrap();
    let sentence = of_waits["sentence"].as_str().unwrap();
    assert!(sentence.contains("its p95 wait until usable is "), "{sentence}");
}

#[test]
fn the_page_has_a_table_of_each_kind_and_draws_every_cell() {
    let page = html(&desktops());
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("desktops.html"), &page).unwrap();
    assert!(page.contains("<section id=\"desktops\">") && page.contains("href=\"#desktops\""));
    let section = page.split("<section id=\"desktops\">").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    assert_eq!(section.matches("<table").count(), 3);
    // The copy is where they differ.
    assert!(
        section.contains("2.40\u{202f}s<span class=\"range\">2.4\u{202f}times</span>"),
        "{section}"
    );
    // Of four cells, twice: for wide and for narrow screens.
    assert_eq!(section.matches("users waiting<").count(), 8);
    for state in ["in use", "idle", "ready", "being made", "being taken apart"] {
        assert!(section.matches(state).count() > 1, "{state}");
    }
    assert!(!section.contains("NaN"));
    fetches_nothing(&page, &["use"]);
    elements(&page);
    assert!(!html(&study()).contains("id=\"desktops\""));
}

#[test]
fn operations_are_users_and_latencies_waits() {
    let report = desktops();
    let text = terminal(&report, TerminalOptions { width: 120, ..TerminalOptions::default() });
    let page = html(&report);
    for shown in [&text, &page] {
        assert!(shown.contains("p95 wait until usable") || shown.contains("P95 wait until usable"));
        assert!(!shown.contains("p95 latency") && !shown.contains("P95 latency"), "{shown}");
        assert!(!shown.contains("IOPS"), "{}", shown.split("IOPS").next().unwrap());
    }
    // Where there are other loads, too, the usual names stand, but for what belongs to a cell.
    let mut mixed = desktops();
    mixed.header.plan.workloads[1].kind = study().header.plan.workloads[0].kind.clone();
    let text = terminal(&mixed, TerminalOptions::default());
    assert!(text.contains("P95 latency"), "{text}");
}

#[test]
fn strange_figures_break_neither_page_nor_terminal() {
    let mut report = desktops();
    report.header.plan.workloads[0].name = "<script>\u{1b}[2J".into();
    let of = &mut report.desktops[0];
    (of.came, of.total_ns, of.total_ratio) = (f64::NAN, Some(f64::INFINITY), Some(f64::NAN));
    for row in &mut report.desktop_traces[0].rows {
        (row.start_ns, row.length_ns, row.waiting, row.used) = (u64::MAX, u64::MAX, f64::NAN, -3.0);
    }
    report.desktop_traces[1].rows.clear();
    report.desktops.remove(2);
    let page = html(&report);
    assert!(!page.contains("<script>\u{1b}") && !page.contains("NaN"));
    elements(&page);
    let text = terminal(&report, TerminalOptions::default());
    assert!(!text.contains('\u{1b}') && !text.contains("NaN"), "{text}");
}
