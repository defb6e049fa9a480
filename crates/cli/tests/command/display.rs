//! What is shown while something is measured: on terminals of several widths, and in a log.

use std::process::Command;

use stormeter_testkit::Emulator;

use crate::place::{Outcome, Place, STEADY, not_run};

/// Paced far below what any storage does, so that every trial is sound, and never precise enough.
const STEADILY: &str = "--rate 300 --metric latency-max --precision 0.1% --margin 0.1%";

/// What a terminal of that width showed of the command's standard error. Standard output goes to
/// `out.txt`. `None` where util-linux's `script`, which makes the terminal, is missing.
fn on_a_terminal(place: &Place, arguments: &str, width: usize) -> Option<(Emulator, Outcome)> {
    if Command::new("script").arg("--version").output().is_err() {
        not_run("script (util-linux) is not installed");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_stormeter");
    let inner = format!("stty cols {width} rows 24; exec {program} {arguments} > out.txt");
    let mut command = Command::new("script");
    command.args(["-qfec", &inner, "/dev/null"]).current_dir(place.root());
    place.at_home(&mut command);
    let mut outcome = place.spawn(command).wait();
    let mut terminal = Emulator::new(width);
    terminal.feed(&outcome.stdout);
    outcome.stderr = outcome.stdout;
    outcome.stdout = std::fs::read_to_string(place.path("out.txt")).unwrap();
    Some((terminal, outcome))
}

/// The directories' names are long enough for lines of more than 100 columns.
fn place() -> (Place, String) {
    let place = Place::new();
    let (local, nas) = ("a-datastore-with-a-long-name", "another-datastore-with-a-long-name");
    place.make(local);
    place.make(nas);
    (place, format!("{local} {nas}"))
}

#[test]
fn a_comparison_fits_terminals_of_40_80_and_200_columns_and_scrolls_nothing() {
    let (place, datastores) = place();
    for width in [40, 80, 200] {
        // On a busy machine a trial may see no I/O at all, which ends the comparison before anything
        // is known of its precision: then it is run again, a few times.
        let sound = (0..10).find_map(|attempt| {
            let output = format!("--output {width}-{attempt}.db");
            let command =
                format!("compare {datastores} {STEADY} {STEADILY} --max-blocks 6 {output}");
            let shown = on_a_terminal(&place, &command, width);
            shown.map_or(Some(None), |found| (found.1.code != Some(5)).then_some(Some(found)))
        });
        let Some((terminal, outcome)) = sound.expect("a sound comparison in ten") else { return };
        let outcome = outcome.expect(&[0, 4]);
        for words in ["blocks done", "wanted ±0.1 %", "at most ", " left"] {
            assert!(outcome.stderr.contains(words), "{width}: {words:?}: {}", outcome.stderr);
        }
        let rows = terminal.rows();
        // What stays are three notes, of three lines each on the narrowest, and where the results are. The
        // runs of other tests on the same file system are noted, too, in five lines or a few more there, and
        // a trial that a busy machine broke, in two.
        let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let others = said.matches("run of stormeter").count();
        let broken = said.matches("broke: it is measured again").count();
        let most = 12 + 7 * others + 2 * broken;
        assert!(rows.len() <= most, "{width}: {} rows: {rows:#?}", rows.len());
    }
}

/// What a terminal of that width showed of the command's standard output.
fn tables_on_a_terminal(place: &Place, arguments: &str, width: usize) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        not_run("script (util-linux) is not installed");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_stormeter");
    let inner = format!("stty cols {width} rows 24; exec {program} {arguments} 2> err.txt");
    let mut command = Command::new("script");
    command.args(["-qfec", &inner, "/dev/null"]).current_dir(place.root());
    place.at_home(&mut command);
    Some(place.spawn(command).wait().stdout)
}

#[test]
fn tables_fit_a_terminal_of_80_columns() {
    let (place, datastores) = place();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let (a, b) = datastores.split_once(' ').unwrap();
    let study = format!(
        "study: Is the second of two datastores with long names as fast as the first?\n\
         datastores: {{one-with-a-long-name: {a}, another-with-a-long-name: {b}}}\n\
         questions:\n- one-with-a-long-name must be within 1000% of another-with-a-long-name in iops\n"
    );
    std::fs::write(place.path("s.yaml"), study).unwrap();
    for command in [
        format!("doctor {datastores}"),
        "profile".into(),
        "profile vm-4k".into(),
        "run s.yaml --plan".into(),
        format!("predict {root}/studies/tr3808/study.yaml --plan"),
        format!("site check {root}/studies/tr3808/site.yaml"),
        "replicate".into(),
        "replicate nfs-datastore".into(),
        "net demo".into(),
    ] {
        let Some(shown) = tables_on_a_terminal(&place, &command, 80) else { return };
        assert!(shown.lines().count() > 3, "{command}: {shown}");
        for line in shown.lines().map(|line| line.trim_end_matches('\r')) {
            // A longer word, such as a path, is kept whole.
            let is_word = line.split_whitespace().count() == 1;
            assert!(is_word || line.chars().count() <= 80, "{command}: {line}");
        }
    }
}

#[test]
fn the_ceiling_fits_a_terminal_of_40_columns() {
    let (place, _) = place();
    let command = "ceiling --duration 2s --vms 3 --outstanding 2";
    let Some((terminal, outcome)) = on_a_terminal(&place, command, 40) else { return };
    outcome.expect(&[0]);
    assert_eq!(terminal.wraps, 0);
    assert!(terminal.rows().is_empty(), "{:#?}", terminal.rows());
}

#[test]
fn a_comparison_says_a_line_a_trial_in_a_log() {
    let place = Place::new();
    let command = format!("compare a b {STEADY} {STEADILY} --max-blocks 5 --output");
    let outcome = place.run_until(&[0, 4], &format!("{command} r.db"));
    let mut said = 0;
    for block in 1..=5 {
        for datastore in ["a", "b"] {
            let start = format!("block {block}: {datastore}: ");
            let lines = outcome.stderr.lines().filter(|line| line.starts_with(&start)).count();
            assert!(lines > 0, "{start:?}: {outcome:#?}");
            said += lines;
        }
    }
    // A block is measured again where a busy machine let a trial break, so ten trials is the least.
    assert!(outcome.stdout.contains(&format!("blocks ({said} trials,")), "{said}: {outcome:#?}");
    assert!(!outcome.stderr.contains('\x1b') && !outcome.stderr.contains('\r'), "{outcome:#?}");
    let outcome = place.run(&format!("{command} q.db --quiet"));
    assert_eq!(outcome.expect(&[0, 4, 5]).stderr, "");
}
