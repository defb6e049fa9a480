//! A study as users run it: from its file to its answers, interrupted, killed and resumed.

use crate::killing::{kill_again_and_again, turns};
use crate::place::Place;
use crate::results::{one, trials};

const BLOCKS: usize = 4;
/// Datastores × workloads × VMs.
const CELLS: usize = 2 * 2 * 2;
const KILLS: usize = 5;

/// Eight cells, four times each, of a load that is far below what any storage can do.
fn study(questions: &str) -> String {
    format!(
        "study: Is b as quick as a?\n\
         datastores:\n  a: a\n  b: b\n\
         workloads:\n\
         - {{name: vm-4k, profile: vm-4k, rate: 300}}\n\
         - {{name: pages, request-size: 8KiB, read: 50%, random: 100%, rate: 200}}\n\
         load: {{vms: [1, 2]}}\n\
         disk: {{size: 4MiB}}\n\
         measure: {{ramp: 20ms, duration: 150ms, interval: 50ms}}\n\
         design: {{blocks: {BLOCKS}, metric: latency-mean}}\n\
         seed: 4711\n\
         questions:\n{questions}"
    )
}

const TOLERANT: &str = "- a must be within 1000% of b in iops on vm-4k\n";

fn write(place: &Place, text: &str) {
    std::fs::write(place.path("s.yaml"), text).unwrap();
}

#[test]
fn a_study_killed_five_times_resumes_to_the_same_plan_and_a_complete_result() {
    let place = Place::new();
    write(&place, &study(TOLERANT));
    let path = place.path("killed.db");
    let command = "run s.yaml --output killed.db";
    let plan = |place: &Place| place.run("run s.yaml --plan").expect(&[0]).stdout;
    let planned = plan(&place);
    let commands = std::iter::repeat_n(command, KILLS);
    let kept = kill_again_and_again(&place, &path, commands, 3, 0x51c0_9e37_79b9_7f4a);
    place.run(command).expect(&[0]);

    let all = trials(&path);
    assert!(all.starts_with(&kept));
    assert_eq!(all.len(), CELLS * BLOCKS, "each cell has one trial a block");
    assert!(all.iter().all(|trial| trial.outcome == "measured"), "{all:?}");
    assert_eq!(plan(&place), planned);
    place.run("run s.yaml --output whole.db").expect(&[0]);
    assert_eq!(turns(&all), turns(&trials(&place.path("whole.db"))));
    let cells =
        "SELECT count(*) FROM (SELECT DISTINCT cell, block FROM trial WHERE phase = 'main')";
    assert_eq!(one::<i64>(&path, cells) as usize, CELLS * BLOCKS);
    assert_eq!(one::<String>(&path, "PRAGMA integrity_check"), "ok");
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
    // Nothing is left to do: it is shown and not measured again.
    place.run(command).expect(&[0]);
    assert_eq!(trials(&path), all);
}

#[test]
fn another_study_is_not_gone_on_with() {
    let place = Place::new();
    write(&place, &study(TOLERANT));
    let mut running = place.start("run s.yaml --output s.db");
    running.until("a trial", || (!trials(&place.path("s.db")).is_empty()).then_some(()));
    running.kill();
    for (from, to, what) in [
        ("rate: 300", "rate: 301", "workloads"),
        ("vms: [1, 2]", "vms: [1, 3]", "load"),
        ("seed: 4711", "seed: 4712", "seed"),
        ("150ms", "151ms", "duration"),
        ("size: 4MiB", "size: 5MiB", "disk"),
    ] {
        write(&place, &study(TOLERANT).replace(from, to));
        let outcome = place.run("run s.yaml --output s.db").expect(&[2]);
        assert!(outcome.stderr.contains(what), "{to}: {outcome:?}");
        assert!(outcome.stderr.contains("--output"), "{to}: {outcome:?}");
    }
    // More blocks are more of the same study.
    write(&place, &study(TOLERANT).replace("blocks: 4", "blocks: 5"));
    place.run("run s.yaml --output s.db").expect(&[0]);
    assert_eq!(trials(&place.path("s.db")).len(), CELLS * 5);
    // So is another question, which is answered although nothing is left to measure.
    let asked = "- latency-mean of a must be at most 1ns on vm-4k\n";
    write(&place, &study(asked).replace("blocks: 4", "blocks: 5"));
    let outcome = place.run("run s.yaml --output s.db").expect(&[3]);
    assert!(outcome.stdout.contains("at most 1ns"), "{outcome:?}");
    // Blocks that are added after an answer could be read are reported.
    write(&place, &study(TOLERANT).replace("blocks: 4", "blocks: 6"));
    let outcome = place.run("run s.yaml --output s.db").expect(&[0]);
    assert!(outcome.said().contains("after its verdict could be read"), "{outcome:?}");
}

#[test]
fn a_plan_touches_nothing_and_is_always_the_same() {
    let place = Place::new();
    write(&place, &study(TOLERANT).replace("  a: a\n", "  a: /nowhere\n").replace("on vm-4k", ""));
    let outcome = place.run("run s.yaml --plan").expect(&[0]);
    assert_eq!(outcome.stdout, place.run("run s.yaml --plan").expect(&[0]).stdout);
    for words in ["vm-4k", "pages", "8MiB", "block 4"] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    let entries = std::fs::read_dir(place.root()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // The output of the program is kept there too.
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("output-")).collect();
    names.sort();
    assert_eq!(names, ["a", "b", "s.yaml"]);
}

