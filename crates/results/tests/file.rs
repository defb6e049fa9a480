//! What goes into a results file comes out again, and nothing else is accepted as one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::Write;
use std::path::Path;

use common::{header, trial};
use nix::libc::makedev;
use nix::sys::stat::{Mode, SFlag, mknod};
use nix::unistd::mkfifo;
use rusqlite::{Connection, OptionalExtension};
use stormeter_results::{
    Event, EventKind, FORMAT_VERSION, FinishReason, Finished, HostShare, Phase, ResultsError,
    ResultsFile, TrialOutcome, TrialRecord,
};
use stormeter_study::Metric;
use stormeter_trial::{CpuUsage, DesktopStep, Histogram, KindTotals, MonitorRow, Sample};

fn finished(reason: FinishReason) -> Finished {
    Finished { finished_unix_ms: 1_790_000_600_000, reason }
}

#[test]
fn what_was_written_is_read_back_exactly() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let path = directory.path().join(format!("{seed}.db"));
        let written: Vec<_> = (0..8).map(|id| trial(seed, id)).collect();
        let mut file = ResultsFile::create(&path, &header()).unwrap();
        for trial in &written {
            file.append_trial(trial, &[]).unwrap();
        }
        drop(file);
        let file = ResultsFile::open(&path).unwrap();
        assert_eq!(file.header().unwrap(), header());
        assert_eq!(file.trials().unwrap(), written, "seed {seed}");
        assert_eq!(file.next_trial_id().unwrap(), 8);
    }
}

#[test]
fn what_hosts_did_is_read_back_and_a_file_of_one_machine_has_no_tables_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    file.append_trial(&trial(1, 0), &[]).unwrap();
    assert_eq!(file.host_shares().unwrap(), []);
    let share = |number: u32, clock_offset_ns| HostShare {
        number,
        name: format!("esx{number}"),
        vms: 3,
        operations: 40,
        bytes: 4096,
        latency_sum_ns: 50,
        window_ns: 60,
        clock_offset_ns,
        clock_error_ns: 7,
        late_ns: 8,
        cpu: CpuUsage { process_ns: 9, target_ns: Some(2), ..CpuUsage::default() },
        monitor: vec![MonitorRow {
            at_ns: 5,
            cores_busy: vec![0.25, 1.0],
            ..MonitorRow::default()
        }],
    };
    let shares = [share(0, -1_000_000), share(1, i64::MAX)];
    file.append_trial(&trial(1, 1), &shares).unwrap();
    file.append_trial(&trial(1, 2), &shares[..1]).unwrap();
    let [one, two] = shares;
    let expected = [(1, one.clone()), (1, two), (2, one)];
    assert_eq!(file.host_shares().unwrap(), expected);
    drop(file);
    assert_eq!(ResultsFile::open(&path).unwrap().host_shares().unwrap(), expected);
}

#[test]
fn a_run_is_resumed_where_it_stood_and_finished_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    assert_eq!(file.next_trial_id().unwrap(), 0);
    file.append_trial(&trial(1, 0), &[]).unwrap();
    let event = Event { at_unix_ms: 7, kind: EventKind::Redone { cells: vec!["a, vm-4k".into()] } };
    file.append_event(&event).unwrap();
    file.finish(&finished(FinishReason::Interrupted)).unwrap();
    assert_eq!(file.finished().unwrap(), Some(finished(FinishReason::Interrupted)));
    drop(file);
    let files: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "a finished run leaves one file: {files:?}");

    let mut file = ResultsFile::open_for_resume(&path).unwrap();
    file.append_trial(&trial(1, 1), &[]).unwrap();
    assert_eq!(file.finished().unwrap(), None, "it resumes");
    let failed = finished(FinishReason::Failed { reason: "disk on fire".into() });
    file.finish(&failed).unwrap();
    drop(file);
    let file = ResultsFile::open(&path).unwrap();
    assert_eq!(file.trials().unwrap(), [trial(1, 0), trial(1, 1)]);
    assert_eq!(file.events().unwrap(), [event]);
    assert_eq!(file.finished().unwrap(), Some(failed));
}

