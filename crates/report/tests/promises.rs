//! What datastores promise about acknowledged writes is on every kind of report: next to the verdicts where it differs,
//! as a row next to the figures, and with its evidence in the details.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod study_fixture;

use std::path::Path;

use fixture::{LOCAL, NAS, durable};
use stormeter_report::compact;
use stormeter_report::{Report, TerminalOptions, html, json, terminal};
use stormeter_results::{Acknowledged, Header, Promise, PromiseEvidence};
use stormeter_statistics::{Analysis, Fact, LawFinding, MetricSummary, Promised};
use stormeter_study::{Metric, WorkloadKind};
use stormeter_trial::Workload;
use study_fixture::{comparison, comparison_with, made, usual};

const LESS: &str = "local promises less than nas: an acknowledged write may still be in a volatile cache on local (vda \
                    has a write-back cache, with FUA) and is on stable storage on nas (writes are requested as \
                    FILE_SYNC). To compare like with like, ";

fn volatile() -> Promise {
    let device = "vda".into();
    Promise {
        acknowledged: Acknowledged::VolatileCache,
        evidence: vec![
            PromiseEvidence::Direct,
            PromiseEvidence::DeviceCache { device, write_back: true, fua: true },
        ],
    }
}

fn stable() -> Promise {
    let stable = "FILE_SYNC".into();
    Promise::new(Acknowledged::Stable, PromiseEvidence::NfsWrites { stable })
}

/// The finding as the statistics have it, with the names of the plan.
fn unlike(names: [&str; 2]) -> LawFinding {
    let [local, nas] = names.map(String::from);
    let promised = vec![
        Promised { datastore: 0, name: local, promise: volatile() },
        Promised { datastore: 1, name: nas, promise: stable() },
    ];
    LawFinding::warning(Fact::UnlikePromises { promised, workloads: vec![] })
}

fn describe(header: &mut Header) {
    for (datastore, promise) in header.datastores.iter_mut().zip([volatile(), stable()]) {
        datastore.promise = Some(promise);
    }
}

fn add(analysis: &mut Analysis) {
    analysis.findings.insert(0, (None, unlike(["local", "nas"])));
}

fn unlike_comparison() -> Report {
    comparison_with(describe, add)
}

fn text(report: &Report, width: usize) -> String {
    terminal(report, TerminalOptions { width, ..TerminalOptions::default() })
}

/// With one space in place of line breaks and columns.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn workload(header: &mut Header, change: impl FnOnce(&mut Workload)) {
    match &mut header.plan.workloads[0].kind {
        WorkloadKind::Io(io) => change(io),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_comparison_reads_as_the_golden_file_has_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/promises.txt");
    let text = text(&unlike_comparison(), 80);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap());
}

#[test]
fn it_is_the_sentence_after_the_verdict_and_said_once() {
    let text = flowing(&text(&unlike_comparison(), 80));
    let (_, after) = text.split_once(" blocks. ").unwrap();
    assert!(after.starts_with(LESS), "{text}");
    assert_eq!(text.matches("promises less").count(), 1, "{text}");
    let page = html(&unlike_comparison());
    let (_, after) = page.split_once("</h1>").unwrap();
    let paragraph = after.trim_start().strip_prefix("<p class=\"promises\">").unwrap();
    assert!(paragraph.starts_with(LESS), "{paragraph:.300}");
    assert_eq!(page.matches("promises less").count(), 1);
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("promises.html"), page).unwrap();
}

#[test]
fn programs_read_it_by_itself_and_among_the_findings() {
    let printed = json(&unlike_comparison());
    assert!(printed["unlike_promises"].as_str().unwrap().starts_with(LESS), "{printed:#}");
    assert_eq!(printed["findings"][0]["severity"], "warning");
    assert!(printed["findings"][0]["what"].as_str().unwrap().starts_with("local promises less"));
    let promise = &printed["datastores"][0]["promise"];
    assert_eq!(promise["acknowledged"], "volatile-cache");
    assert_eq!(promise["evidence"][1], "vda has a write-back cache, with FUA");
    assert_eq!(printed["datastores"][1]["promise"]["acknowledged"], "stable");
}

/// The plan of a comparison names datastores by their URLs.
#[test]
fn a_sentence_names_datastores_by_their_labels() {
    const LONG: &str = "nfs://nas1.storage.example.com/export/of/the/build/farm";
    let report = comparison_with(
        |header| {
            header.plan.study.clear();
            header.plan.datastores[1].url = LONG.into();
            for datastore in &mut header.plan.datastores {
                datastore.name.clone_from(&datastore.url);
            }
        },
        |analysis| analysis.findings.push((None, unlike(["/srv/vm", LONG]))),
    );
    let sentence = report.unlike_promises.unwrap().what;
    assert!(sentence.starts_with("/srv/vm promises less than nfs:…"), "{sentence}");
    assert!(!sentence.contains(LONG), "{sentence}");
}

#[test]
fn the_row_is_next_to_the_figures_at_every_width() {
    for width in [40, 50, 60, 80, 120] {
        let text = text(&unlike_comparison(), width);
        assert!(text.lines().all(|it| it.starts_with("Repeat") || it.chars().count() <= width));
        let (_, row) = text.split_once("\nacknowledged writes").unwrap();
        let row = flowing(&row[..row.find("\n\n").unwrap()]);
        let expected = "local in a volatile cache nas on stable storage";
        assert_eq!(row, expected, "{width}: {text}");
    }
    let page = html(&unlike_comparison());
    let (_, row) = page.split_once("<th scope=\"row\">acknowledged writes</th>").unwrap();
    let row = row.split_once("</tr>").unwrap().0;
    assert!(row.contains(">in a volatile cache</td>") && row.contains(">on stable storage</td>"));
}

