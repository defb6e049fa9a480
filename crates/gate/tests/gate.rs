//! Gates from runs to what other programs read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;
use stormeter_gate::{
    Aspect, Gate, GateCell, GateError, GateOptions, GateOutcome, GateRun, PrintedGate, annotations,
    derived_schema, gate, junit, markdown, terminal,
};
use stormeter_study::Metric;
use stormeter_testkit::{assert_golden, undescribed, violations};

fn run(name: &str, began_s: f64, values: &[(&str, f64)]) -> GateRun {
    let cell = |(datastore, iops): &(&str, f64)| GateCell {
        datastore: (*datastore).into(),
        load: "vm-4k".into(),
        made_with: vec![(Aspect::Durability, vec!["on stable storage".into()])],
        values: vec![(Metric::Iops, *iops), (Metric::LatencyMean, 4e9 / iops)],
        within: vec![],
    };
    GateRun {
        source: name.into(),
        began_s: Some(began_s),
        made_with: vec![(Aspect::Machine, vec!["a machine".into()])],
        cells: values.iter().map(cell).collect(),
        invalid: None,
    }
}

fn history() -> Vec<GateRun> {
    let levels = [1000.0, 1004.0, 998.0, 1001.0, 997.0, 1002.0];
    let runs = levels.into_iter().enumerate();
    runs.map(|(day, level)| {
        run(&format!("{day}.db"), day as f64, &[("nas", level), ("a|b", 2.0 * level)])
    })
    .collect()
}

fn options() -> GateOptions {
    GateOptions {
        metrics: vec![Metric::Iops],
        max_slowdown: 0.03,
        alpha: 0.05,
        may_differ: BTreeSet::new(),
    }
}

fn of(new: &[(&str, f64)]) -> Gate {
    gate(&history(), &[run("new.db", 10.0, new)], &options()).unwrap()
}

#[test]
fn a_slow_datastore_is_a_regression_and_the_other_is_not() {
    let found = of(&[("nas", 900.0), ("a|b", 2001.0)]);
    assert_eq!(found.outcome, GateOutcome::Regression);
    assert_eq!(of(&[("nas", 1003.0), ("a|b", 1990.0)]).outcome, GateOutcome::Fine);
    // A datastore that was never measured is left out.
    assert_eq!(of(&[("nas", 1003.0), ("new", 1.0)]).cells.len(), 1);
    let text = format!(
        "{}\n---\n{}\n---\n{}\n---\n{}",
        terminal(&found, 80),
        annotations(&found),
        markdown(&found),
        junit(&found)
    );
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/regression.txt");
    assert_golden(Path::new(golden), &text);
}

#[test]
fn unlike_runs_are_refused_by_name_unless_they_may_differ() {
    let mut new = run("new.db", 10.0, &[("nas", 1000.0)]);
    new.made_with = vec![(Aspect::Machine, vec!["another".into()])];
    new.cells[0].made_with = vec![(Aspect::Durability, vec!["in memory".into()])];
    let Err(GateError::Unlike { differences }) = gate(&history(), &[new.clone()], &options())
    else {
        panic!("not refused");
    };
    let aspects: Vec<Aspect> = differences.iter().map(|one| one.aspect).collect();
    assert_eq!(aspects, [Aspect::Machine, Aspect::Durability]);
    let may_differ = BTreeSet::from([Aspect::Machine, Aspect::Durability]);
    let found = gate(&history(), &[new], &GateOptions { may_differ, ..options() }).unwrap();
    assert_eq!((found.outcome, found.differences.len()), (GateOutcome::Fine, 2));
}

#[test]
fn invalid_runs_are_refused_when_new_and_left_out_when_old() {
    let mut bad = run("bad.db", 2.5, &[("nas", 10.0)]);
    bad.invalid = Some("a law is broken".into());
    assert!(matches!(
        gate(&history(), std::slice::from_ref(&bad), &options()),
        Err(GateError::Invalid { .. })
    ));
    let mut history = history();
    history.push(bad.clone());
    let found = gate(&history, &[run("new.db", 10.0, &[("nas", 1000.0)])], &options()).unwrap();
    assert_eq!((found.left_out, found.outcome), (vec!["bad.db".to_owned()], GateOutcome::Fine));
    let none = gate(&[bad], &[run("new.db", 10.0, &[("nas", 1000.0)])], &options());
    assert_eq!(none, Err(GateError::NoHistory { left_out: 1 }));
}

#[test]
fn one_run_each_decides_nothing_and_says_what_is_missing() {
    let found =
        gate(&history()[..1], &[run("new.db", 10.0, &[("nas", 500.0)])], &options()).unwrap();
    assert_eq!(found.outcome, GateOutcome::Inconclusive);
    assert!(terminal(&found, 80).contains("at least three runs"), "{}", terminal(&found, 80));
}

#[test]
fn several_figures_share_the_error_level() {
    // Alone each would be just enough.
    let alone = of(&[("nas", 964.5)]);
    assert_eq!(alone.outcome, GateOutcome::Regression);
    let p = alone.cells[0].judgement.p.unwrap();
    assert!(p > 0.025, "{p}");
    let both = of(&[("nas", 964.5), ("a|b", 2003.0)]);
    assert_eq!(both.outcome, GateOutcome::Inconclusive);
}

#[test]
fn junit_is_well_formed_and_counts() {
    let text = junit(&of(&[("nas", 900.0), ("a|b", 2001.0)]));
    let mut reader = Reader::from_str(&text);
    let (mut cases, mut failures) = (0, 0);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) | Event::Empty(tag) => {
                cases += usize::from(tag.name().as_ref() == "testcase");
                failures += usize::from(tag.name().as_ref() == "failure");
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((cases, failures), (2, 1));
}

#[test]
fn the_committed_schema_is_the_derived_one_and_fits_the_json() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/gate.schema.json");
    assert_golden(Path::new(path), &derived_schema());
    let schema = serde_json::from_str(&derived_schema()).unwrap();
    assert_eq!(undescribed(&schema), Vec::<String>::new());
    let printed = PrintedGate::from(&of(&[("nas", 900.0), ("a|b", 2001.0)]));
    let found = violations(&schema, &serde_json::to_value(&printed).unwrap());
    assert!(found.is_empty(), "{found:?}");
}
