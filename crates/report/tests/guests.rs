//! What the guests of a rack did, in the report of a study that ran on such.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod markup;
mod study_fixture;

use std::path::Path;

use markup::{count, elements, fetches_nothing};
use stormeter_report::{GuestTrace, Report, TerminalOptions, html, json, terminal};
use study_fixture::{on_guests, study};

fn text(report: &Report, width: usize) -> String {
    terminal(report, TerminalOptions { width, ..TerminalOptions::default() })
}

#[test]
fn every_guest_has_a_line_in_the_terminal_and_an_object_in_json() {
    let report = on_guests();
    let shown = text(&report, 80);
    let (_, section) = shown.split_once("Guest activity\n").unwrap();
    let (table, _) = section.split_once("CPUs: of the machine").unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + report.guests.len(), "{table}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        words(lines[6]),
        ["san", "storage", "0.48", "0.72", "9.6", "%", "12.5", "%", "115MiB"]
    );
    // Narrower than the table, nothing is lost.
    assert!(text(&report, 40).contains("vnc2"));
    let printed = json(&report);
    assert_eq!(printed["guests"].as_array().unwrap().len(), 11);
    assert_eq!(printed["guests"][5]["kind"], "storage");
    assert!(json(&study()).get("guests").is_none());
    assert!(!text(&study(), 80).contains("Guest activity"));
}

#[test]
fn the_page_draws_every_guest() {
    let page = html(&on_guests());
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests.html"), &page).unwrap();
    assert!(page.contains("<section id=\"guests\">") && page.contains("href=\"#guests\""));
    let before = html(&study());
    assert!(!before.contains("id=\"guests\""));
    // CPU, disks, networks, memory.
    let charts = |page: &str| page.matches("role=\"img\"").count();
    assert_eq!(charts(&page), charts(&before) + 4);
    let section = page.split("<section id=\"guests\">").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    for name in ["ce1", "core", "san", "client", "vnc2"] {
        // In the table and over two panels at least.
        assert!(section.matches(name).count() >= 3, "{name}");
    }
    // A router has no disks here, and only the client an agent.
    let titles = |id: &str| {
        let chart = section.split(&format!("id=\"{id}-title\"")).nth(1).unwrap();
        chart.split("</svg>").next().unwrap().matches("class=\"note start\"").count()
    };
    assert_eq!(
        ["cpu", "disk", "network", "memory"].map(|kind| titles(&format!("guests-{kind}"))),
        [11, 6, 1, 11]
    );
    assert!(section.contains("20 s within each trial"));
    fetches_nothing(&page, &["use"]);
    assert!(count(&elements(&page), "svg") > 0);
}

#[test]
fn strange_guests_break_neither_page_nor_terminal() {
    let mut report = on_guests();
    report.guests[0].name = "<script>\u{1b}[2J".into();
    report.guest_traces[1].rows.clear();
    for row in &mut report.guest_traces[2].rows {
        (row.at_ns, row.length_ns, row.cpus_busy) = (u64::MAX, u64::MAX, f64::NAN);
    }
    report.guest_traces.push(GuestTrace { name: "nobody".into(), rows: vec![] });
    let page = html(&report);
    assert!(!page.contains("<script>\u{1b}") && !page.contains("NaN"));
    elements(&page);
    assert!(!text(&report, 80).contains('\u{1b}'));
}
