//! Files of a directory as they are listed and deleted: real results files, and what is none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use stormeter_kept::{
    Cache, DeleteError, Kept, PrintedList, State, Summary, candidates, delete, derived_schema,
    read_all, terminal,
};
use stormeter_results::{
    DatastoreDescription, Environment, FinishReason, Finished, Header, ResultsError, ResultsFile,
};
use stormeter_study::parse_study;
use stormeter_testkit::{assert_golden, undescribed, violations};
use tempfile::TempDir;

const HOUR_MS: u64 = 3_600_000;
const START_MS: u64 = 1_790_000_000_000;

fn header(study: &str, hours: u64) -> Header {
    let text = format!("{{study: {study}, datastores: {{a: /a, b: /b}}}}");
    Header {
        created_unix_ms: START_MS + hours * HOUR_MS,
        run_id: String::new(),
        stormeter_version: String::new(),
        command_line: Vec::new(),
        plan: parse_study(&text).unwrap(),
        environment: Environment::default(),
        datastores: vec![DatastoreDescription::default(); 2],
        prediction: None,
    }
}

/// A results file of a run that ended in this way; `None`: it was killed.
fn make(directory: &TempDir, name: &str, hours: u64, reason: Option<FinishReason>) -> PathBuf {
    let path = directory.path().join(name);
    let mut file = ResultsFile::create(&path, &header(name, hours)).unwrap();
    if let Some(reason) = reason {
        file.finish(&Finished { finished_unix_ms: START_MS + (hours + 1) * HOUR_MS, reason })
            .unwrap();
    }
    path
}

fn read(directory: &Path) -> Vec<Kept> {
    let summary = |file: &ResultsFile| {
        let subject = file.header()?.plan.study;
        Ok(Summary {
            subject,
            verdict: "b: faster (+32.6 %)".into(),
            trials: 18,
            ..Summary::default()
        })
    };
    read_all(&candidates(directory).unwrap(), 3, &Cache::default(), &summary)
}

#[test]
fn every_file_is_listed_the_newest_first_and_one_that_cannot_be_read_with_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    make(&directory, "done.db", 1, Some(FinishReason::PrecisionReached));
    make(&directory, "killed.db", 3, None);
    make(&directory, "stopped.db", 2, Some(FinishReason::Interrupted));
    make(&directory, "failed", 4, Some(FinishReason::Failed { reason: "full".into() }));
    let running = ResultsFile::create(&directory.path().join("now.db"), &header("now", 5)).unwrap();
    std::fs::write(directory.path().join("other.db"), "text").unwrap();
    std::fs::write(directory.path().join("page.html"), "a page").unwrap();
    std::fs::create_dir(directory.path().join("folder.db")).unwrap();

    let all = read(directory.path());
    let known: Vec<(&str, State)> = all
        .iter()
        .filter_map(|one| one.content.as_ref().ok())
        .map(|content| (content.summary.subject.as_str(), content.state))
        .collect();
    let expected = [
        ("now.db", State::Running),
        ("failed", State::Failed),
        ("killed.db", State::Killed),
        ("stopped.db", State::Interrupted),
        ("done.db", State::Complete),
    ];
    assert_eq!(known[1..], expected[1..]);
    assert_eq!(known[0], ("now", State::Running));
    let unread: Vec<_> = all.iter().filter_map(|one| one.content.as_ref().err()).collect();
    assert_eq!(unread.len(), 1, "{unread:?}");
    assert!(unread[0].contains("not a stormeter results file"), "{unread:?}");
    drop(running);
    let states = read(directory.path());
    let now = states.iter().filter_map(|one| one.content.as_ref().ok()).next().unwrap();
    assert_eq!(now.state, State::Killed, "it runs no longer");
}

#[test]
fn the_list_fits_its_width_and_a_path_stays_whole() {
    let directory = tempfile::tempdir().unwrap();
    let title = format!("{}.db", "words and ".repeat(12));
    make(&directory, &title, 1, Some(FinishReason::TimeLimit));
    std::fs::write(directory.path().join("other.db"), "text").unwrap();
    let all = read(directory.path());
    for width in [40, 80, 200] {
        let text = terminal(&all, width);
        for line in text.lines() {
            let is_path = line.contains(directory.path().to_str().unwrap());
            assert!(is_path || line.chars().count() <= width, "{width}: {line}");
        }
    }
    let text = terminal(&all, 200);
    for words in ["2026-09-21 15:13 UTC  words", "complete, 18 trials in", "b: faster (+32.6 %)"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.contains("cannot be read"), "{text}");
}

