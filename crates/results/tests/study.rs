//! A study goes into a results file and comes out again, cell by cell.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{study_header, study_trial};
use rusqlite::Connection;
use stormeter_disk::DeviceError;
use stormeter_results::{
    AssumedEffect, DatastoreFact, DatastoreNote, EngineNote, Event, EventKind, FoundData,
    OtherValue, Phase, ResultsError, ResultsFile, Sharing, TrialOutcome, TrialRecord,
};
use stormeter_study::Metric;
use stormeter_trial::{Disturbance, Interval, IntervalTotals};

fn make(path: &Path, seed: u64, trials: u64) -> Vec<TrialRecord> {
    let mut file = ResultsFile::create(path, &study_header()).unwrap();
    let trials: Vec<_> = (0..trials).map(|id| study_trial(seed, id)).collect();
    for trial in &trials {
        file.append_trial(trial, &[]).unwrap();
    }
    trials
}

#[test]
fn what_was_written_is_read_back_exactly() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let path = directory.path().join(format!("{seed}.db"));
        let written = make(&path, seed, 8);
        let file = ResultsFile::open(&path).unwrap();
        assert_eq!(file.header().unwrap(), study_header());
        assert_eq!(file.trials().unwrap(), written, "seed {seed}");
        drop(file);
        let file = ResultsFile::open_for_resume(&path).unwrap();
        assert_eq!(file.header().unwrap(), study_header());
    }
}

#[test]
fn what_a_prediction_assumes_is_read_back_and_replaced() {
    let effect = |cell, other: &str, ratio| AssumedEffect {
        cell,
        of: OtherValue {
            parameter: "controllers.filer.cache.destage-depth".into(),
            value: "16".into(),
            other: other.into(),
            is_default: other == "2",
        },
        metric: Metric::Iops,
        ratio,
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    make(&path, 1, 2);
    assert_eq!(ResultsFile::open(&path).unwrap().assumed_effects().unwrap(), []);
    let both = [effect(0, "2", 0.5), effect(0, "32", 1.5), effect(3, "2", 0.75)];
    for all in [&both[..], &both[1..]] {
        let mut file = ResultsFile::open_for_resume(&path).unwrap();
        file.replace_assumed_effects(all).unwrap();
        assert_eq!(file.assumed_effects().unwrap(), all);
    }
    // Files of the form before have no such table, and get it when trials are added.
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("DROP TABLE assumed; PRAGMA user_version = 8").unwrap();
    drop(connection);
    assert_eq!(ResultsFile::open(&path).unwrap().assumed_effects().unwrap(), []);
    let mut file = ResultsFile::open_for_resume(&path).unwrap();
    file.replace_assumed_effects(&both).unwrap();
    assert_eq!(file.assumed_effects().unwrap(), both);
}

#[test]
fn a_trial_of_no_cell_of_the_study_is_not_taken_in() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut file = ResultsFile::create(&path, &study_header()).unwrap();
    let cells = study_header().plan.cells().len();
    assert_eq!(cells, 2 * 2 * (3 * 2 + 1), "transfers have no levels of outstanding");
    let mut outside = study_trial(1, 0);
    outside.cell = Some(cells);
    file.append_trial(&outside, &[]).unwrap_err();
    assert_eq!(file.trials().unwrap(), []);
}

