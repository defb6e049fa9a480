//! A run may be killed and a file may be damaged anywhere: the result is whole trials or a clear
//! error, never half a trial and never a panic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Dice, header, trial};
use rusqlite::Connection;
use stormeter_results::{ResultsError, ResultsFile};

const WRITER: &str = "STORMETER_TEST_WRITER";

/// Not a test by itself: the process that the next test kills. It writes trials until then and
/// reports which are safe.
#[test]
fn writer_to_be_killed() {
    let Some(path) = std::env::var_os(WRITER) else { return };
    let mut file = ResultsFile::create(Path::new(&path), &header()).unwrap();
    for id in 0.. {
        file.append_trial(&trial(9, id), &[]).unwrap();
        println!("\nsafe {id}");
    }
}

#[test]
fn a_killed_run_keeps_every_trial_that_it_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..5u64 {
        let path = directory.path().join(format!("{round}.db"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer_to_be_killed", "--nocapture"])
            .env(WRITER, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Reads for a different time each round, so that the kill hits different moments.
        let safe: Vec<u64> = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("safe ")?.parse().ok())
            .take(3 + round as usize * 5)
            .collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let last_safe = *safe.last().expect("the writer wrote");

        // A killed run leaves its log; a reader must handle it, and so must the next writer.
        let read = ResultsFile::open(&path).unwrap().trials().unwrap();
        let mut file = ResultsFile::open_for_resume(&path).unwrap();
        assert_eq!(file.header().unwrap(), header());
        let trials = file.trials().unwrap();
        assert_eq!(trials, read);
        assert!(trials.len() as u64 > last_safe, "trial {last_safe} was lost");
        for (id, found) in (0..).zip(&trials) {
            assert_eq!(found, &trial(9, id));
        }
        file.append_trial(&trial(9, file.next_trial_id().unwrap()), &[]).unwrap();
        assert_eq!(file.finished().unwrap(), None);
    }
}

#[test]
fn a_transaction_that_is_broken_off_leaves_the_trials_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    file.append_trial(&trial(1, 0), &[]).unwrap();
    drop(file);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("BEGIN IMMEDIATE; UPDATE trial SET block = 77; DELETE FROM total")
        .unwrap();
    drop(connection);
    assert_eq!(ResultsFile::open(&path).unwrap().trials().unwrap(), [trial(1, 0)]);
}

/// Reads everything; `Ok` if no damage was found.
fn read_all(path: &Path) -> Result<(), ResultsError> {
    let file = ResultsFile::open(path)?;
    file.header()?;
    file.trials()?;
    file.events()?;
    file.finished()?;
    Ok(())
}

fn sound_file(directory: &Path) -> Vec<u8> {
    let path = directory.join("sound.db");
    let mut file = ResultsFile::create(&path, &header()).unwrap();
    for id in 0..6 {
        file.append_trial(&trial(4, id), &[]).unwrap();
    }
    file.finish(&stormeter_results::Finished {
        finished_unix_ms: 1,
        reason: stormeter_results::FinishReason::MaxBlocks,
    })
    .unwrap();
    drop(file);
    std::fs::read(path).unwrap()
}

#[test]
fn flipped_bytes_give_an_error_or_a_value_and_never_a_panic() {
    let directory = tempfile::tempdir().unwrap();
    let sound = sound_file(directory.path());
    let path = directory.path().join("damaged.db");
    let mut refused = 0;
    for seed in 0..300 {
        let dice = &mut Dice::new(seed);
        let mut bytes = sound.clone();
        for _ in 0..=dice.below(20) {
            let at = dice.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << dice.below(8);
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Err(error) = read_all(&path) {
            refused += 1;
            assert!(error.to_string().contains("damaged.db"), "{error}");
        }
    }
    assert!(refused > 30, "only {refused} of 300 damaged files were noticed");
}

#[test]
fn a_file_cut_short_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sound = sound_file(directory.path());
    let path = directory.path().join("cut.db");
    std::fs::write(&path, &sound).unwrap();
    read_all(&path).unwrap();
    for share in 1..20 {
        std::fs::write(&path, &sound[..sound.len() * share / 20]).unwrap();
        let error = read_all(&path).unwrap_err();
        assert!(matches!(error, ResultsError::Corrupt { .. }), "{share}/20: {error}");
    }
}

