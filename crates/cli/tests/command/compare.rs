//! `compare` from two names to a sentence, a table, a page, JSON and a results file.

use std::fs;

use serde_json::Value;

use crate::place::{Outcome, Place, SHORT, SURE};
use crate::results::{one, rows, trials};
use crate::schema;

/// Compares surely and soon, and gives what was printed.
fn compare(place: &Place, arguments: &str) -> Outcome {
    place.run_until(&[0], &format!("compare {arguments} {SHORT} {SURE} --output r.db"))
}

/// The comparisons that carry a verdict.
fn primaries(json: &Value) -> Vec<&Value> {
    json["comparisons"].as_array().unwrap().iter().filter(|c| c["primary"] == true).collect()
}

#[test]
fn two_directories_give_a_sentence_a_table_a_page_and_a_results_file() {
    let place = Place::new();
    let outcome =
        place.run_until(&[0], &format!("compare a b {SHORT} {SURE} --seed 7 --html page.html"));
    let Outcome { stdout, stderr, .. } = outcome;
    let (sentence, table) = stdout.split_once("\n\n").unwrap();
    assert!(sentence.starts_with("b ") && sentence.contains("in IOPS"), "{stdout}");
    assert!(sentence.contains("95 % CI") && sentence.contains("blocks"), "{stdout}");
    for words in ["baseline; ", " change\n", "p99.9 latency", "CPU per I/O", "seed 7", "Repeat it:"]
    {
        assert!(table.contains(words), "{words:?} is not in {stdout}");
    }
    assert!(!stdout.contains('\x1b'), "a file needs no colours");

    let names: Vec<String> = fs::read_dir(place.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("stormeter-"))
        .collect();
    let [name] = &names[..] else { panic!("one results file and nothing else: {names:?}") };
    assert!(name.ends_with(".db"), "{name}");
    assert!(stderr.contains(name) && stderr.contains("seed 7"), "{stderr}");

    let page = fs::read_to_string(place.path("page.html")).unwrap();
    let head: String = page.chars().take(15).collect();
    assert_eq!(head.to_lowercase(), "<!doctype html>");
    assert!(page.contains("<svg") && page.contains("in IOPS"));
    assert!(page.contains(&format!("compare a b {SHORT}")), "the command is not on the page");
    for outside in ["src=", "http://", "https://", "@import", "<script src", "<link"] {
        assert!(!page.contains(outside), "{outside} makes the page depend on something else");
    }

    // The file alone gives the same again.
    let again = place.run(&format!("report {name} --html again.html")).expect(&[0]);
    assert_eq!(again.stdout, stdout);
    assert_eq!(fs::read_to_string(place.path("again.html")).unwrap(), page);
}

#[test]
fn the_json_follows_the_schema_and_report_prints_the_same() {
    let place = Place::new();
    let outcome = compare(&place, "a b --json --seed 11");
    let json = outcome.json();
    schema::check(&place, &json);
    assert_eq!(json["valid"], true);
    assert_eq!(json["seed"], 11);
    let all = json["comparisons"].as_array().unwrap();
    for comparison in all {
        for key in ["baseline", "candidate", "workload", "metric", "verdict"] {
            assert!(comparison[key].is_string(), "{key} of {comparison}");
        }
        let (low, ratio, high) = ("ci_low", "ratio", "ci_high");
        let number = |key: &str| comparison[key].as_f64().unwrap();
        assert!(number(low) <= number(ratio) && number(ratio) <= number(high), "{comparison}");
    }
    let metrics: Vec<&str> = all.iter().map(|c| c["metric"].as_str().unwrap()).collect();
    for metric in ["iops", "throughput", "latency-mean", "latency-p50", "latency-p95"] {
        assert!(metrics.contains(&metric), "{metric} is not among {metrics:?}");
    }
    for metric in ["latency-p99", "latency-p999", "latency-max", "cpu-per-io"] {
        assert!(metrics.contains(&metric), "{metric} is not among {metrics:?}");
    }
    assert_eq!(place.run("report r.db --json").expect(&[0]).json(), json);
}