#[test]
fn a_number_is_given_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    file.append_trial(&trial(1, 0), &[]).unwrap();
    let error = file.append_trial(&trial(2, 0), &[]).unwrap_err();
    assert!(matches!(error, ResultsError::DuplicateTrial { id: 0, .. }), "{error}");
    assert_eq!(file.trials().unwrap(), [trial(1, 0)]);
}

#[test]
fn a_count_beyond_what_sqlite_holds_is_refused_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    let mut huge = (0..).map(|id| trial(3, id)).find(|trial| trial.sample().is_some()).unwrap();
    match &mut huge.outcome {
        TrialOutcome::Measured { sample, .. } => sample.backlog_operations = u64::MAX,
        TrialOutcome::Failed { sample, .. } => sample.as_mut().unwrap().window_ns = u64::MAX,
    }
    file.append_trial(&huge, &[]).unwrap_err();
    assert_eq!(file.trials().unwrap(), []);
}

#[test]
fn one_run_writes_while_others_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut writer = ResultsFile::create(&path, &header()).unwrap();
    writer.append_trial(&trial(1, 0), &[]).unwrap();
    let error = ResultsFile::open_for_resume(&path).unwrap_err();
    assert!(matches!(error, ResultsError::InUse { .. }), "{error}");
    let error = ResultsFile::create(&path, &header()).unwrap_err();
    assert!(matches!(error, ResultsError::InUse { .. }), "{error}");

    let reader = ResultsFile::open(&path).unwrap();
    assert_eq!(reader.trials().unwrap().len(), 1);
    writer.append_trial(&trial(1, 1), &[]).unwrap();
    assert_eq!(reader.trials().unwrap().len(), 2);

    drop((reader, writer));
    ResultsFile::open_for_resume(&path).unwrap();
}

#[test]
fn nothing_that_is_there_is_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    std::fs::write(&path, "my diary").unwrap();
    let error = ResultsFile::create(&path, &header()).unwrap_err();
    assert!(error.to_string().contains("resume it"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"my diary");
    for error in
        [ResultsFile::open(&path).unwrap_err(), ResultsFile::open_for_resume(&path).unwrap_err()]
    {
        assert!(matches!(error, ResultsError::NotResults { .. }), "{error}");
    }

    let other = directory.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let error = ResultsFile::open(&other).unwrap_err();
    assert!(matches!(error, ResultsError::NotResults { .. }), "{error}");

    let empty = directory.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    assert!(matches!(ResultsFile::open(&empty), Err(ResultsError::NotResults { .. })));
    ResultsFile::create(&empty, &header()).unwrap();
}

/// Every entry point must report that this is not a file, and leave it and the directory unchanged.
fn refused_as_no_file(path: &Path) {
    let kind = std::fs::symlink_metadata(path).unwrap().file_type();
    for error in [
        ResultsFile::create(path, &header()).unwrap_err(),
        ResultsFile::open(path).unwrap_err(),
        ResultsFile::open_for_resume(path).unwrap_err(),
    ] {
        assert!(matches!(error, ResultsError::NotAFile { .. }), "{error}");
    }
    assert_eq!(std::fs::symlink_metadata(path).unwrap().file_type(), kind);
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn only_a_regular_file_is_taken_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    refused_as_no_file(&path);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    refused_as_no_file(&path);
    std::fs::remove_dir(&path).unwrap();
    // Not the system's own null device: a bug here could remove it.
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    refused_as_no_file(&path);
}

