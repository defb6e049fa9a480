//! A time line from runs to what people and programs read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use stormeter_gate::{Aspect, GateCell, GateRun, NamedRun, SidesOptions, TimelineError, timeline};
use stormeter_report::TerminalOptions;
use stormeter_report::timeline::{Mark, Timeline, derived_schema, html, json, terminal};
use stormeter_statistics::{Interval, Verdict};
use stormeter_study::Metric;
use stormeter_testkit::{assert_golden, undescribed, violations};

/// 2026-11-20 02:00 UTC.
const FIRST_S: f64 = 1_795_140_000.0;
const DAY_S: f64 = 86_400.0;

fn cell(datastore: &str, load: &str, iops: f64) -> GateCell {
    let within = Interval { low: 0.99 * iops, high: 1.012 * iops, level: 0.95 };
    GateCell {
        datastore: datastore.into(),
        load: load.into(),
        made_with: vec![(Aspect::Load, vec!["requests of 4096 bytes".into()])],
        values: vec![
            (Metric::Iops, iops),
            (Metric::LatencyP99, 8e9 / iops),
            (Metric::LatencyMean, 4e9 / iops),
            (Metric::CpuPerIo, 5_200.0),
        ],
        within: vec![(Metric::Iops, within)],
    }
}

/// The run of a day, of one load on two datastores.
fn run(name: &str, day: f64, levels: (f64, f64)) -> NamedRun {
    NamedRun {
        name: name.into(),
        run: GateRun {
            source: format!("/results/{name}.db"),
            began_s: Some(FIRST_S + day * DAY_S),
            made_with: vec![
                (Aspect::Generator, vec!["stormeter".into()]),
                (Aspect::Version, vec!["0.1.0".into()]),
            ],
            cells: vec![cell("nas", "night", levels.0), cell("san", "night", levels.1)],
            invalid: None,
        },
    }
}

/// Six nights; after the fourth the nas is slower, and the san is not.
fn nights() -> Vec<NamedRun> {
    let levels = [
        (12_000.0, 20_000.0),
        (12_050.0, 20_100.0),
        (11_990.0, 19_960.0),
        (12_020.0, 20_050.0),
        (10_600.0, 20_020.0),
        (10_560.0, 20_070.0),
    ];
    let names = ["fri", "sat", "sun", "mon", "tue", "wed"];
    let each = names.iter().zip(levels).enumerate();
    each.map(|(day, (name, levels))| run(name, day as f64, levels)).collect()
}

fn mark(day: f64, label: &str) -> Mark {
    let at_unix_ms = ((FIRST_S + day * DAY_S) * 1e3) as u64;
    Mark { at_unix_ms, has_time: true, label: label.into() }
}

fn options() -> SidesOptions {
    SidesOptions {
        primary: Metric::Iops,
        metrics: vec![],
        margin: 0.05,
        level: 0.95,
        may_differ: [].into(),
    }
}

fn of(runs: &[NamedRun], marks: &[Mark]) -> Timeline {
    timeline(runs, marks, &options()).unwrap()
}

fn verdicts(timeline: &Timeline) -> Vec<Verdict> {
    timeline.verdicts().collect()
}

#[test]
fn runs_are_in_the_order_of_their_times_and_each_has_its_changes() {
    let mut runs = nights();
    runs.reverse();
    let found = of(&runs, &[]);
    let names: Vec<&str> = found.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["fri", "sat", "sun", "mon", "tue", "wed"]);
    let cells: Vec<&str> = found.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(cells, ["nas, night", "san, night"]);
    let metrics: Vec<Metric> = found.cells[0].metrics.iter().map(|it| it.metric).collect();
    // The mean latency is there only where no run has a tail.
    assert_eq!(metrics, [Metric::Iops, Metric::LatencyP99, Metric::CpuPerIo]);
    let tuesday = found.cells[0].metrics[0].values[4].as_ref().unwrap();
    let (previous, first) = (tuesday.previous.unwrap().0, tuesday.first.unwrap().0);
    assert!((previous.ratio - 10_600.0 / 12_020.0).abs() < 1e-9, "{previous:?}");
    assert!((first.ratio - 10_600.0 / 12_000.0).abs() < 1e-9, "{first:?}");
    // Two runs have no verdict, but what happened within them.
    assert_eq!((previous.verdict, previous.interval), (Verdict::Inconclusive, None));
    assert!(previous.within.unwrap().high < 0.92, "{previous:?}");
    assert_eq!(found.cells[0].metrics[0].values[0].as_ref().unwrap().previous, None);
    assert!(verdicts(&found).is_empty());
}

