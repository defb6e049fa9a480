//! Files of earlier forms open, and a run resumes with them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{early_trial, header, study_header, study_trial, trial};
use rusqlite::Connection;
use stormeter_results::{
    EventKind, FORMAT_VERSION, FinishReason, ResultsFile, TrialOutcome, TrialRecord,
};
use stormeter_trial::{Ended, Histogram, LatencyBucket, Loss, Sample, TrialFailure};

/// The seed and number of the trials in `fixture/form-2.sql`.
const SEED: u64 = 477;
const TRIALS: u64 = 4;

/// Creates a file of form 2 and returns its trials.
fn make_form_2(path: &Path) -> Vec<TrialRecord> {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(include_str!("fixture/form-2.sql")).unwrap();
    let mut trials: Vec<TrialRecord> = (0..TRIALS).map(|id| early_trial(SEED, id)).collect();
    for trial in &mut trials {
        let (TrialOutcome::Measured { sample, .. }
        | TrialOutcome::Failed { sample: Some(sample), .. }) = &mut trial.outcome
        else {
            continue;
        };
        let Sample { reads, writes, .. } = sample;
        for kind in [reads, writes] {
            kind.histogram = in_early_buckets(&kind.histogram);
        }
    }
    trials
}

/// A histogram with the buckets of earlier versions: 64 per octave, one nanosecond below 64, and the slowest from 2^37 ns up
/// in the last.
fn in_early_buckets(histogram: &Histogram) -> Histogram {
    let mut early: Vec<LatencyBucket> = Vec::new();
    for LatencyBucket { low_ns, count, .. } in histogram.buckets() {
        let low_ns = low_ns.min((1 << 37) - 1);
        let shift = (low_ns | 127).ilog2() - 6;
        let number = (shift << 6) + (low_ns >> shift) as u32;
        match early.last_mut() {
            Some(last) if last.number == number => last.count += count,
            _ => {
                let low_ns = low_ns >> shift << shift;
                early.push(LatencyBucket { number, low_ns, high_ns: low_ns + (1 << shift), count });
            }
        }
    }
    Histogram::of_buckets(&early).unwrap()
}

/// Turns it into a file of form 1: removes what the second form added.
fn make_form_1(path: &Path) -> Vec<TrialRecord> {
    let mut trials = make_form_2(path);
    Connection::open(path)
        .unwrap()
        .execute_batch(
            "DROP VIEW observation; DROP TABLE incident; \
             ALTER TABLE trial DROP COLUMN target_cpu_per_io_ns; \
             ALTER TABLE cpu DROP COLUMN target_ns; \
             UPDATE meta SET value = json_remove(value, '$.plan.verify') WHERE key = 'header'; \
             CREATE VIEW observation AS SELECT id AS trial_id FROM trial; PRAGMA user_version = 1",
        )
        .unwrap();
    for trial in &mut trials {
        trial.incidents.clear();
        if let TrialOutcome::Measured { cpu, .. } = &mut trial.outcome {
            cpu.target_ns = None;
        }
    }
    trials
}