#[test]
fn a_device_is_not_taken_over_and_not_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("null");
    // Another null device, with the number from null(4).
    if mknod(&path, SFlag::S_IFCHR, Mode::S_IRUSR | Mode::S_IWUSR, makedev(1, 3)).is_err() {
        let _ = writeln!(std::io::stderr(), "NOT RUN: only root may make a device node");
        assert!(std::env::var_os("CI").is_none(), "CI must run this test");
        return;
    }
    refused_as_no_file(&path);
}

#[test]
fn an_empty_file_that_was_there_before_stays_after_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    // A folder in place of SQLite's journal keeps any transaction from starting.
    std::fs::create_dir(directory.path().join("results.db-journal")).unwrap();
    ResultsFile::create(&path, &header()).unwrap_err();
    assert!(!path.exists(), "made and not removed");
    std::fs::write(&path, "").unwrap();
    ResultsFile::create(&path, &header()).unwrap_err();
    assert!(path.exists(), "another program's file was removed");
}

#[test]
fn a_foreign_file_in_the_locks_place_is_refused_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let lock = directory.path().join("results.db-lock");
    std::fs::write(&lock, "precious").unwrap();
    let error = ResultsFile::create(&path, &header()).unwrap_err();
    assert!(matches!(error, ResultsError::LockTaken { .. }), "{error}");
    assert_eq!(std::fs::read(&lock).unwrap(), b"precious");
    assert!(!path.exists());
}

#[test]
fn a_path_that_leads_nowhere_is_said_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    for error in
        [ResultsFile::open(&path).unwrap_err(), ResultsFile::open_for_resume(&path).unwrap_err()]
    {
        assert!(matches!(error, ResultsError::Missing { .. }), "{error}");
    }
    let nowhere = directory.path().join("no/such/results.db");
    let error = ResultsFile::create(&nowhere, &header()).unwrap_err();
    assert!(error.to_string().contains("No such file or directory"), "{error}");
    assert!(ResultsFile::open(directory.path()).is_err());
}

#[test]
fn a_file_of_a_later_version_asks_for_an_update() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut later = header();
    later.stormeter_version = "9.9.9\u{1b}[2J".into();
    drop(ResultsFile::create(&path, &later).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", FORMAT_VERSION + 1).unwrap();
    // A later version may have changed everything but this.
    connection.execute("DELETE FROM meta WHERE key = 'header'", []).unwrap();
    drop(connection);
    let message = ResultsFile::open(&path).unwrap_err().to_string();
    assert!(message.contains("made by stormeter 9.9.9"), "{message}");
    assert!(message.contains("update stormeter"), "{message}");
    for format in [format!("in format {}", FORMAT_VERSION + 1), format!("to {FORMAT_VERSION}:")] {
        assert!(message.contains(&format), "{message}");
    }
    assert!(!message.contains('\u{1b}'), "{message:?}");
}