#[test]
fn the_old_spelling_of_a_key_is_noted_with_its_place() {
    let place = Place::new();
    let text = |key: &str| study(TOLERANT).replace("design: {", &format!("design: {{{key}: 9h, "));
    write(&place, &text("time-limit"));
    let new = place.run("run s.yaml --plan").expect(&[0]);
    assert_eq!(new.stderr, "");
    write(&place, &text("time_limit"));
    let old = place.run("run s.yaml --plan").expect(&[0]);
    assert_eq!(old.stdout, new.stdout);
    assert_eq!(old.stderr, "note: s.yaml:11:10: time_limit is the old spelling of time-limit\n");
}

#[test]
fn a_must_that_is_answered_no_ends_with_three() {
    let place = Place::new();
    write(&place, &study("- latency-mean of a must be at most 1ns on vm-4k\n"));
    let outcome = place.run("run s.yaml --output s.db --quiet").expect(&[3]);
    assert!(outcome.stdout.contains("must be at most"), "{outcome:?}");
    assert_eq!(outcome.stderr, "");
    place.run("report s.db").expect(&[3]);
    write(&place, &study("- latency-mean of a is at most 1ns on vm-4k\n"));
    place.run("run s.yaml --output t.db --quiet").expect(&[0]);
}

#[test]
fn a_datastore_that_fails_costs_its_own_trials_only() {
    let place = Place::new();
    // Before every trial on b the state cannot be brought back.
    let text = study(TOLERANT)
        .replace("design: {", "design: {reset: {command: 'test $STORMETER_DATASTORE = a'}, ");
    write(&place, &text);
    // What has no trial at all has no result; but the storage did nothing wrong.
    let outcome = place.run("run s.yaml --output s.db").expect(&[5]);
    assert!(outcome.stderr.contains("failed: the reset command"), "{outcome:?}");
    let all = trials(&place.path("s.db"));
    // The first block is measured three times; then it is clear that there is no use in it.
    assert_eq!(all.len(), CELLS * (BLOCKS + 2));
    for trial in &all {
        let expected = if trial.datastore == 0 { "measured" } else { "failed" };
        assert_eq!(trial.outcome, expected, "{trial:?}");
    }
    assert!(outcome.stdout.contains("failed"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("kernel log"), "{}", outcome.stdout);
}

#[test]
fn every_datastore_and_fixed_work_that_a_study_can_bring_works_at_any_depth() {
    let place = Place::deep();
    let text = "study: Everything once\n\
         datastores:\n  local: embedded:local\n  nas: embedded:nfs\n  san: embedded:iscsi\n\
         workloads:\n\
         - {profile: vm-4k}\n\
         - {name: file, file-test: [write, reread, random-write], record: 16KiB, size: 2MiB}\n\
         - {name: net, transfer: {size: 100KB, direction: write, sink: disk, messages: 5}}\n\
         - {name: desks, size: 4MiB, deploy: {copy: 256KiB, customise: 10, boot: 10}}\n\
         disk: {size: 4MiB}\n\
         measure: {ramp: 20ms, duration: 200ms, interval: 50ms}\n\
         design: {blocks: 2, metric: latency-mean, reset: recreate}\n\
         questions:\n- nas is slower than local in latency-mean\n";
    write(&place, text);
    let outcome = place.run("run s.yaml --output s.db --html s.html").expect(&[0, 5]);
    let all = trials(&place.path("s.db"));
    assert_eq!(all.len(), 3 * 6 * 2, "{outcome:?}");
    assert!(all.iter().all(|trial| trial.outcome == "measured"), "{outcome:?}");
    assert!(place.path("s.html").exists());
    assert!(!place.path("stormeter-embedded").exists(), "what was brought is gone");
}

#[test]
fn ctrl_c_keeps_what_is_finished() {
    let place = Place::new();
    write(&place, &study(TOLERANT));
    let mut running = place.start("run s.yaml --output s.db");
    running.until("a trial", || (!trials(&place.path("s.db")).is_empty()).then_some(()));
    running.signal(nix::sys::signal::Signal::SIGINT);
    let outcome = running.wait().expect(&[130]);
    assert!(outcome.stdout.contains("Is b as quick as a?"), "{outcome:?}");
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
    place.run("run s.yaml --output s.db").expect(&[0]);
    assert_eq!(trials(&place.path("s.db")).len(), CELLS * BLOCKS);
}

#[test]
fn a_bad_study_file_is_shown_with_its_line() {
    let place = Place::new();
    write(&place, &study(TOLERANT).replace("blocks: 4", "blokcs: 4"));
    let outcome = place.run("run s.yaml").expect(&[2]);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert!(lines[0].starts_with("error: s.yaml:11:"), "{outcome:?}");
    assert!(lines[0].contains("blocks"), "{outcome:?}");
    assert!(lines[2].ends_with("|          ^^^^^^"), "{outcome:?}");
}

#[test]
fn what_lies_where_embedded_datastores_go_is_left_alone() {
    let place = Place::new();
    write(&place, &study(TOLERANT).replace("a: a\n", "a: embedded:local\n"));
    let own = place.make("stormeter-embedded");
    std::fs::write(place.path("victim"), "kept").unwrap();
    std::os::unix::fs::symlink(place.path("victim"), own.join("lock")).unwrap();
    let outcome = place.run("run s.yaml --output s.db").expect(&[1]);
    assert!(outcome.stderr.contains("stormeter-embedded"), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(place.path("victim")).unwrap(), "kept");
}
