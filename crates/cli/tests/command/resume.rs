//! A run that is killed resumes where it stood: nothing that was finished is lost or measured twice,
//! and what is measured is what an undisturbed run would have measured.

use crate::killing::{kill_again_and_again, turns};
use crate::place::{Place, STEADY};
use crate::results::{one, trials};

const BLOCKS: usize = 8;
const KILLS: usize = 6;

/// That many blocks whatever is found: no noise is small enough for this precision.
fn compare(seed: u64) -> String {
    format!(
        "compare a b {STEADY} --rate 300 --metric latency-max --precision 0.1% --margin 0.1% \
         --max-blocks {BLOCKS} --seed {seed}"
    )
}

#[test]
fn a_run_killed_again_and_again_measures_what_a_whole_run_measures() {
    let place = Place::new();
    let path = place.path("killed.db");
    // Another seed on the command line: the file's counts.
    let resume = format!("{} --output killed.db --resume", compare(999));
    let first = format!("{} --output killed.db", compare(4711));
    let commands = std::iter::once(&first).chain(std::iter::repeat(&resume)).take(KILLS);
    let commands = commands.map(String::as_str);
    let kept = kill_again_and_again(&place, &path, commands, 2, 0x9e37_79b9_7f4a_7c15);
    assert!(!place.folders("a").is_empty(), "a killed run leaves its folder");
    let outcome = place.run(&resume).expect(&[0, 4]);
    assert!(outcome.stdout.contains("seed 4711"), "{outcome:?}");

    let all = trials(&path);
    assert!(all.starts_with(&kept));
    assert_eq!(all.len(), 2 * BLOCKS, "each datastore has one trial a block");
    assert!(all.iter().all(|trial| trial.outcome == "measured"), "{all:?}");
    place.run(&format!("{} --output whole.db", compare(4711))).expect(&[0, 4]);
    let whole = trials(&place.path("whole.db"));
    assert_eq!(turns(&all), turns(&whole));
    let ceilings = one::<i64>(&path, "SELECT count(*) FROM trial WHERE phase = 'ceiling'");
    assert!(ceilings > 1, "a resumed run measures it again");
    assert_eq!(one::<String>(&path, "PRAGMA integrity_check"), "ok");
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
    for leftover in ["killed.db-wal", "killed.db-shm", "killed.db-lock"] {
        assert!(!place.path(leftover).exists(), "{leftover} stays");
    }
}

#[test]
fn prepared_disks_of_a_killed_run_are_used_again() {
    let place = Place::new();
    let command = format!("{} --output r.db", compare(1));
    let mut running = place.start(&command);
    let disk = place.wait_for_disk(&mut running, "b");
    let made = std::fs::metadata(&disk).unwrap();
    running.kill();
    let mut running = place.start(&format!("{command} --resume"));
    running.until("a trial after the resumption", || {
        (!trials(&place.path("r.db")).is_empty()).then_some(())
    });
    use std::os::unix::fs::MetadataExt;
    assert_eq!(std::fs::metadata(&disk).unwrap().ino(), made.ino(), "the disk was recreated");
    let outcome = running.wait().expect(&[0, 4]);
    assert!(outcome.stderr.contains("used again"), "{outcome:?}");
}

#[test]
fn another_comparison_is_not_resumed() {
    let place = Place::new();
    place.make("c");
    let command = format!("{} --output r.db", compare(1));
    let mut running = place.start(&command);
    running.until("a trial", || (!trials(&place.path("r.db")).is_empty()).then_some(()));
    running.kill();
    let before = trials(&place.path("r.db"));
    for (from, to, what) in [
        ("--rate 300", "--rate 301", "workload"),
        ("compare a b", "compare a c", "datastores"),
        ("compare a b", "compare a b --baseline b", "baseline"),
        ("--size 8MiB", "--size 9MiB", "size"),
        ("compare a b", "compare a b --vms 2", "VMs"),
        ("latency-max", "latency-p50", "metric"),
        ("--duration 200ms", "--duration 210ms", "duration"),
    ] {
        let other = format!("{command} --resume").replace(from, to);
        let outcome = place.run(&other).expect(&[2]);
        assert!(outcome.stderr.contains(what), "{to}: {outcome:?}");
        assert!(outcome.stderr.contains("--output"), "{to}: {outcome:?}");
    }
    assert_eq!(trials(&place.path("r.db")), before);
}

#[test]
fn a_mistyped_results_file_is_an_error_and_no_new_run() {
    let place = Place::new();
    let outcome = place.run(&format!("{} --output mistyped.db --resume", compare(1))).expect(&[2]);
    assert!(outcome.stderr.contains("no results file mistyped.db"), "{outcome:?}");
    let outcome = place.run("report mistyped.db").expect(&[2]);
    assert!(outcome.stderr.contains("no results file mistyped.db"), "{outcome:?}");
    assert!(!place.path("mistyped.db").exists());
    assert!(place.folders("a").is_empty());
    std::fs::write(place.path("s.yaml"), "datastores: {a: a, b: b}\nworkloads: [vm-4k]\n").unwrap();
    let outcome = place.run("run s.yaml --redo invalid").expect(&[2]);
    assert!(outcome.stderr.contains("no results file s.db"), "{outcome:?}");
}

#[test]
fn without_a_name_the_newest_comparison_here_is_resumed() {
    let place = Place::new();
    assert!(
        place.run(&format!("{} --resume", compare(1))).expect(&[2]).stderr.contains("--output")
    );
    let mut running = place.start(&compare(1));
    let path = running.until("a results file", || {
        let mut entries = std::fs::read_dir(place.root()).unwrap().flatten();
        let found = entries.find(|e| e.file_name().to_string_lossy().ends_with(".db"))?.path();
        (!trials(&found).is_empty()).then_some(found)
    });
    running.kill();
    place.run(&format!("{} --resume", compare(1))).expect(&[0, 4]);
    assert_eq!(trials(&path).len(), 2 * BLOCKS);
}
