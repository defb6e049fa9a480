//! What the text and the JSON of a study look like, to the letter. After a change that is meant,
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-report` rewrites the files: read the difference.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod study_fixture;

use std::path::Path;

use stormeter_report::{Report, TerminalOptions, brief, json, subject, terminal};
use study_fixture::{
    Shape, answers, comparison_with, desktops, disturbed, fixed_work, made, study, usual,
};

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(golden == text, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now:\n{text}");
}

fn hundred_columns() -> TerminalOptions {
    TerminalOptions { width: 100, ..TerminalOptions::default() }
}

#[test]
fn a_study_on_a_terminal() {
    compare("study.txt", &terminal(&study(), hundred_columns()));
}

#[test]
fn fixed_work_on_a_terminal() {
    compare("study-fixed-work.txt", &terminal(&fixed_work(), hundred_columns()));
}

#[test]
fn a_study_with_steps_on_a_terminal() {
    compare("study-steps.txt", &terminal(&disturbed(), hundred_columns()));
}

#[test]
fn a_study_of_desktops_on_a_terminal() {
    compare("study-desktops.txt", &terminal(&desktops(), hundred_columns()));
}

#[test]
fn desktops_in_json() {
    let all = json(&desktops());
    let mut text = serde_json::to_string_pretty(&all["desktops"]).unwrap();
    text.push('\n');
    compare("study-desktops.json", &text);
}

#[test]
fn a_study_in_json() {
    let shape = Shape {
        workloads: vec!["vm-4k"],
        vms: vec![4],
        datastores: vec!["local", "nas"],
        blocks: 4,
        ..usual()
    };
    let report = made(&shape, |analysis| analysis.answers = answers());
    let mut text = serde_json::to_string_pretty(&json(&report)).unwrap();
    text.push('\n');
    compare("study.json", &text);
}

#[test]
fn a_comparison_in_json() {
    let mut text = serde_json::to_string_pretty(&json(&study_fixture::comparison())).unwrap();
    text.push('\n');
    compare("comparison.json", &text);
}

#[test]
fn a_comparison_has_the_compact_layout() {
    let text = terminal(&study_fixture::comparison(), hundred_columns());
    compare("comparison.txt", &text);
    let page = stormeter_report::html(&study_fixture::comparison());
    assert!(page.contains("At a glance") && !page.contains("Relative to the baseline"), "{page}");
}

/// More datastores than a line has room for.
fn wide() -> Report {
    let datastores =
        vec!["local", "nas", "san", "ceph-hdd", "ceph-nvme", "a-very-long-name-for-a-datastore"];
    made(&Shape { datastores, blocks: 3, ..usual() }, |analysis| analysis.answers = answers())
}

#[test]
fn tables_fit_the_width_and_colour_changes_nothing_else() {
    let of = [study as fn() -> Report, wide, disturbed, fixed_work, desktops];
    let widths = [40, 50, 60, 70, 80, 100, 120];
    for (report, width) in of.iter().flat_map(|report| widths.map(|width| (report(), width))) {
        let plain = terminal(&report, TerminalOptions { width, ..TerminalOptions::default() });
        for line in plain.lines().filter(|line| !line.starts_with("Repeat it")) {
            let longest = line.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
            let is_word = line.trim_start().chars().count() == longest;
            let columns = line.chars().count();
            assert!(is_word || columns <= width, "{columns} > {width}: {line}");
        }
        for name in report
            .header
            .plan
            .datastores
            .iter()
            .map(|datastore| datastore.name.get(..4).unwrap_or(&datastore.name))
        {
            assert!(plain.contains(name), "{name} is not in any table");
        }
        let mut colored =
            terminal(&report, TerminalOptions { color: true, width, ..TerminalOptions::default() });
        assert_ne!(colored, plain);
        while let Some(start) = colored.find('\x1b') {
            let end = start + colored[start..].find('m').unwrap();
            colored.replace_range(start..=end, "");
        }
        assert_eq!(colored, plain);
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    const ATTACK: &str = "x\x1b[2Jy\r\n";
    let mut report = study();
    report.header.plan.study = ATTACK.into();
    report.header.plan.datastores[1].name = ATTACK.into();
    report.header.plan.workloads[0].name = ATTACK.into();
    report.repeat_command = ATTACK.into();
    report.findings[0].what = ATTACK.into();
    for answer in &mut report.analysis.answers {
        study_fixture::attack(answer, ATTACK);
    }
    report.analysis.cells[1].failed = Some(study_fixture::failed_trials(1, ATTACK));
    let text = terminal(&report, hundred_columns());
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(text.contains("x\u{fffd}[2Jy"));
}

#[test]
fn a_study_without_a_result_still_says_so() {
    let empty = made(&Shape { blocks: 0, ..usual() }, |analysis| {
        analysis.power = None;
        analysis.findings.clear();
    });
    let text = terminal(&empty, hundred_columns());
    assert!(text.contains("No question was asked"), "{text}");
    assert!(text.contains("0 blocks"), "{text}");
}

/// A list of results says nothing that the report does not say.
#[test]
fn a_result_in_a_phrase_has_the_words_of_the_report() {
    let words = |report: &Report| {
        let text = terminal(report, hundred_columns());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let study = study();
    assert!(words(&study).contains(&brief(&study)), "{}", brief(&study));
    assert_eq!(subject(&study.header), study.header.plan.study);
    let comparison = comparison_with(|header| header.plan.study.clear(), |_| {});
    let (phrase, text) = (brief(&comparison), words(&comparison));
    let (label, verdict) = phrase.split_once(": ").unwrap();
    let (word, change) = verdict.split_once(" (").unwrap();
    for part in [label, word, change.strip_suffix(')').unwrap()] {
        assert!(
            text.contains(&part.replace('\u{202f}', " ")) || text.contains(part),
            "{part}: {text}"
        );
    }
    assert_eq!(subject(&comparison.header), format!("local, {label}"));
}
