//! The reporter, event by event: what the board and the metrics show.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_conclude::{Attempts, surroundings, views};
use stormeter_export::Form;
use stormeter_results::{Attempt, EventKind, Phase, TrialOutcome, TrialRecord};
use stormeter_runner::{BlockEnd, Estimate, Progress, SoFar, TrialStart};
use stormeter_statistics::analyse;
use stormeter_study::{Metric, StudyPlan, parse_study};
use stormeter_testkit::{interval, sample};
use stormeter_trial::{CpuUsage, Disturbance, TrialFailure};
use stormeter_watch::{Board, Reporter, RunKind, Stage, exposition};

fn plan() -> StudyPlan {
    parse_study("study: \"Which \\\"one\\\"?\"\ndatastores: {a: /a, b: /b}").unwrap()
}

fn record(block: u32, cell: usize, outcome: TrialOutcome) -> TrialRecord {
    TrialRecord {
        id: 0,
        block,
        position: cell as u32,
        datastore: Some(cell),
        cell: Some(cell),
        phase: Phase::Main,
        started_unix_ms: 0,
        elapsed_ns: 0,
        seed: 0,
        outcome,
        incidents: Vec::new(),
        monitor: Vec::new(),
        guests: Vec::new(),
        components: Vec::new(),
        attempt: Attempt::default(),
    }
}

fn measured(block: u32, cell: usize, iops: f64) -> TrialRecord {
    let cpu = CpuUsage { process_ns: 5_000_000, ..CpuUsage::default() };
    let outcome = TrialOutcome::Measured { sample: sample(iops), cpu, notes: Vec::new() };
    record(block, cell, outcome)
}

fn text(board: &Board) -> String {
    exposition(&board.look(), Form::OpenMetrics)
}

#[track_caller]
fn has(board: &Board, line: &str) {
    let text = text(board);
    assert!(text.lines().any(|it| it == line), "no line {line} in\n{text}");
}

const A: &str = "datastore=\"a\",workload=\"vm-4k\",vms=\"1\"";

#[test]
fn the_values_of_cells_are_those_that_are_concluded() {
    let plan = plan();
    let (mut reporter, board) = Reporter::new(&plan, RunKind::Comparison, "1");
    let mut trials = vec![measured(0, 0, 1000.0), measured(0, 1, 3000.0)];
    let mut attempts = Attempts::of(&plan, Vec::new(), &trials);
    // Resumed with two trials.
    reporter.started("r1", &SoFar { trials: &trials, attempts: &attempts });
    for (block, cell, iops) in [(1, 1, 2500.0), (1, 0, 4000.0), (2, 0, 2500.0)] {
        trials.push(measured(block, cell, iops));
        attempts.add(trials.last().unwrap());
        reporter.recorded(&SoFar { trials: &trials, attempts: &attempts });
    }
    let around = surroundings(&plan, Vec::new(), &trials, &attempts);
    let analysis = analyse(&plan, &views(&trials, &attempts), &around);
    let now = board.look();
    assert_eq!(now.trials, [3, 2]);
    for (shown, concluded) in now.cells.iter().zip(&analysis.cells) {
        let concluded: Vec<(Metric, f64)> =
            concluded.values.iter().map(|value| (value.metric, value.value)).collect();
        assert!(concluded.len() > 5, "{concluded:?}");
        assert_eq!(shown.values, concluded);
    }
    has(
        &board,
        "stormeter_run_info{run=\"r1\",study=\"Which \\\"one\\\"?\",kind=\"comparison\"} 1",
    );
    has(&board, "stormeter_trials_total{outcome=\"measured\"} 5");
    has(&board, &format!("stormeter_cell_trials{{{A}}} 3"));
    has(&board, &format!("stormeter_iops_per_second{{{A}}} 2500"));
}