#[test]
fn the_tables_serve_people_with_sql() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let trials: Vec<_> = (0..20).map(|id| trial(5, id)).collect();
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    for trial in &trials {
        file.append_trial(trial, &[]).unwrap();
    }
    drop(file);
    let compared: Vec<_> =
        trials.iter().filter(|trial| trial.phase == Phase::Main && trial.cpu().is_some()).collect();
    assert!(!compared.is_empty());
    let connection = Connection::open(&path).unwrap();
    let rows: u64 = connection
        .query_row("SELECT count(*) FROM observation", [], |row| row.get::<_, i64>(0))
        .unwrap() as u64;
    // In an open loop in which no I/O ended, only the number of held requests is known.
    let has_times = |trial: &&&TrialRecord| {
        let issue = trial.sample().and_then(|sample| sample.issue.as_ref());
        issue.is_some_and(|issue| issue.service.mean_ns().is_some())
    };
    let open = compared.iter().filter(has_times).count() as u64;
    assert!(0 < open && open < compared.len() as u64, "{open}");
    let has_steps = |trial: &&&TrialRecord| trial.sample().is_some_and(|it| !it.steps.is_empty());
    let of_work = compared.iter().filter(has_steps).count() as u64;
    let has = |totals: fn(&Sample) -> &KindTotals| {
        let has = |trial: &&&TrialRecord| totals(trial.sample().unwrap()).operations > 0;
        compared.iter().filter(has).count() as u64
    };
    let (flushed, durable) = (has(|sample| &sample.flushes), has(|sample| &sample.durable));
    assert!(0 < flushed && flushed < compared.len() as u64, "{flushed}");
    assert!(0 < durable && durable < compared.len() as u64, "{durable}");
    // With the CPU time of the host.
    let (all, of_open) = (Metric::FOR_COMPARISONS.len() as u64 + 1, 6);
    let (of_flushes, of_durable) = (5, 4);
    let by_some = open * of_open + flushed * of_flushes + durable * of_durable;
    let of_all = all - of_open - of_flushes - of_durable;
    let has_viewers = |trial: &&&TrialRecord| trial.sample().is_some_and(|it| it.updates.is_some());
    let of_viewers = compared.iter().filter(has_viewers).count() as u64;
    assert!(0 < of_viewers && of_viewers < compared.len() as u64, "{of_viewers}");
    let of_desktops = compared.iter().filter_map(|trial| trial.sample()?.desktops.as_ref());
    let of_desktops = of_desktops.map(|desktops| {
        let steps = DesktopStep::ALL.into_iter().filter_map(|step| desktops.step_mean_ns(step));
        steps.count() as u64 + u64::from(desktops.work().histogram.count() > 0)
    });
    let of_desktops: u64 = of_desktops.sum();
    assert!(of_desktops > 0);
    let by_kind = of_work + of_viewers + of_desktops;
    assert_eq!(rows, compared.len() as u64 * of_all + by_some + by_kind);
    for metric in Metric::FOR_COMPARISONS {
        let of_metric: i64 = connection
            .query_row("SELECT count(*) FROM observation WHERE metric = ?", [metric.name()], |r| {
                r.get(0)
            })
            .unwrap();
        let expected = match metric {
            _ if metric.is_of_open_loops() => open,
            _ if metric.is_of_flushes() => flushed,
            _ if metric.is_of_durable_writes() => durable,
            _ => compared.len() as u64,
        };
        assert_eq!(of_metric as u64, expected, "{}", metric.name());
    }
    for trial in compared {
        let (iops, url): (f64, String) = connection
            .query_row(
                "SELECT value, datastore_url FROM observation \
                 WHERE metric = 'iops' AND trial_id = ?",
                [trial.id as i64],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        assert_eq!(iops, trial.sample().unwrap().iops());
        let p99_ns = |metric: &str| -> Option<f64> {
            let select = "SELECT value FROM observation WHERE metric = ? AND trial_id = ?";
            let row = connection.query_row(select, (metric, trial.id as i64), |row| row.get(0));
            row.optional().unwrap()
        };
        let of = |histogram: &Histogram| histogram.percentile_ns(0.99).map(f64::round);
        let sample = trial.sample().unwrap();
        if let Some(issue) = &sample.issue {
            assert_eq!(p99_ns("service-p99"), of(&issue.service.histogram));
        }
        assert_eq!(p99_ns("flush-p99"), of(&sample.flushes.histogram));
        assert_eq!(p99_ns("durable-write-p99"), of(&sample.durable.histogram));
        assert_eq!(url, header().plan.datastores[trial.datastore.unwrap()].url);
    }
}