#[test]
fn cells_that_the_plan_does_not_have_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("strange.db");
    make(&path, 4, 8);
    let sound = std::fs::read(&path).unwrap();
    for (change, words) in [
        ("UPDATE trial SET cell = 28 WHERE cell NOT NULL", "cell that the plan does not have"),
        ("UPDATE trial SET cell = -1", "damaged"),
        ("UPDATE trial SET datastore = 1 - datastore", "cell of another datastore"),
        ("UPDATE trial SET datastore = NULL", "cell of another datastore"),
        ("UPDATE monitor SET number = number + 100", "not counted from 0"),
        ("UPDATE monitor SET at_ns = -1", "at_ns = -1"),
        ("DELETE FROM monitor", "interval that is not there"),
        ("DELETE FROM monitor_core WHERE core = 0", "leaves a CPU out"),
        ("UPDATE guest SET number = number + 100", "guests that are not counted from 0"),
        ("UPDATE guest SET kind = 'toaster'", "the kind of guest"),
        ("UPDATE guest_monitor SET number = number + 100", "not counted from 0"),
        ("UPDATE guest_monitor SET memory_bytes = -1", "memory_bytes = -1"),
        ("DELETE FROM guest WHERE number = 0", "not counted from 0"),
        ("DELETE FROM guest", "guest that is not there"),
        ("DROP TABLE guest_monitor", "no such table"),
        ("UPDATE step SET times = -4", "times = -4"),
        ("DROP TABLE step", "no such table"),
        ("UPDATE desktop_total SET gone = -1", "gone = -1"),
        ("UPDATE desktop_step SET times = -4", "times = -4"),
        ("UPDATE desktop_work_histogram SET high_ns = low_ns", "unknown buckets"),
        ("UPDATE desktop_work_histogram SET count = 9223372036854775807", "do not add up"),
        ("DELETE FROM desktop_work", "without totals of their users' work"),
        ("UPDATE desktop_unserved SET wait_max_ns = -2", "wait_max_ns = -2"),
        ("UPDATE desktop_interval SET start_ns = -1", "start_ns = -1"),
        ("DROP TABLE desktop_interval", "no such table"),
    ] {
        std::fs::write(&path, &sound).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {change}")).unwrap();
        drop(connection);
        let error = ResultsFile::open(&path).unwrap().trials().expect_err(change).to_string();
        assert!(error.contains(words), "{change}: {error}");
    }
}

#[test]
fn a_header_that_no_run_writes_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hostile.db");
    make(&path, 4, 1);
    let sound = std::fs::read(&path).unwrap();
    // A hundred thousand levels of two factors: a few megabytes that stand for ten thousand million
    // cells.
    let many = format!("json('[{}1]')", "1,".repeat(100_000));
    let io = "plan.workloads[0].kind";
    for (changes, words) in [
        (vec![("plan.baseline", "2")], "baseline"),
        (vec![("plan.datastores", "json('[]')")], "baseline"),
        (vec![("datastores", "json('[]')")], "0 datastores are described and 2 are planned"),
        (vec![("plan.datastores[1].name", "'local'")], "datastores of one name"),
        (vec![("plan.workloads", "json('[]')")], "no cells"),
        (vec![("plan.workloads[1].name", "'mixed'")], "workloads of one name"),
        (vec![("plan.vms", "json('[]')")], "no cells"),
        (vec![("plan.vms", "json('[1, 0]')")], "0 VMs"),
        (vec![("plan.outstanding", "json('[0]')")], "0 outstanding"),
        (vec![("plan.vms", &many), ("plan.outstanding", &many)], "cells"),
        (vec![("plan.design.level", "0.5")], "confidence level"),
        (vec![("plan.design.level", "1")], "confidence level"),
        (vec![("plan.design.level", "json('1e999')")], "damaged"),
        (vec![("plan.design.precision", "0")], "precision"),
        (vec![("plan.design.margin", "1")], "margin"),
        (vec![("plan.design.blocks", "json('{\"fixed\":0}')")], "0 blocks"),
        (vec![("plan.design.blocks.auto.max", "4")], "5 to 4 blocks"),
        (vec![("plan.timing.interval_ns", "0")], "0 ns"),
        (vec![("plan.disk_bytes", "100")], "workload \"mixed\""),
        (vec![(&format!("{io}.arrivals.outstanding"), "0")], "workload \"mixed\""),
        (vec![("plan.workloads[1].kind.record_bytes", "0")], "without work"),
        (vec![("plan.workloads[2].kind.messages", "0")], "without work"),
        (vec![("plan.workloads[3].kind.copy_bytes", "0")], "without work"),
    ] {
        std::fs::write(&path, &sound).unwrap();
        let connection = Connection::open(&path).unwrap();
        for (key, value) in &changes {
            let change = format!(
                "UPDATE meta SET value = json_set(value, '$.{key}', {value}) WHERE key = 'header'"
            );
            assert_eq!(connection.execute(&change, []).unwrap(), 1);
        }
        drop(connection);
        let file = ResultsFile::open(&path).unwrap();
        for error in [file.header().unwrap_err(), file.trials().unwrap_err()] {
            assert!(matches!(error, ResultsError::Corrupt { .. }), "{words}: {error}");
            assert!(error.to_string().contains(words), "{words}: {error}");
        }
    }
}