fn opens_and_resumes(path: &Path, mut trials: Vec<TrialRecord>) {
    let before = std::fs::read(path).unwrap();
    let file = ResultsFile::open(path).unwrap();
    assert_eq!(file.header().unwrap(), header());
    assert_eq!(file.trials().unwrap(), trials);
    assert_eq!(file.finished().unwrap().unwrap().reason, FinishReason::MaxBlocks);
    drop(file);
    assert_eq!(std::fs::read(path).unwrap(), before, "who reads changes nothing");

    let mut file = ResultsFile::open_for_resume(path).unwrap();
    assert_eq!(file.header().unwrap(), header());
    assert_eq!(file.trials().unwrap(), trials);
    trials.extend((TRIALS..TRIALS + 20).map(|id| trial(7, id)));
    for trial in &trials[TRIALS as usize..] {
        file.append_trial(trial, &[]).unwrap();
    }
    assert_eq!(file.trials().unwrap(), trials);
    drop(file);
    // A second upgrade has nothing to do.
    assert_eq!(ResultsFile::open_for_resume(path).unwrap().trials().unwrap(), trials);
    let connection = Connection::open(path).unwrap();
    let form: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(form, FORMAT_VERSION);
    let note: String = connection
        .query_row(
            "SELECT value ->> '$.datastores[1].notes[0].said' FROM meta WHERE key = 'header'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(note, "O_DIRECT was refused");
    let named = |column: &str| -> Vec<String> {
        let select = format!("SELECT {column} FROM cell ORDER BY id");
        let mut select = connection.prepare(&select).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(named("datastore_name"), ["/srv/vm", "/mnt/nas"]);
    assert_eq!(named("workload"), ["mixed", "mixed"]);
    for trial in &trials {
        let share: Option<f64> = connection
            .query_row("SELECT host_cpu FROM trial WHERE id = ?", [trial.id as i64], |row| {
                row.get(0)
            })
            .unwrap();
        let host = trial.cpu().map(|cpu| cpu.host);
        let expected = host.map(|host| {
            let busy_ns = host.busy_ns() as f64;
            busy_ns / (busy_ns + host.idle_ns as f64 + host.iowait_ns as f64)
        });
        let apart = share.zip(expected).map_or(0.0, |(share, expected)| (share - expected).abs());
        assert!(share.is_some() == expected.is_some() && apart < 1e-12, "{share:?} {expected:?}");
    }
}

#[test]
fn a_file_of_the_first_form_is_read_and_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let trials = make_form_1(&path);
    opens_and_resumes(&path, trials);
    assert_eq!(tables(&path), tables_of_a_new_file(directory.path()));
}

#[test]
fn a_file_of_the_second_form_is_read_and_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let trials = make_form_2(&path);
    assert!(trials.iter().any(|trial| !trial.incidents.is_empty()));
    opens_and_resumes(&path, trials);
    assert_eq!(tables(&path), tables_of_a_new_file(directory.path()));
}

/// Before form 6 only a sentence said whether a run was resumed after its verdict.
#[test]
fn what_events_of_earlier_forms_mean_is_known_before_and_after_the_upgrade() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    make_form_2(&path);
    let sentences = ["resumed", "resumed after its verdict could be read", "the disk was swapped"];
    let connection = Connection::open(&path).unwrap();
    connection.execute("DELETE FROM event", []).unwrap();
    for what in sentences {
        connection.execute("INSERT INTO event (at_unix_ms, what) VALUES (1, ?)", [what]).unwrap();
    }
    drop(connection);
    let kinds = |file: &ResultsFile| -> Vec<EventKind> {
        file.events().unwrap().into_iter().map(|event| event.kind).collect()
    };
    let said = "the disk was swapped".into();
    let expected = [EventKind::Resumed, EventKind::ResumedAfterVerdict, EventKind::Note { said }];
    assert_eq!(kinds(&ResultsFile::open(&path).unwrap()), expected);
    assert_eq!(kinds(&ResultsFile::open_for_resume(&path).unwrap()), expected);
}

/// Creates a file of form 2 whose trials all failed for these reasons; those with a sample ended this way.
/// Returns whether the storage was to blame, as read before and after the upgrade.
fn blamed(reasons: [&str; TRIALS as usize], ended: &Ended) -> [Vec<bool>; 2] {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    make_form_2(&path);
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE trial SET outcome = 'failed'", []).unwrap();
    for (id, reason) in (0..).zip(reasons) {
        connection.execute("UPDATE trial SET reason = ? WHERE id = ?", (reason, id)).unwrap();
    }
    let ended = serde_json::to_string(ended).unwrap();
    connection.execute("UPDATE sample SET ended = ?", [ended]).unwrap();
    drop(connection);
    let failures = |file: &ResultsFile| -> Vec<TrialFailure> {
        let outcomes = file.trials().unwrap().into_iter().map(|trial| trial.outcome);
        let failed = outcomes.filter_map(|outcome| match outcome {
            TrialOutcome::Failed { failure, .. } => Some(failure),
            TrialOutcome::Measured { .. } => None,
        });
        failed.collect()
    };
    let found = [ResultsFile::open(&path), ResultsFile::open_for_resume(&path)]
        .map(|it| failures(&it.unwrap()));
    for failures in &found {
        let sentences: Vec<String> = failures.iter().map(TrialFailure::to_string).collect();
        assert_eq!(sentences, reasons);
    }
    found.map(|failures| failures.iter().map(TrialFailure::is_by_storage).collect())
}