/// A file from before verification: it opens, and verified trials can be added.
#[test]
fn a_file_without_the_tables_of_verified_trials_opens_and_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let is_verified = |trial: &TrialRecord| trial.sample().is_some_and(|s| s.verified.is_some());
    let all: Vec<_> = (0..40).map(|id| trial(6, id)).collect();
    let (verified, plain): (Vec<_>, Vec<_>) = all.into_iter().partition(is_verified);
    assert!(!plain.is_empty() && !verified.is_empty());
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    for trial in &plain {
        file.append_trial(trial, &[]).unwrap();
    }
    drop(file);
    let connection = Connection::open(&path).unwrap();
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('verified', 'corruption')";
    let count = |row: &rusqlite::Row| row.get::<_, i64>(0);
    assert_eq!(connection.query_row(tables, [], count).unwrap(), 0);
    drop(connection);
    let mut file = ResultsFile::open_for_resume(&path).unwrap();
    assert_eq!(file.header().unwrap(), header());
    assert_eq!(file.trials().unwrap(), plain);
    for trial in &verified {
        file.append_trial(trial, &[]).unwrap();
    }
    assert_eq!(file.trials().unwrap().len(), 40);
    drop(file);
    let connection = Connection::open(&path).unwrap();
    let words: String =
        connection.query_row("SELECT what FROM corruption LIMIT 1", [], |row| row.get(0)).unwrap();
    assert!(words.starts_with("disk "), "{words}");
}

/// A file from before guests were watched and desktops made: it opens, and trials with them can be added.
#[test]
fn a_file_without_the_tables_of_guests_and_desktops_opens_and_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let all: Vec<_> = (0..20).map(|id| trial(6, id)).collect();
    let (with, without): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|trial| !trial.guests.is_empty() || has_desktops(trial));
    assert!(!with.is_empty() && !without.is_empty());
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    for trial in &without {
        file.append_trial(trial, &[]).unwrap();
    }
    drop(file);
    let connection = Connection::open(&path).unwrap();
    let tables = "SELECT count(*) FROM sqlite_schema \
                  WHERE name IN ('guest', 'guest_monitor') OR name LIKE 'desktop%'";
    let count = |row: &rusqlite::Row| row.get::<_, i64>(0);
    assert_eq!(connection.query_row(tables, [], count).unwrap(), 0);
    drop(connection);
    let mut file = ResultsFile::open_for_resume(&path).unwrap();
    assert_eq!(file.trials().unwrap(), without);
    for trial in &with {
        file.append_trial(trial, &[]).unwrap();
    }
    let mut expected = [without, with].concat();
    expected.sort_by_key(|trial| trial.id);
    assert_eq!(file.trials().unwrap(), expected);
}

fn has_desktops(trial: &TrialRecord) -> bool {
    trial.sample().is_some_and(|sample| sample.desktops.is_some())
}

#[test]
fn a_killed_runs_file_is_deleted_with_its_logs_and_its_lock() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("killed.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    file.append_trial(&trial(1, 0), &[]).unwrap();
    assert!(ResultsFile::is_in_use(&path));
    assert!(matches!(ResultsFile::delete(&path), Err(ResultsError::InUse { .. })));
    // What a killed run leaves: copies, because the file that is closed takes its log away.
    let left = directory.path().join("left.db");
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let [from, to] = [&path, &left].map(|path| format!("{}{suffix}", path.display()));
        std::fs::copy(from, to).unwrap();
    }
    assert!(ResultsFile::is_one(&left).unwrap() && !ResultsFile::is_in_use(&left));
    drop(file);
    assert_eq!(ResultsFile::open(&left).unwrap().trials().unwrap().len(), 1);
    ResultsFile::delete(&left).unwrap();
    ResultsFile::delete(&path).unwrap();
    let rest: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert!(rest.is_empty(), "{rest:?}");
}

#[test]
fn what_is_no_results_file_is_not_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE mine(a)").unwrap();
    assert!(!ResultsFile::is_one(&path).unwrap());
    assert!(matches!(ResultsFile::delete(&path), Err(ResultsError::NotResults { .. })));
    let own = directory.path().join("own.db");
    drop(ResultsFile::create(&own, &header()).unwrap());
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&own, &link).unwrap();
    assert!(matches!(ResultsFile::delete(&link), Err(ResultsError::NotAFile { .. })));
    assert!(path.exists() && own.exists() && link.is_symlink());
}