#[test]
fn a_mark_compares_the_runs_before_with_those_after() {
    let found = of(&nights(), &[mark(3.5, "firmware 5.2")]);
    assert_eq!(verdicts(&found), [Verdict::Slower, Verdict::Equivalent]);
    let text = terminal(&found, TerminalOptions::default());
    let said = "nas, night: after firmware 5.2 is slower than before firmware 5.2: IOPS";
    assert!(text.replace('\n', " ").contains(said), "{text}");
    // On its side of a mark a run is by its beginning.
    let moved = of(&nights(), &[mark(4.0, "firmware 5.2")]);
    assert_eq!(moved.compared[0].sides[1].runs.len(), 2);
    let moved = of(&nights(), &[mark(4.0001, "firmware 5.2")]);
    assert_eq!(moved.compared[0].sides[1].runs.len(), 1);
}

#[test]
fn verdicts_at_several_marks_hold_together() {
    let mut runs = nights();
    // The change on Tuesday is barely seen by itself.
    for (run, iops) in runs.iter_mut().zip([1000.0, 1010.0, 1005.0, 995.0, 1024.0, 1030.0]) {
        run.run.cells = vec![cell("nas", "night", iops)];
    }
    let alone = of(&runs, &[mark(3.5, "b")]);
    assert_eq!(verdicts(&alone), [Verdict::Faster]);
    let many = of(&runs, &[mark(3.5, "b"), mark(0.5, "a"), mark(1.5, "a2")]);
    assert_eq!(many.compared[2].sides[1].name, "after b");
    assert_eq!(many.compared[2].sides[0].runs.len(), 2);
    assert!(verdicts(&many).iter().all(|it| *it != Verdict::Faster), "{:?}", verdicts(&many));
}

#[test]
fn what_is_not_alike_is_said_and_has_no_verdict() {
    let mut runs = nights();
    for run in &mut runs[4..] {
        run.run.made_with[1].1 = vec!["0.2.0".into()];
    }
    let found = of(&runs, &[]);
    let text = terminal(&found, TerminalOptions::default()).replace('\n', " ");
    let said = "from tue on the runs differ in version: before 0.1.0, then 0.2.0";
    assert!(text.contains(said) && text.contains('≠'), "{text}");
    assert!(!found.cells[0].metrics[0].values[4].as_ref().unwrap().previous.unwrap().1);
    let marked = of(&runs, &[mark(3.5, "firmware")]);
    assert_eq!(verdicts(&marked), [Verdict::Invalid; 2]);
    let may_differ = [Aspect::Version].into();
    let allowed = SidesOptions { may_differ, ..options() };
    let allowed = timeline(&runs, &[mark(3.5, "firmware")], &allowed).unwrap();
    assert_eq!(verdicts(&allowed), [Verdict::Slower, Verdict::Equivalent]);
}

#[test]
fn a_run_that_failed_is_named_and_has_no_values() {
    let mut runs = nights();
    runs[2].run.invalid = Some("7 I/Os failed".into());
    for marks in [&[][..], &[mark(3.5, "firmware")]] {
        let found = of(&runs, marks);
        assert_eq!(found.cells[0].metrics[0].values[2], None);
        let text = terminal(&found, TerminalOptions::default()).replace('\n', " ");
        let said = "/results/sun.db: it is not used: 7 I/Os failed";
        assert_eq!(text.matches(said).count(), 1, "{text}");
    }
}

