//! Recovery time as a metric: compared by blocks, and absent where a trial ended too early.

use stormeter_disk::DeviceError;
use stormeter_study::{Step, StepAction};
use stormeter_trial::{Disturbance, IoFailure, IoFailureOutcome};

use super::*;
use crate::finding::{Fact, LawFinding, SeenIn, Severity};
use crate::study::{Surroundings, analyse};

const BLOCKS: u32 = 6;

/// Two datastores and a step in each trial, after which `a` continues and `b` stands still for the number of
/// intervals that `still` gives for the block.
fn disturbed(still: impl Fn(u32) -> usize) -> (StudyPlan, Trials) {
    let mut plan = plan(&["a", "b"], &["w"], &[1]);
    let what = StepAction::Fault("link-flap nas 10ms".parse().unwrap());
    plan.steps = vec![Step { at_ns: 1_000_000, what }];
    let mut trials = Trials::of(&plan, BLOCKS, |_, _| 1000.0);
    for block in 0..BLOCKS {
        for cell in 0..2 {
            let (sample, _) = trials.at(block, cell);
            // Within the fourth of ten intervals, at a moment of the block's own.
            let length_ns = sample.interval_ns;
            let begun_ns = (4 * length_ns - length_ns * u64::from(block + 1) / 20) as i64;
            sample.disturbances = vec![Disturbance {
                what: "link-flap nas 10ms".into(),
                planned_ns: begun_ns,
                begun_ns,
                took_ns: 0,
                failure: None,
            }];
            let still = if cell == 1 { still(block) } else { 0 };
            for row in 4..4 + still {
                let moved = std::mem::take(&mut sample.intervals[row].reads);
                // The totals stay.
                sample.intervals[9].reads.operations += moved.operations;
            }
        }
    }
    (plan, trials)
}

fn analysed(plan: &StudyPlan, trials: &Trials) -> crate::study::Analysis {
    analyse(plan, &trials.views(), &Surroundings::default())
}

#[test]
fn recovery_and_outage_are_compared_like_any_metric() {
    let (mut plan, trials) = disturbed(|_| 2);
    plan.questions =
        vec!["a is faster than b in recovery".into(), "outage of b is at most 1ms".into()];
    let analysis = analysed(&plan, &trials);
    assert_eq!(analysis.answers[0].reply, Reply::Yes, "{:?}", analysis.answers[0]);
    assert_eq!(analysis.answers[1].reply, Reply::No, "{:?}", analysis.answers[1]);
    let value = |cell: usize, metric: Metric| {
        analysis.cells[cell].values.iter().find(|value| value.metric == metric).unwrap().value
    };
    // 20 ms an interval. From 17.5 to 5 percent of one before the fifth, by the block.
    let lead_ns = 20e6 * (1..=6).map(f64::from).sum::<f64>() / 6.0 / 20.0;
    assert!((value(0, Metric::Recovery) - (20e6 + lead_ns)).abs() < 1.0);
    assert!((value(1, Metric::Recovery) - (60e6 + lead_ns)).abs() < 1.0);
    assert_eq!((value(0, Metric::Outage), value(1, Metric::Outage)), (20e6, 60e6));
    // The drop of throughput is what the step is for, and no drift.
    assert!(
        analysis.findings.iter().all(|(_, found)| found.fact.law().is_none()),
        "{:?}",
        analysis.findings
    );
}

#[test]
fn a_trial_that_ends_too_early_leaves_its_cell_without_a_time_and_is_reported() {
    let (mut plan, trials) = disturbed(|block| if block == 2 { 4 } else { 2 });
    plan.questions = vec!["a is faster than b in recovery".into()];
    let analysis = analysed(&plan, &trials);
    let has = |cell: usize| {
        analysis.cells[cell].values.iter().any(|value| value.metric == Metric::Recovery)
    };
    assert_eq!((has(0), has(1)), (true, false));
    assert_eq!(analysis.answers[0].reply, Reply::NotAnswered, "{:?}", analysis.answers[0]);
    let seen_in = SeenIn { trials: 1, of: 6 };
    let found = analysis.findings.iter().find_map(|(cell, found)| match found.fact {
        Fact::NotRecovered { seen_in: found_in, least_ns } if found_in == seen_in => {
            Some((*cell, found.severity, least_ns / 1_000_000))
        }
        _ => None,
    });
    assert_eq!(found, Some((Some(1), Severity::Warning, 123)));
}

#[test]
fn errors_under_steps_are_reported_and_invalidate_nothing() {
    let (plan, mut trials) = disturbed(|_| 2);
    let (sample, _) = trials.at(3, 1);
    sample.reads.errors = 5;
    sample.io_failures = vec![IoFailure {
        disk: 0,
        kind: stormeter_disk::Kind::Read,
        offset_bytes: 0,
        length_bytes: 4096,
        outcome: IoFailureOutcome::Failed(DeviceError(5)),
    }];
    let found = |trials: &Trials| {
        let of_errors = |(_, found): &&(Option<usize>, LawFinding)| found.fact.law() == Some(10);
        analysed(&plan, trials).findings.iter().find(of_errors).map(|(_, found)| found.severity)
    };
    assert_eq!(found(&trials), Some(Severity::Warning));
    let (sample, _) = trials.at(3, 1);
    sample.disturbances.clear();
    assert_eq!(found(&trials), Some(Severity::Invalid));
}
