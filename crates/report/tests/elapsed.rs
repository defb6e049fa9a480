//! What a report takes from trials: the time of a run is what it spent on them, a pause before a resumption is none;
//! and what happened in those before the first block is reported too.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_report::{Parts, Report, TrialParts, assemble, study_key};
use stormeter_results::{
    Attempt, Header, Incident, Phase, StorageEvent, TrialOutcome, TrialRecord,
};
use stormeter_statistics::Analysis;
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing, Unit, profile};
use stormeter_trial::TrialFailure;

fn header() -> Header {
    let timing = Timing { ramp_ns: 1, duration_ns: 1, interval_ns: 1 };
    let plan = StudyPlan::from(&ComparisonPlan {
        datastores: vec!["/a".into(), "/b".into()],
        baseline: 0,
        workload: profile("vm-4k").unwrap().workload,
        vms: 1,
        disk_bytes: 1 << 30,
        threads: 0,
        timing,
        metric: Metric::Iops,
        precision: 0.02,
        margin: 0.05,
        level: 0.95,
        min_blocks: 5,
        max_blocks: 9,
        time_limit_ns: 1,
        equal_load: None,
        seed: 1,
        verify: false,
    });
    Header {
        created_unix_ms: 0,
        run_id: "0".into(),
        stormeter_version: "0".into(),
        command_line: vec![],
        plan,
        environment: Default::default(),
        datastores: vec![],
        prediction: None,
    }
}

fn trial(started_unix_ms: u64, elapsed_ns: u64) -> TrialRecord {
    TrialRecord {
        id: 0,
        block: 0,
        position: 0,
        datastore: Some(0),
        cell: Some(0),
        phase: Phase::Main,
        started_unix_ms,
        elapsed_ns,
        seed: 0,
        outcome: TrialOutcome::Failed {
            failure: TrialFailure::Datastore { said: "stalled".into() },
            sample: None,
        },
        incidents: vec![],
        monitor: vec![],
        guests: vec![],
        components: vec![],
        attempt: Attempt::default(),
    }
}

/// The report of these trials, from which nothing is concluded.
fn report(trials: &[TrialRecord]) -> Report {
    let nothing = Analysis {
        complete_blocks: 0,
        unit: Unit::Trial,
        cells: vec![],
        answers: vec![],
        findings: vec![],
        power: None,
    };
    let main = trials.iter().filter(|trial| trial.phase == Phase::Main);
    let of_cells: Vec<_> = main.map(|trial| TrialParts::of(trial, 0, &[])).collect();
    let records: Vec<&TrialRecord> = trials.iter().collect();
    assemble(Parts {
        header: header(),
        trials: &of_cells,
        events: &[],
        finished: None,
        analysis: nothing,
        ceilings: &[],
        host_shares: (&records, &[]),
        guests: &[],
        elasticities: &[],
        assumed: &[],
        supposed: &[],
        repeat_command: String::new(),
        names: study_key,
    })
}

#[test]
fn a_pause_between_two_parts_of_a_run_is_no_time_of_it() {
    let an_hour_ms = 3_600_000;
    let trials = [trial(1000, 2_000_000_000), trial(1000 + an_hour_ms, 3_000_000_000)];
    assert_eq!(report(&trials).status.elapsed_ns, 5_000_000_000);
}

#[test]
fn what_happened_while_an_equal_load_was_looked_for_is_reported() {
    let lost = |phase| TrialRecord {
        phase,
        incidents: vec![Incident::new(StorageEvent::Other { said: "connection lost".into() })],
        ..trial(1000, 1)
    };
    let reported = |trials: &[TrialRecord]| {
        let findings = report(trials).findings;
        let mut own = findings.into_iter().filter(|it| it.what.contains("connection lost"));
        own.next().map(|finding| (finding.subject, finding.what))
    };
    let both = [lost(Phase::Capacity), lost(Phase::Main)];
    let what = "before the first block and in block 1: connection lost (2 times)";
    assert_eq!(reported(&both), Some(("/a".into(), what.into())));
    let what = "before the first block: connection lost";
    assert_eq!(reported(&both[..1]), Some(("/a".into(), what.into())));
    assert_eq!(reported(&[lost(Phase::Ceiling)]), None, "it is not the datastore's");
}