#[test]
fn what_has_not_changed_is_concluded_once() {
    let directory = tempfile::tempdir().unwrap();
    let first = make(&directory, "first.db", 1, Some(FinishReason::TimeLimit));
    make(&directory, "second.db", 2, None);
    let place = directory.path().join("cache/list.json");
    let concluded = AtomicUsize::new(0);
    let list = |made_by: &str| {
        concluded.store(0, Ordering::Relaxed);
        let mut cache = Cache::read(&place, made_by);
        let summary = |_: &ResultsFile| {
            concluded.fetch_add(1, Ordering::Relaxed);
            Ok(Summary::default())
        };
        let all = read_all(&candidates(directory.path()).unwrap(), 2, &cache, &summary);
        cache.add(&all);
        cache.write(&place).unwrap();
        let contents: Vec<_> = all.into_iter().map(|one| one.content.unwrap()).collect();
        (concluded.load(Ordering::Relaxed), contents)
    };
    let (times, all) = list("1");
    assert_eq!(times, 2);
    assert_eq!(list("1"), (0, all));
    assert_eq!(list("2").0, 2, "another build may conclude otherwise");
    drop(ResultsFile::open_for_resume(&first).unwrap());
    let now = SystemTime::now() + Duration::from_secs(10);
    std::fs::File::options().append(true).open(&first).unwrap().set_modified(now).unwrap();
    assert_eq!(list("2").0, 1, "one was written");
    let running = ResultsFile::open_for_resume(&first).unwrap();
    let states: Vec<_> = list("2").1.into_iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Killed, State::Running]);
    drop(running);
    assert_eq!(list("2").1[1].state, State::Complete);
    std::fs::write(&place, "{").unwrap();
    assert_eq!(list("2").0, 2, "a damaged cache is none");
}

#[test]
fn the_committed_schema_is_the_derived_one_and_fits_the_json() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/list.schema.json");
    assert_golden(Path::new(path), &derived_schema());
    let schema = serde_json::from_str(&derived_schema()).unwrap();
    assert_eq!(undescribed(&schema), Vec::<String>::new());
    let directory = tempfile::tempdir().unwrap();
    make(&directory, "killed.db", 1, None);
    std::fs::write(directory.path().join("other.db"), "text").unwrap();
    let printed = PrintedList::of(&read(directory.path()));
    let json = serde_json::to_value(&printed).unwrap();
    assert_eq!(violations(&schema, &json), Vec::<String>::new());
    let resumable: Vec<_> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["content"]["resumable"])
        .collect();
    assert!(resumable.contains(&&serde_json::json!(true)), "{json}");
}

#[test]
fn only_a_results_file_of_the_directory_itself_that_no_run_writes_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let done = make(&directory, "done.db", 1, Some(FinishReason::TimeLimit));
    let outside = make(&elsewhere, "outside.db", 1, Some(FinishReason::TimeLimit));
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let below = directory.path().join("below");
    std::fs::create_dir(&below).unwrap();
    let deeper = below.join("deeper.db");
    std::fs::copy(&done, &deeper).unwrap();
    let path = directory.path();
    for refused in [&outside, &link, &deeper, &path.join("below/../../outside.db"), &below] {
        let error = delete(path, refused).unwrap_err();
        let is_expected = match &error {
            DeleteError::Outside { .. } => true,
            DeleteError::Results(ResultsError::Missing { .. }) => !refused.exists(),
            DeleteError::Results(ResultsError::NotAFile { .. }) => refused.is_dir(),
            DeleteError::Results(_) => false,
        };
        assert!(is_expected, "{}: {error}", refused.display());
    }
    let text = path.join("text.db");
    std::fs::write(&text, "precious").unwrap();
    let error = delete(path, &text).unwrap_err();
    assert!(matches!(error, DeleteError::Results(ResultsError::NotResults { .. })), "{error}");
    let running = ResultsFile::open_for_resume(&done).unwrap();
    let error = delete(path, &done).unwrap_err();
    assert!(matches!(error, DeleteError::Results(ResultsError::InUse { .. })), "{error}");
    drop(running);
    for kept in [&outside, &link, &deeper, &text, &done] {
        assert!(kept.exists(), "{}", kept.display());
    }

    delete(path, &done).unwrap();
    let mut left: Vec<_> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["below", "link.db", "text.db"]);
}