#[test]
fn a_trial_is_shown_while_it_runs_and_counted_when_it_is_over() {
    let plan = plan();
    let (mut reporter, board) = Reporter::new(&plan, RunKind::Comparison, "1");
    reporter.preparing("/a", 25, 100);
    has(&board, "stormeter_stage{stage=\"writing\"} 1");
    has(&board, "stormeter_written_ratio{datastore=\"/a\"} 0.25");
    let start = |cell| TrialStart {
        datastore: "a",
        block: Some(2),
        purpose: "trial",
        cell,
        length_ns: None,
        place: None,
    };
    reporter.trial(&start(None));
    reporter.interval(&interval(0, 500_000_000, 7));
    has(&board, "stormeter_stage{stage=\"ceiling\"} 1");
    assert!(!text(&board).contains("stormeter_interval_"), "a ceiling is of no cell");
    reporter.trial(&start(Some(0)));
    reporter.interval(&interval(0, 500_000_000, 100));
    reporter.interval(&interval(500_000_000, 500_000_000, 200));
    has(&board, &format!("stormeter_trial{{{A}}} 1"));
    has(&board, "stormeter_trial_block 3");
    has(&board, &format!("stormeter_interval_iops_per_second{{{A}}} 400"));
    has(&board, &format!("stormeter_interval_throughput_bytes_per_second{{{A}}} 1638400"));
    let reads = format!("{{{A},direction=\"read\"}}");
    has(&board, &format!("stormeter_operations_total{reads} 300"));
    has(&board, &format!("stormeter_moved_bytes_total{reads} 1228800"));
    let trials = [measured(2, 0, 1000.0)];
    let attempts = Attempts::of(&plan, Vec::new(), &trials);
    reporter.recorded(&SoFar { trials: &trials, attempts: &attempts });
    has(&board, "stormeter_stage{stage=\"between\"} 1");
    assert!(!text(&board).contains("stormeter_interval_"), "it is over");
    has(&board, &format!("stormeter_operations_total{reads} 300"));
}

/// An interval in which nothing ended has a rate and no latency.
#[test]
fn a_stall_has_no_latency() {
    let (mut reporter, board) = Reporter::new(&plan(), RunKind::Comparison, "1");
    reporter.trial(&TrialStart {
        datastore: "a",
        block: Some(0),
        purpose: "trial",
        cell: Some(0),
        length_ns: None,
        place: None,
    });
    reporter.interval(&interval(0, 500_000_000, 0));
    has(&board, &format!("stormeter_interval_iops_per_second{{{A}}} 0"));
    assert!(!text(&board).contains("stormeter_interval_latency"), "{}", text(&board));
}

#[test]
fn what_happens_is_counted() {
    let plan = plan();
    let (mut reporter, board) = Reporter::new(&plan, RunKind::Study, "1");
    reporter.event(&EventKind::SnapshotTaken);
    let failed = TrialOutcome::Failed {
        failure: TrialFailure::Datastore { said: "stalled".into() },
        sample: None,
    };
    let mut steps = measured(0, 0, 1000.0);
    if let TrialOutcome::Measured { sample, .. } = &mut steps.outcome {
        let step = |failure| Disturbance {
            what: "kill a".into(),
            planned_ns: 0,
            begun_ns: 0,
            took_ns: 0,
            failure,
        };
        sample.disturbances = vec![step(None), step(None), step(Some("no".into()))];
        sample.reads.errors = 4;
    }
    let trials = [record(0, 1, failed), steps];
    let attempts = Attempts::of(&plan, Vec::new(), &trials);
    reporter.started("r", &SoFar { trials: &trials, attempts: &attempts });
    has(&board, "stormeter_events_total{event=\"snapshot-taken\"} 1");
    has(&board, "stormeter_trials_total{outcome=\"failed\"} 1");
    has(&board, "stormeter_steps_total{outcome=\"done\"} 2");
    has(&board, "stormeter_steps_total{outcome=\"failed\"} 1");
    has(&board, "stormeter_io_errors_total{datastore=\"a\"} 4");
    let estimate =
        Estimate { metric: Metric::Iops, half_width: Some(0.125), rest_ns: 1_500_000_000 };
    reporter.block_ended(&BlockEnd { blocks: 3, most: 8, estimate: Some(estimate) });
    has(&board, "stormeter_blocks 3");
    has(&board, "stormeter_trials_planned 16");
    has(&board, "stormeter_precision_ratio 0.125");
    has(&board, "stormeter_rest_seconds 1.5");
    reporter.ended(Vec::new());
    assert_eq!(board.look().stage, Stage::Ended);
}

/// A reader keeps what it looks at, whatever happens meanwhile.
#[test]
fn a_look_is_of_one_moment() {
    let (mut reporter, board) = Reporter::new(&plan(), RunKind::Study, "1");
    let before = board.look();
    reporter.event(&EventKind::SnapshotTaken);
    assert!(before.events.is_empty());
    assert_eq!(board.look().events.len(), 1);
}