/// Before form 7 only a sentence said whether a trial failed because of the agent or the reset, rather than
/// the storage.
#[test]
fn who_was_to_blame_in_earlier_forms_is_known_before_and_after_the_upgrade() {
    let ours = [
        "the agent on host h1 does not answer",
        "the reset command `x` ended with 1",
        "the rollback to the snapshot failed: no disk",
        "the agent on host h2 is another version",
    ];
    let none = vec![false; ours.len()];
    assert_eq!(blamed(ours, &Ended::ClockStopped), [none.clone(), none]);
    let theirs = ["/srv/vm does not exist", "stopped", "stopped: the reset command", "I/O error"];
    let all = vec![true; theirs.len()];
    assert_eq!(blamed(theirs, &Ended::ClockStopped), [all.clone(), all]);
    // A trial that finished and was rejected nevertheless failed because of the measurement.
    let has_sample: Vec<bool> =
        (0..TRIALS).map(|id| early_trial(SEED, id).sample().is_some()).collect();
    let without: Vec<bool> = has_sample.iter().map(|has| !has).collect();
    assert!(has_sample.contains(&true));
    assert_eq!(blamed(theirs, &Ended::Completed), [without.clone(), without]);
}

/// Before form 8 the losses of a prediction were sentences.
#[test]
fn what_was_lost_in_a_prediction_of_form_7_is_known_before_and_after_the_upgrade() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let losses = vec![Loss::Early { said: "vsan: gone".into() }];
    let failure = TrialFailure::BytesLost { ended: Ended::Completed, first: None, losses };
    let outcome = TrialOutcome::Failed { failure, sample: None };
    let lost = TrialRecord { outcome, incidents: vec![], ..study_trial(1, 0) };
    ResultsFile::create(&path, &study_header()).unwrap().append_trial(&lost, &[]).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            r#"UPDATE trial SET failure = json_set(failure, '$.losses', json('["vsan: gone"]'));
            INSERT INTO meta VALUES ('contents', '"study"'); DROP TABLE assumed;
            PRAGMA user_version = 7"#,
        )
        .unwrap();
    drop(connection);
    let expected = [lost];
    assert_eq!(ResultsFile::open(&path).unwrap().trials().unwrap(), expected);
    assert_eq!(ResultsFile::open_for_resume(&path).unwrap().trials().unwrap(), expected);
    assert_eq!(ResultsFile::open(&path).unwrap().trials().unwrap(), expected);
}

/// Tables and views with their columns, in order: `INSERT` and SQL users rely on it.
fn tables(path: &Path) -> Vec<(String, String)> {
    let connection = Connection::open(path).unwrap();
    let mut select = connection
        .prepare(
            "SELECT s.name, group_concat(c.name || ' ' || c.type || ' ' || c.\"notnull\" || c.pk) \
             FROM sqlite_schema s, pragma_table_info(s.name) c \
             WHERE s.type IN ('table', 'view') GROUP BY s.name ORDER BY s.name",
        )
        .unwrap();
    let tables = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    tables.map(Result::unwrap).collect()
}

fn tables_of_a_new_file(directory: &Path) -> Vec<(String, String)> {
    let path = directory.join("new.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    // The trials added to files of earlier forms: some tables are created by the first trial that needs
    // them.
    for id in TRIALS..TRIALS + 20 {
        file.append_trial(&trial(7, id), &[]).unwrap();
    }
    tables(&path)
}

/// New files and upgrades share the text of the tables that a form added. After a change of that text,
/// files that were upgraded before it would have different tables from those upgraded after it, and
/// nothing else would notice.
#[test]
fn tables_that_came_with_a_form_stay_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let shared = [
        "cell",
        "component",
        "component_interval",
        "disturbance",
        "disturbed_trial",
        "elasticity",
        "fact",
        "incident",
        "monitor",
        "monitor_core",
        "step",
    ];
    let mut all = tables_of_a_new_file(directory.path());
    all.retain(|(name, _)| shared.contains(&name.as_str()));
    assert_eq!(all.len(), shared.len());
    // FNV-1a (Fowler, Noll, Vo), 64 bits.
    let text = format!("{all:?}");
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(
        sum, 0xb8af_a594_7bb3_c0f2,
        "put the change into an upgrade to a new form: {all:#?}"
    );
}
