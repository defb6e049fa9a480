//! Sides from runs to what people and programs read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use stormeter_gate::{
    Aspect, GateCell, GateRun, NamedRuns, SidesError, SidesOptions, by_datastore, compared_metrics,
    sides,
};
use stormeter_report::TerminalOptions;
use stormeter_report::sides::{Sides, derived_schema, html, json, terminal};
use stormeter_statistics::{Interval, Verdict};
use stormeter_study::Metric;
use stormeter_testkit::{assert_golden, undescribed, violations};

fn cell(datastore: &str, load: &str, iops: f64) -> GateCell {
    GateCell {
        datastore: datastore.into(),
        load: load.into(),
        made_with: vec![(Aspect::Load, vec!["requests of 4096 bytes".into()])],
        values: vec![(Metric::Iops, iops), (Metric::LatencyMean, 4e9 / iops)],
        within: vec![],
    }
}

fn run(file: &str, cells: Vec<GateCell>) -> GateRun {
    GateRun {
        source: file.into(),
        began_s: Some(1.79e9),
        made_with: vec![
            (Aspect::Generator, vec!["fio".into()]),
            (Aspect::Version, vec!["3.33".into()]),
        ],
        cells,
        invalid: None,
    }
}

fn side(name: &str, target: &str, levels: &[f64]) -> NamedRuns {
    let runs = levels.iter().enumerate().map(|(day, level)| {
        let cells = vec![cell(target, "night", *level), cell(target, "day", 2.0 * level)];
        run(&format!("{name}-{day}.json"), cells)
    });
    NamedRuns { name: name.into(), runs: runs.collect() }
}

fn options() -> SidesOptions {
    SidesOptions {
        primary: Metric::Iops,
        metrics: compared_metrics(),
        margin: 0.05,
        level: 0.95,
        may_differ: [].into(),
    }
}

fn of(named: &[NamedRuns]) -> Sides {
    sides(named, &options()).unwrap()
}

fn verdicts(sides: &Sides) -> Vec<Verdict> {
    sides.verdicts().into_iter().map(|(.., verdict)| verdict).collect()
}

#[test]
fn sides_of_one_datastore_each_are_compared_by_load_whatever_it_is_called() {
    let nas = side("nas", "/mnt/nas", &[1000.0, 1004.0, 998.0]);
    let san = side("san", "/mnt/san", &[1500.0, 1490.0, 1512.0]);
    let found = of(&[nas, san]);
    assert_eq!(
        found.loads.iter().map(|load| load.name.as_str()).collect::<Vec<_>>(),
        ["night", "day"]
    );
    assert_eq!(verdicts(&found), [Verdict::Faster, Verdict::Faster]);
    let iops = &found.loads[0].metrics[0].values;
    let value = iops[1].as_ref().unwrap();
    assert_eq!(value.runs, 3);
    assert!((value.value - 1500.6).abs() < 0.1 && value.between_runs.unwrap() < 0.01);
    assert!((value.compared.unwrap().ratio - 1.5).abs() < 0.01);
    // More IOPS is better, and more latency is not.
    let latency = found.loads[0].metrics[1].values[1].as_ref().unwrap();
    assert_eq!(latency.compared.unwrap().verdict, Verdict::Faster);
}

#[test]
fn sides_of_several_datastores_are_compared_by_both_names() {
    let both = |name: &str, nas: f64, san: f64| NamedRuns {
        name: name.into(),
        runs: vec![run(name, vec![cell("nas", "night", nas), cell("san", "night", san)])],
    };
    let mut old = both("old", 1000.0, 2000.0);
    old.runs[0].cells.push(cell("gone", "night", 1.0));
    let found = of(&[old, both("new", 1001.0, 1000.0)]);
    let names: Vec<&str> = found.loads.iter().map(|load| load.name.as_str()).collect();
    assert_eq!(names, ["nas, night", "san, night"]);
    assert_eq!(found.only_in.len(), 1);
    assert_eq!(found.only_in[0].load, "gone, night");
    let other = NamedRuns {
        name: "x".into(),
        runs: vec![run("x", vec![cell("a", "b", 1.0), cell("c", "d", 1.0)])],
    };
    let none = sides(&[both("old", 1.0, 1.0), other], &options());
    assert!(matches!(none, Err(SidesError::NothingInCommon { .. })), "{none:?}");
    let empty = NamedRuns { name: "e".into(), runs: vec![run("e", vec![])] };
    assert!(matches!(sides(&[empty], &options()), Err(SidesError::Empty { .. })));
}

#[test]
fn one_run_each_gives_no_verdict_and_says_what_would_help() {
    let with = |name: &str, iops: f64| {
        let mut one = side(name, "/srv/vm", &[iops]);
        for cell in &mut one.runs[0].cells {
            let value = cell.value(Metric::Iops).unwrap();
            let interval = Interval { low: 0.99 * value, high: 1.01 * value, level: 0.95 };
            cell.within = vec![(Metric::Iops, interval)];
        }
        one
    };
    let found = of(&[with("old", 1000.0), with("new", 1500.0)]);
    assert_eq!(verdicts(&found), [Verdict::Inconclusive; 2]);
    let text = terminal(&found, TerminalOptions::default());
    assert!(text.contains("No verdict from one run on each side"), "{text}");
    assert!(text.contains("measure each side three times or more"), "{text}");
    assert!(text.contains("+50.0 % (within the runs +47.9 to +52.1 %)"), "{text}");
}