#[test]
fn the_tables_serve_people_with_sql() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let trials = make(&path, 5, 40);
    let plan = study_header().plan;
    let cells = plan.cells();
    let connection = Connection::open(&path).unwrap();
    let rows: i64 = connection.query_row("SELECT count(*) FROM cell", [], |r| r.get(0)).unwrap();
    assert_eq!(rows, cells.len() as i64);
    let is_compared = |trial: &&TrialRecord| trial.phase == Phase::Main && trial.cpu().is_some();
    let compared: Vec<_> = trials.iter().filter(is_compared).collect();
    let fixed_work_trials =
        |trial: &&&TrialRecord| trial.sample().is_some_and(|s| !s.steps.is_empty());
    assert!(compared.iter().filter(fixed_work_trials).count() > 2 && compared.len() > 5);
    for trial in &compared {
        let cell = cells[trial.cell.unwrap()];
        let mut select = connection
            .prepare(
                "SELECT metric, unit, value, datastore_name, workload, vms, outstanding, block \
                 FROM observation WHERE trial_id = ?",
            )
            .unwrap();
        let mut rows = select.query([trial.id as i64]).unwrap();
        let mut metrics = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let metric: String = row.get("metric").unwrap();
            let value: Option<f64> = row.get("value").unwrap();
            let levels: (String, String, u32, Option<u32>, u32) = (
                row.get("datastore_name").unwrap(),
                row.get("workload").unwrap(),
                row.get("vms").unwrap(),
                row.get("outstanding").unwrap(),
                row.get("block").unwrap(),
            );
            let (store, workload) =
                (&plan.datastores[cell.datastore], &plan.workloads[cell.workload]);
            let (store, workload) = (store.name.clone(), workload.name.clone());
            assert_eq!(levels, (store, workload, cell.vms, cell.outstanding, trial.block));
            let sample = trial.sample().unwrap();
            match metric.as_str() {
                "iops" => assert_eq!(value, Some(sample.iops())),
                "updates" => assert_eq!(value, sample.updates_per_s()),
                "elapsed" => assert_eq!(value, Some(sample.window_ns as f64)),
                "host-cpu" => assert!((0.0..=1.0).contains(&value.unwrap()), "{value:?}"),
                _ => {}
            }
            metrics.push(metric);
        }
        let sample = trial.sample().unwrap();
        let issue = sample.issue.as_ref();
        let is_open = issue.is_some_and(|issue| issue.service.mean_ns().is_some());
        let has_steps = !sample.steps.is_empty();
        let expected = Metric::ALL
            .into_iter()
            .filter(|m| !m.is_of_steps() && (*m != Metric::Elapsed || has_steps))
            .filter(|m| *m != Metric::Updates || sample.updates.is_some())
            .filter(|m| match (m.desktop_step(), sample.desktops.as_ref()) {
                (Some(step), Some(desktops)) => desktops.step_mean_ns(step).is_some(),
                (None, Some(desktops)) => {
                    !m.is_of_desktops() || desktops.work().histogram.count() > 0
                }
                (_, None) => !m.is_of_desktops(),
            })
            .filter(|m| is_open || !m.is_of_open_loops())
            .filter(|m| sample.flushes.operations > 0 || !m.is_of_flushes())
            .filter(|m| sample.durable.operations > 0 || !m.is_of_durable_writes());
        let mut expected: Vec<_> = expected.map(Metric::name).collect();
        expected.sort_unstable();
        metrics.sort_unstable();
        assert_eq!(metrics, expected);
    }
    let (steps, shares): (i64, i64) = connection
        .query_row(
            "SELECT (SELECT count(*) FROM step), (SELECT count(*) FROM monitor_core)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let total = |count: fn(&TrialRecord) -> usize| trials.iter().map(count).sum::<usize>() as i64;
    assert_eq!(steps, total(|trial| trial.sample().map_or(0, |sample| sample.steps.len())));
    let cores = |trial: &TrialRecord| trial.monitor.iter().map(|row| row.cores_busy.len()).sum();
    assert_eq!(shares, total(cores));
}