#[test]
fn the_command_to_repeat_it_repeats_it() {
    let place = Place::new();
    let json = compare(&place, "a b --json").json();
    let repeat = json["repeat_command"].as_str().unwrap();
    let arguments = repeat.strip_prefix("stormeter ").unwrap();
    let again = place.run_until(&[0], &format!("{arguments} --output again.db")).json();
    assert_eq!(again["seed"], json["seed"]);
    assert_eq!(again["plan"], json["plan"]);
    let order = |file: &str| -> Vec<(i64, i64, String)> {
        let all = trials(&place.path(file)).into_iter();
        all.map(|trial| (trial.block, trial.datastore, trial.seed)).take(10).collect()
    };
    assert_eq!(order("r.db"), order("again.db"));
}

#[test]
fn a_datastore_compared_with_itself_is_called_that() {
    let place = Place::new();
    let outcome = compare(&place, "a a");
    assert!(outcome.stdout.contains("A/A test"), "{outcome:?}");
    assert!(outcome.stdout.contains("a (1)") && outcome.stdout.contains("a (2)"), "{outcome:?}");
    assert!(!compare(&Place::new(), "a b").stdout.contains("A/A test"));
}

#[test]
fn null_against_null_breaks_no_law() {
    let place = Place::new();
    let arguments = format!("compare null: null: {SHORT} --precision 100% --margin 99% --json");
    let json = place.run_until(&[0, 4], &arguments).json();
    assert_eq!(json["valid"], true, "{json:#}");
    let findings = json["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["severity"] != "invalid"), "{findings:#?}");
}

#[test]
fn of_three_datastores_each_is_compared_with_the_baseline() {
    let place = Place::new();
    place.make("c");
    let json = compare(&place, "a b c --baseline b --json").json();
    let pairs: Vec<(&str, &str)> = primaries(&json)
        .iter()
        .map(|c| (c["baseline"].as_str().unwrap(), c["candidate"].as_str().unwrap()))
        .collect();
    assert_eq!(pairs, [("b", "a"), ("b", "c")]);
    assert_eq!(json["headline"].as_array().unwrap().len(), 2);
    // In each block each datastore had one turn.
    let all = trials(&place.path("r.db"));
    for block in all.chunks(3) {
        let mut turns: Vec<i64> = block.iter().map(|trial| trial.datastore).collect();
        turns.sort_unstable();
        assert_eq!(turns, [0, 1, 2]);
        let operations: Vec<&str> = block.iter().map(|trial| trial.seed.as_str()).collect();
        assert!(operations.iter().all(|&seed| seed == operations[0]), "{block:?}");
    }
}

#[test]
fn an_equal_load_drives_all_at_that_rate() {
    let place = Place::new();
    let arguments = format!("compare a b {SHORT} --equal-load 400 --precision 100% --margin 99%");
    let outcome = place.run_until(&[0, 4], &format!("{arguments} --json --output r.db"));
    let json = outcome.json();
    assert_eq!(primaries(&json)[0]["metric"], "latency-mean");
    let path = place.path("r.db");
    let rates = rows(
        &path,
        "SELECT offered_rate_per_s FROM sample JOIN trial ON trial.id = trial_id \
         WHERE phase = 'main'",
        |row| row.get::<_, f64>(0),
    );
    assert!(rates.len() >= 10 && rates.iter().all(|&rate| rate == 400.0), "{rates:?}");
}

#[test]
fn an_automatic_equal_load_is_70_percent_of_the_slower_ones_capacity() {
    let place = Place::new();
    let arguments = format!("compare a b {SHORT} --equal-load auto --precision 100% --margin 99%");
    let outcome = place.run(&format!("{arguments} --vms 2 --output r.db"));
    assert!(outcome.stderr.contains("equal load"), "{outcome:?}");
    let path = place.path("r.db");
    let capacities =
        rows(&path, "SELECT iops FROM trial WHERE phase = 'capacity'", |row| row.get::<_, f64>(0));
    assert_eq!(capacities.len(), 2);
    let least = capacities[0].min(capacities[1]);
    let rate: f64 = one(
        &path,
        "SELECT offered_rate_per_s FROM sample JOIN trial ON trial.id = trial_id \
         WHERE phase = 'main'",
    );
    assert!((rate / (0.7 * least) - 1.0).abs() < 1e-9, "{rate} of {capacities:?}");
}

#[test]
fn the_engine_is_the_one_asked_for_and_named() {
    let place = Place::new();
    let doctor = place.run("doctor --json").json();
    let has_uring = doctor
        .as_array()
        .unwrap()
        .iter()
        .any(|advice| advice["subject"] == "io_uring" && advice["health"] == "good");
    let json = compare(&place, "a?engine=positional b --json").json();
    let engine = |index: usize| json["datastores"][index]["engine"].as_str().unwrap().to_owned();
    assert_eq!(engine(0), "positional");
    let findings = json["findings"].to_string();
    assert!(findings.contains("threads read and write by position"), "{findings}");
    assert_eq!(engine(1), if has_uring { "io_uring" } else { "positional" });
    assert_eq!(json["comparisons"][0]["baseline"], "a?engine=positional");

    let forced = format!("compare a?engine=uring b?engine=uring {SHORT} {SURE}");
    if has_uring {
        place.run_until(&[0], &forced);
    } else {
        assert!(place.run(&forced).expect(&[1]).stderr.contains("engine=positional"));
    }
}

#[test]
fn buffered_access_is_used_and_named_when_asked_for() {
    let place = Place::new();
    let json = compare(&place, "a?direct=0 b?direct=0 --json").json();
    assert_eq!(json["datastores"][0]["direct"], false);
    let notes = json["datastores"][0]["notes"].to_string();
    assert!(notes.contains("page cache"), "{notes}");
}

#[test]
fn each_vm_has_its_own_disk_and_its_own_row() {
    let place = Place::new();
    compare(&place, "a b --vms 5 --threads 2");
    let path = place.path("r.db");
    let disks: Vec<(i64, i64)> = rows(
        &path,
        // On a busy machine a block may be measured again.
        "SELECT disk, operations FROM disk WHERE trial_id = (SELECT min(id) FROM trial \
         WHERE phase = 'main' AND datastore = 0) ORDER BY disk",
        |row| Ok((row.get(0)?, row.get(1)?)),
    );
    let numbers: Vec<i64> = disks.iter().map(|(disk, _)| *disk).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    assert!(disks.iter().all(|(_, operations)| *operations > 0), "{disks:?}");
    let total: i64 = one(
        &path,
        "SELECT operations FROM trial WHERE id = (SELECT min(id) FROM trial \
         WHERE phase = 'main' AND datastore = 0)",
    );
    assert_eq!(disks.iter().map(|(_, operations)| operations).sum::<i64>(), total);
}

#[test]
fn fewer_blocks_than_five_are_said_to_be_few() {
    let place = Place::new();
    // Room for two blocks: two are made whatever the time, more only if they fit.
    let arguments = "compare a b --size 8MiB --duration 100ms --ramp 0 --time-limit 480ms";
    let json = place.run_until(&[0, 4], &format!("{arguments} --rate 300 --json")).json();
    let blocks = json["status"]["blocks"].as_u64().unwrap();
    assert_eq!(json["status"]["reason"], "time-limit");
    assert!((2..5).contains(&blocks), "{blocks} blocks");
    let findings = json["findings"].to_string();
    assert!(findings.contains("blocks"), "{findings}");
}

#[test]
fn storage_that_may_stall_is_measured_too() {
    let place = Place::on_disk();
    let outcome = place.run(&format!("compare a b {SHORT} --vms 2 --max-blocks 5 --json"));
    let json = outcome.expect(&[0, 4, 5]).json();
    schema::check(&place, &json);
    assert_eq!(json["status"]["failed_trials"], 0, "{json:#}");
}