#[test]
fn runs_that_are_not_alike_have_no_verdict_unless_that_is_allowed() {
    let old = side("old", "/srv/vm", &[1000.0, 1004.0, 998.0]);
    let mut new = side("new", "/srv/vm", &[1500.0, 1490.0, 1512.0]);
    for cell in new.runs.iter_mut().flat_map(|run| &mut run.cells) {
        cell.made_with[0].1 = vec!["requests of 8192 bytes".into()];
    }
    let found = of(&[old.clone(), new.clone()]);
    assert_eq!(verdicts(&found), [Verdict::Invalid; 2]);
    let text = terminal(&found, TerminalOptions::default());
    assert!(
        text.contains("differ in load: old requests of 4096 bytes, new requests of 8192"),
        "{text}"
    );
    let allowed = SidesOptions { may_differ: [Aspect::Load].into(), ..options() };
    let found = sides(&[old.clone(), new], &allowed).unwrap();
    assert_eq!(verdicts(&found), [Verdict::Faster; 2]);
    // Runs of the baseline that differ among themselves are no repetitions.
    let mut mixed = old.clone();
    mixed.runs[1].made_with[1].1 = vec!["3.35".into()];
    assert_eq!(verdicts(&of(&[mixed, old])), [Verdict::Invalid; 2]);
}

#[test]
fn a_run_with_failures_is_named_and_not_used() {
    let old = side("old", "/srv/vm", &[1000.0, 1004.0, 998.0]);
    let mut new = side("new", "/srv/vm", &[1000.0, 1002.0, 3.0]);
    new.runs[2].invalid = Some("7 I/Os failed".into());
    let found = of(&[old, new]);
    assert_eq!(verdicts(&found), [Verdict::Equivalent; 2]);
    let text = terminal(&found, TerminalOptions::default());
    assert!(text.contains("new-2.json: it is not used: 7 I/Os failed"), "{text}");
}

/// Of 40 loads with no difference at all, two would be called different at 5 % each.
#[test]
fn chance_does_not_make_a_verdict_out_of_many_loads() {
    let mut state = 7u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut side = |name: &str| {
        let runs = (0..3).map(|day| {
            let cells = (0..40).map(|load| {
                let iops = 1000.0 * (0.05 * (noise() + noise() - 1.0)).exp();
                cell("/srv/vm", &format!("load {load}"), iops)
            });
            run(&format!("{name}-{day}"), cells.collect())
        });
        NamedRuns { name: name.into(), runs: runs.collect() }
    };
    let found = of(&[side("a"), side("b")]);
    let called = verdicts(&found);
    let wrong = |it: &&Verdict| matches!(it, Verdict::Faster | Verdict::Slower);
    assert_eq!((called.len(), called.iter().filter(wrong).count()), (40, 0));
    let uncorrected = found.loads.iter().filter(|load| {
        let compared = load.metrics[0].values[1].as_ref().unwrap().compared.unwrap();
        compared.p.unwrap() < 0.05
    });
    assert!(uncorrected.count() > 0);
    let text = terminal(&found, TerminalOptions::default());
    assert!(text.starts_with("b against a in IOPS, over 40 loads:"), "{text}");
}

#[test]
fn results_of_several_targets_are_sides_of_their_own() {
    let day = |name: &str, level: f64| {
        run(name, vec![cell("/mnt/nas", "night", level), cell("/mnt/san", "night", 2.0 * level)])
    };
    let named = by_datastore(&[day("a", 1000.0), day("b", 1004.0), day("c", 998.0)]);
    assert_eq!(
        named.iter().map(|side| side.name.as_str()).collect::<Vec<_>>(),
        ["/mnt/nas", "/mnt/san"]
    );
    assert_eq!(verdicts(&of(&named)), [Verdict::Faster]);
}

#[test]
fn the_text_is_as_committed_and_the_page_says_the_same() {
    let mut san = side("<san>", "/mnt/san", &[1500.0, 1490.0, 1512.0]);
    san.runs[0].cells.push(cell("/mnt/san", "evening", 7.0));
    san.runs[0].cells[0].values.push((Metric::LatencyP99, 9e6));
    let found = of(&[side("nas", "/mnt/nas", &[1000.0, 1004.0, 998.0]), san]);
    let golden = |name: &str| format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    for (width, name) in [(60, "sides-60.txt"), (100, "sides-100.txt")] {
        let text = terminal(&found, TerminalOptions { width, ..TerminalOptions::default() });
        assert_golden(Path::new(&golden(name)), &text);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
    }
    let page = html(&found, "0.1.0");
    assert!(
        page.contains("&lt;san&gt; is faster than nas: IOPS") && !page.contains("<san>"),
        "{page}"
    );
    assert!(page.ends_with("</html>") || page.ends_with("</html>\n"));
}

#[test]
fn the_committed_schema_is_the_derived_one_and_fits_the_json() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/sides.schema.json");
    assert_golden(Path::new(path), &derived_schema());
    let schema = serde_json::from_str(&derived_schema()).unwrap();
    assert_eq!(undescribed(&schema), Vec::<String>::new());
    let one_each = [side("a", "/x", &[1.0]), side("b", "/y", &[2.0])];
    let many = [side("a", "/x", &[1.0, 1.1]), side("b", "/y", &[2.0, 2.1])];
    for named in [&one_each, &many] {
        let found = violations(&schema, &json(&of(named)));
        assert!(found.is_empty(), "{found:?}");
    }
}