#[test]
fn overwritten_pages_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sound = sound_file(directory.path());
    let path = directory.path().join("damaged.db");
    for page in 1..sound.len() / 4096 {
        let mut bytes = sound.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        std::fs::write(&path, &bytes).unwrap();
        let error = read_all(&path).unwrap_err();
        assert!(matches!(error, ResultsError::Corrupt { .. }), "page {page}: {error}");
    }
}

#[test]
fn rows_that_no_run_writes_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sound = sound_file(directory.path());
    let path = directory.path().join("strange.db");
    for change in [
        "UPDATE trial SET phase = 'lunch'",
        "UPDATE trial SET outcome = 'guessed'",
        "UPDATE trial SET seed = 'thirteen'",
        "UPDATE trial SET cell = NULL",
        "UPDATE trial SET block = -1",
        "UPDATE trial SET block = 1 << 40",
        "UPDATE sample SET window_ns = -5",
        "UPDATE sample SET ended = '{\"why\":\"boredom\"}'",
        "UPDATE histogram SET count = 9223372036854775807",
        "DELETE FROM interval WHERE kind = 'write'",
        "DELETE FROM total",
        "DELETE FROM cpu",
        "DELETE FROM sample",
        "UPDATE fault SET errno = 5, moved_bytes = 5",
        "UPDATE meta SET value = '{' WHERE key = 'header'",
        "DELETE FROM meta WHERE key = 'header'",
        "DROP TABLE disk",
        "INSERT INTO event (at_unix_ms, what) VALUES (1, '{\"kind\":\"boredom\"}')",
        "UPDATE note SET note = '{\"note\":\"boredom\"}'",
        "UPDATE incident SET what = 'lost'",
        "UPDATE incident SET what = '{\"event\":\"boredom\"}'",
        "DROP TABLE incident",
        "ALTER TABLE cpu DROP COLUMN target_ns",
    ] {
        std::fs::write(&path, &sound).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(change).unwrap();
        drop(connection);
        let error = read_all(&path).expect_err(change);
        assert!(error.to_string().contains("strange.db"), "{change}: {error}");
    }
}

#[test]
fn a_header_that_no_run_writes_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sound = sound_file(directory.path());
    let path = directory.path().join("hostile.db");
    let refusal = |change: &str| {
        std::fs::write(&path, &sound).unwrap();
        let connection = Connection::open(&path).unwrap();
        assert!(connection.execute(change, []).unwrap() > 0, "{change} changes nothing");
        drop(connection);
        let error = read_all(&path).expect_err(change);
        assert!(matches!(error, ResultsError::Corrupt { .. }), "{change}: {error}");
        error.to_string()
    };
    for (key, value) in [
        ("plan.baseline", "7"),
        ("plan.baseline", "2"),
        ("plan.datastores", "json('[{\"name\": \"a\", \"url\": \"/a\"}]')"),
        ("plan.datastores[2]", "json('{\"name\": \"c\", \"url\": \"/c\"}')"),
        ("datastores", "json('[]')"),
        ("plan.design.level", "0.5"),
        ("plan.design.level", "1.0"),
        ("plan.design.level", "-3"),
        ("plan.design.level", "json('1e999')"),
        ("plan.design.precision", "0"),
        ("plan.design.precision", "1.5"),
        ("plan.design.precision", "json('null')"),
        ("plan.design.margin", "0"),
        ("plan.design.margin", "1"),
        ("plan.vms[0]", "0"),
        ("plan.timing.interval_ns", "0"),
    ] {
        refusal(&format!(
            "UPDATE meta SET value = json_set(value, '$.{key}', {value}) WHERE key = 'header'"
        ));
    }
    let outside = refusal("UPDATE trial SET datastore = 2 WHERE datastore IS NOT NULL");
    assert!(outside.contains("does not name"), "{outside}");
    let hostile = "'phase' || char(27) || '[2J'";
    let message = refusal(&format!("UPDATE trial SET seed = {hostile}"));
    assert!(!message.contains('\u{1b}'), "{message:?}");
}
