//! Defaults of the user: what a run records of them, and that they change no run that has started.

use std::fs;

use crate::killing::turns;
use crate::place::{Outcome, Place, SHORT};
use crate::results::{one, trials};

fn write(place: &Place, text: &str) {
    place.make("config/stormeter");
    fs::write(place.path("config/stormeter/defaults.yaml"), text).unwrap();
}

fn run_with(place: &Place, variable: (&str, &str), arguments: &str) -> Outcome {
    let mut command = place.command(arguments);
    command.env(variable.0, variable.1);
    place.spawn(command).wait()
}

const COMPARE: &str = "compare a b --rate 100";

#[test]
fn a_run_records_the_defaults_that_it_used_and_keeps_them() {
    let place = Place::new();
    let defaults = |precision: &str| {
        write(
            &place,
            &format!(
                "compare: {{size: 8MiB, duration: 100ms, ramp: 20ms, time-limit: 60s, \
                 max-blocks: 5, precision: {precision}}}"
            ),
        );
    };
    defaults("3%");
    place.run(&format!("{COMPARE} --output r.db")).expect(&[0, 4, 5]);
    let path = place.path("r.db");
    let header: String = one(&path, "SELECT value FROM meta WHERE key = 'header'");
    for words in ["--size=8MiB", "--precision=3%", "\"precision\":0.03", "\"disk_bytes\":8388608"] {
        assert!(header.contains(words), "{words}: {header}");
    }
    let report = place.run("report r.db").expect(&[0, 4, 5]).stdout;
    assert!(report.contains("--precision=3%"), "the command that repeats it: {report}");

    defaults("9%");
    assert_eq!(place.run("report r.db").expect(&[0, 4, 5]).stdout, report);
    let before = trials(&path);
    let resume = format!("{COMPARE} --output r.db --resume");
    let refused = place.run(&resume).expect(&[2]);
    for words in ["--precision=9% is new", "STORMETER_DEFAULTS= stormeter compare --size=8MiB"] {
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert_eq!(turns(&trials(&path)), turns(&before));
    place.run(&format!("{resume} --precision 3%")).expect(&[0, 4, 5]);
}

#[test]
fn a_variable_comes_before_the_file_and_empty_defaults_are_off() {
    let place = Place::new();
    write(&place, "report: {json: true}");
    place.run(&format!("compare a b {SHORT} --max-blocks 5 --output r.db")).expect(&[0, 4, 5]);
    let starts = |outcome: Outcome| outcome.expect(&[0, 4, 5]).stdout.starts_with('{');
    assert!(starts(place.run("report r.db")));
    assert!(!starts(run_with(&place, ("STORMETER_REPORT_JSON", "false"), "report r.db")));
    assert!(!starts(run_with(&place, ("STORMETER_DEFAULTS", ""), "report r.db")));
    let missing = run_with(&place, ("STORMETER_DEFAULTS", "none.yaml"), "report r.db").expect(&[2]);
    assert!(missing.stderr.contains("none.yaml"), "{missing:?}");
}

#[test]
fn a_mistake_is_shown_with_its_line_and_help_still_works() {
    let place = Place::new();
    write(&place, "compare:\n  presision: 3%\n");
    let refused = place.run("compare a b").expect(&[2]);
    for words in ["defaults.yaml:2:3: ", "did you mean precision?", "2 |   presision: 3%"] {
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    place.run("compare --help").expect(&[0]);
    write(&place, "compare:\n  time-limit: 10\n");
    let refused = place.run("compare a b").expect(&[2]);
    assert!(refused.stderr.contains("defaults.yaml:2:15: "), "{refused:?}");
    let version = place.run("--version --verbose").expect(&[0]).stdout;
    assert!(version.contains("config/stormeter/defaults.yaml"), "{version}");
    write(&place, "run: {destroy-data: /dev/null}");
    let refused = place.run("report r.db").expect(&[2]);
    assert!(refused.stderr.contains("destroy-data has no default"), "{refused:?}");
}