#[test]
fn what_makes_no_time_line_is_refused() {
    let error = |runs: &[NamedRun], marks: &[Mark]| timeline(runs, marks, &options()).unwrap_err();
    assert_eq!(error(&nights()[..1], &[]), TimelineError::TooFew);
    let mut runs = nights();
    runs[1].run.cells = vec![cell("x", "day", 1.0), cell("y", "day", 1.0)];
    let refused = error(&runs, &[]);
    assert!(
        matches!(&refused, TimelineError::NothingInCommon { name, .. } if name == "sat"),
        "{refused}"
    );
    runs[1].run.cells.clear();
    assert!(error(&runs, &[]).to_string().contains("sat has no figures"));
    for (day, place) in [(-1.0, "before"), (9.0, "after")] {
        let refused = error(&nights(), &[mark(day, "firmware")]).to_string();
        assert!(refused.contains(&format!("no run is {place} firmware (2026-")), "{refused}");
    }
    let refused = error(&nights(), &[mark(2.5, "a"), mark(2.6, "b")]).to_string();
    assert!(refused.contains("no run is before b and after a"), "{refused}");
    let mut undated = nights();
    undated[3].run.began_s = None;
    let refused = error(&undated, &[mark(3.5, "firmware")]).to_string();
    assert!(refused.contains("mon does not say when it was run"), "{refused}");
}

#[test]
fn without_times_the_order_is_that_of_the_names() {
    let mut runs = nights();
    runs.reverse();
    runs[0].run.began_s = None;
    let found = of(&runs, &[]);
    assert_eq!(found.runs[0].name, "wed");
    let text = terminal(&found, TerminalOptions::default()).replace('\n', " ");
    assert!(text.contains("wed: there is no time of the run in the file"), "{text}");
    assert!(html(&found, "0.1.0").contains("<svg"));
}

#[test]
fn a_day_without_a_time_is_said_to_come_before_the_runs_of_that_day() {
    let day = Mark { has_time: false, ..mark(4.0 - 2.0 / 24.0, "firmware") };
    let found = of(&nights(), &[day]);
    assert_eq!(found.compared[0].sides[1].runs.len(), 2);
    let text = terminal(&found, TerminalOptions::default()).replace('\n', " ");
    assert!(text.contains("tue ran on that day: this counts as after it"), "{text}");
}

fn shown() -> Timeline {
    let mut runs = nights();
    runs[5].run.cells.push(cell("<san>", "evening", 7.0));
    runs[1].run.cells.pop();
    of(&runs, &[mark(3.5, "firmware <5.2>")])
}

#[test]
fn it_is_shown_in_any_width_and_on_a_page() {
    let golden = |name: &str| format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    for (width, name) in
        [(50, "timeline-50.txt"), (80, "timeline-80.txt"), (200, "timeline-200.txt")]
    {
        let text = terminal(&shown(), TerminalOptions { width, ..TerminalOptions::default() });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert_golden(Path::new(&golden(name)), &text);
    }
    let page = html(&shown(), "0.1.0");
    let places = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(places.join("timeline.html"), &page).unwrap();
    assert!(page.contains("after firmware &lt;5.2&gt;") && !page.contains("<5.2>"), "{page}");
    assert!(page.contains("&lt;san&gt;") && !page.contains("<san>"), "{page}");
    // A drawing for narrow screens precedes each.
    assert_eq!((page.matches("role=\"img\"").count(), page.matches("<svg").count()), (6, 12));
    assert!(page.contains("fri: 12\u{202f}000 ± 1.2"), "{page}");
}

#[test]
fn what_is_not_finite_is_not_drawn() {
    let mut found = shown();
    for value in found.cells[0].metrics.iter_mut().flat_map(|it| &mut it.values).flatten() {
        value.value = f64::NAN;
    }
    let value = found.cells[1].metrics[0].values[0].as_mut().unwrap();
    value.within = Some(Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, level: 0.95 });
    let page = html(&found, "0.1.0");
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn the_committed_schema_is_the_derived_one_and_fits_the_json() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/timeline.schema.json");
    assert_golden(Path::new(path), &derived_schema());
    let schema = serde_json::from_str(&derived_schema()).unwrap();
    assert_eq!(undescribed(&schema), Vec::<String>::new());
    for found in [shown(), of(&nights()[..2], &[])] {
        let found = violations(&schema, &json(&found));
        assert!(found.is_empty(), "{found:?}");
    }
}