#[test]
fn details_have_all_the_evidence() {
    let expected = "Acknowledged writes: in a volatile cache (O_DIRECT: writes bypass the page cache; vda has a \
                    write-back cache, with FUA)";
    assert!(html(&unlike_comparison()).contains(expected));
    assert!(html(&study()).contains(expected));
}

/// Of several loads, the row is a table.
fn study() -> Report {
    let mut study = made(&usual(), add);
    describe(&mut study.header);
    study
}

#[test]
fn a_study_has_the_finding_and_a_table() {
    let study = study();
    let text = text(&study, 100);
    assert!(flowing(&text).contains(&format!("warning: {}", &LESS[..70])), "{text}");
    let (_, table) = text.split_once("\nAcknowledged writes\n").unwrap();
    let lines: Vec<&str> = table.lines().take(4).collect();
    assert_eq!(
        lines,
        ["  local  in a volatile cache", "  nas    on stable storage", "  san    –", ""]
    );
    let page = html(&study);
    let (_, table) = page.split_once("<h3>Acknowledged writes</h3>").unwrap();
    let table = table.split_once("</table>").unwrap().0;
    assert!(table.contains("<td>in a volatile cache</td>") && table.contains("<td>–</td>"));
}

#[test]
fn a_file_from_before_promises_were_found_out_has_none_of_it() {
    let old = comparison();
    assert!(!text(&old, 80).contains("acknowledged"));
    assert!(!html(&old).to_lowercase().contains("acknowledged writes"));
    let printed = json(&old);
    assert!(printed.get("unlike_promises").is_none());
    assert!(printed["datastores"][0]["promise"].is_null());
}

#[test]
fn the_row_says_what_the_workload_asked_for() {
    let row = |change: fn(&mut Header)| {
        let report = comparison_with(
            |header| {
                describe(header);
                change(header);
            },
            |_| {},
        );
        let text = text(&report, 80);
        let row = text.split_once("acknowledged writes\n")?.1;
        Some(flowing(row.split_once("\n\n").unwrap().0))
    };
    let plain = "local in a volatile cache nas on stable storage";
    assert_eq!(row(|_| {}).unwrap(), plain);
    // Nothing is written.
    assert_eq!(row(|header| workload(header, |io| io.read_percent = 100.0)), None);
    let forced = row(|header| workload(header, |io| io.durable = true));
    assert_eq!(forced.unwrap(), "local durable, as asked for nas durable, as asked for");
    // What is in memory, or nowhere, is so for all that is asked.
    let cannot = row(|header| {
        workload(header, |io| io.durable = true);
        let file_system = "tmpfs".into();
        let in_memory = PromiseEvidence::FileSystemInMemory { file_system };
        let [first, second, ..] = header.datastores.as_mut_slice() else { panic!("two") };
        first.promise = Some(Promise::new(Acknowledged::Memory, in_memory));
        second.promise = Some(Promise::new(Acknowledged::Memory, PromiseEvidence::KeepsNothing));
    });
    assert_eq!(cannot.unwrap(), "local in memory nas not kept");
}

#[test]
fn flushes_and_durable_writes_have_rows_and_say_what_they_are_part_of() {
    const FLUSHES: &str = "Flushes are no I/Os";
    const DURABLE: &str = "Durable writes are I/Os";
    let plain = fixture::report(&[LOCAL, NAS]);
    let with = durable(fixture::report(&[LOCAL, NAS]));
    let options = TerminalOptions { width: 80, ..TerminalOptions::default() };
    let [plain_text, text] = [&plain, &with].map(|it| flowing(&compact::terminal(it, options)));
    let [plain_page, page] = [&plain, &with].map(compact::html);
    for title in
        ["p50 flush latency", "p99 flush latency", "p50 durable write", "p99 durable write"]
    {
        assert!(text.contains(title) && page.contains(title), "{title}: {text}");
    }
    for words in [FLUSHES, DURABLE] {
        assert!(text.contains(words) && page.contains(words), "{words}: {text}");
        assert!(!plain_text.contains(words) && !plain_page.contains(words), "{words}");
    }
    // So do those of a study, which draws them too.
    let study = made(&usual(), |analysis| {
        for cell in &mut analysis.cells {
            let mean = cell.values.iter().find(|it| it.metric == Metric::LatencyMean).copied();
            let of = |metric| MetricSummary { metric, ..mean.unwrap() };
            cell.values.extend([Metric::FlushP50, Metric::FlushP99].map(of));
        }
    });
    let (text, page) = (terminal(&study, options), html(&study));
    for title in ["P50 flush latency (less is better)", "P99 flush latency (less is better)"] {
        assert!(text.contains(title), "{text}");
    }
    assert!(page.contains("id=\"matrix-flush-p50\"") && page.contains("id=\"matrix-flush-p99\""));
    assert!(flowing(&text).contains(FLUSHES) && page.contains(FLUSHES));
    assert!(!text.contains(DURABLE) && !page.contains(DURABLE));
}