#[test]
fn what_was_done_to_the_storage_is_kept_with_how_it_recovered() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut file = ResultsFile::create(&path, &study_header()).unwrap();
    let is_measured = |trial: &TrialRecord| {
        matches!(trial.outcome, TrialOutcome::Measured { .. }) && trial.phase == Phase::Main
    };
    let mut disturbed = (0..).map(|id| study_trial(1, id)).find(is_measured).unwrap();
    disturbed.id = 0;
    let TrialOutcome::Measured { sample, .. } = &mut disturbed.outcome else { unreachable!() };
    // No I/O for half a second after 0.4 s.
    let row = |(number, operations): (u64, u64)| Interval {
        start_ns: number * 100_000_000,
        length_ns: 100_000_000,
        reads: IntervalTotals { operations, ..IntervalTotals::default() },
        writes: IntervalTotals::default(),
    };
    let counts = [9, 9, 9, 9, 0, 0, 0, 0, 0, 9, 9, 9];
    sample.intervals = (0..).zip(counts).map(row).collect();
    sample.interval_ns = 100_000_000;
    let step = |what: &str, begun_ns, failure: Option<&str>| Disturbance {
        what: what.into(),
        planned_ns: begun_ns - 3,
        begun_ns,
        took_ns: 5,
        failure: failure.map(Into::into),
    };
    sample.disturbances = vec![
        step("pause nas", 400_000_000, None),
        step("resume nas", 800_000_000, Some("no such guest")),
    ];
    file.append_trial(&disturbed, &[]).unwrap();
    assert_eq!(file.trials().unwrap(), [disturbed]);
    let connection = Connection::open(&path).unwrap();
    let kept: (Option<i64>, Option<i64>, i64, f64) = connection
        .query_row(
            "SELECT recovery_ns, not_recovered_ns, outage_ns, dip_share FROM disturbed_trial",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    // From 800.000005 ms to the end of the interval that starts at 900 ms.
    assert_eq!(kept, (Some(199_999_995), None, 600_000_000, 0.0));
    let observed: Vec<(String, Option<f64>)> = connection
        .prepare("SELECT metric, value FROM observation WHERE metric IN ('recovery', 'outage') ORDER BY 1")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let expected = [("outage".into(), Some(6e8)), ("recovery".into(), Some(199_999_995.0))];
    assert_eq!(observed, expected);
    let steps: Vec<Option<i64>> = connection
        .prepare("SELECT recovery_ns FROM disturbance ORDER BY number")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(steps, [None, Some(199_999_995)]);
}

#[test]
fn notes_of_datastores_are_stored_as_facts() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut header = study_header();
    let on_host = |fact| DatastoreNote { host: Some("esx1".into()), fact };
    let error = DeviceError(12);
    header.datastores[0].notes = vec![
        DatastoreFact::ZfsCache.into(),
        DatastoreFact::Holes { file_system: "btrfs".into(), disks: 3 }.into(),
        on_host(DatastoreFact::HeldData {
            path: "/dev/sdb".into(),
            found: FoundData::Unrecognised { offset_bytes: 1 << 40 },
        }),
        on_host(DatastoreFact::OtherRun {
            run_id: "00000000000000a1".into(),
            pid: 7,
            machine: Some("filer".into()),
            sharing: Sharing::Server,
        }),
        DatastoreFact::Engine {
            engine: EngineNote::BuffersNotRegistered { error, bytes: 1 << 40 },
        }
        .into(),
        on_host(DatastoreFact::Unlike {
            kind: "ext4".into(),
            direct: true,
            engine: "io_uring".into(),
        }),
    ];
    let disks = on_host(DatastoreFact::Recreated);
    let event =
        Event { at_unix_ms: 7, kind: EventKind::Prepared { url: "nfs:nas/vm".into(), disks } };
    let mut file = ResultsFile::create(&path, &header).unwrap();
    file.append_event(&event).unwrap();
    assert_eq!(file.header().unwrap(), header);
    assert_eq!(file.events().unwrap(), [event]);
    let connection = Connection::open(&path).unwrap();
    let text =
        |select: &str| -> String { connection.query_row(select, [], |row| row.get(0)).unwrap() };
    let note = |at: u32| {
        text(&format!(
            "SELECT value ->> '$.datastores[0].notes[{at}].note' FROM meta WHERE key = 'header'"
        ))
    };
    assert_eq!([0, 1, 5].map(note), ["zfs-cache", "holes", "unlike"]);
    assert_eq!(text("SELECT what ->> '$.disks.note' FROM event"), "recreated");
}
