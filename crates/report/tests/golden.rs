//! What the text and the JSON look like, to the letter. After a change that is meant,
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-report` rewrites the files: read the difference.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;

use std::path::Path;

use fixture::{LOCAL, LOOPBACK_ISCSI, LOOPBACK_NFS, MEMORY, NAS, SAN, report};
use stormeter_report::TerminalOptions;
use stormeter_report::compact::terminal;

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(golden == text, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now:\n{text}");
}

#[test]
fn two_datastores_on_a_terminal() {
    compare("two.txt", &terminal(&report(&[LOCAL, NAS]), TerminalOptions::default()));
}

#[test]
fn four_datastores_on_a_terminal() {
    let text = terminal(&report(&[LOCAL, NAS, SAN, MEMORY]), TerminalOptions::default());
    compare("four.txt", &text);
}

#[test]
fn servers_on_this_machine_on_a_terminal() {
    let text = terminal(
        &report(&[LOCAL, LOOPBACK_NFS, LOOPBACK_ISCSI]),
        TerminalOptions { width: 100, ..TerminalOptions::default() },
    );
    compare("loopback.txt", &text);
}

#[test]
fn a_table_fits_a_terminal_and_colour_changes_nothing_else() {
    let report = report(&[LOCAL, NAS, SAN, MEMORY]);
    for width in [40, 50, 60, 70, 80, 90, 100, 110, 120] {
        let plain = terminal(&report, TerminalOptions { width, ..TerminalOptions::default() });
        for line in plain.lines().filter(|line| !line.starts_with("Repeat it")) {
            // A word that is longer than the line, such as a URL, cannot be broken; all else can.
            let longest = line.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
            let is_word = line.trim_start().chars().count() == longest;
            assert!(is_word || line.chars().count() <= width, "{width}: {line}");
        }
        let options = TerminalOptions { color: true, width, ..TerminalOptions::default() };
        let mut colored = terminal(&report, options);
        assert_ne!(colored, plain);
        while let Some(start) = colored.find('\x1b') {
            let end = start + colored[start..].find('m').unwrap();
            colored.replace_range(start..=end, "");
        }
        assert_eq!(colored, plain);
    }
}

#[test]
fn every_form_of_the_table_has_every_figure() {
    let report = report(&[LOCAL, NAS]);
    let forms = [
        (120, true, true, true),
        (100, true, true, true),
        (90, false, true, true),
        (80, false, true, true),
        (76, false, true, false),
        (70, false, false, true),
        (40, true, true, true),
    ];
    for (width, spread, interval, word) in forms {
        let text = terminal(&report, TerminalOptions { width, ..TerminalOptions::default() });
        for figure in ["128 431", "98 378", "−23.4 %", "+55.4 %", "maximum latency", "24.1ms"] {
            assert!(text.contains(figure), "{width}: {figure}: {text}");
        }
        assert_eq!(text.contains("±30.4%"), spread, "{width}: {text}");
        assert_eq!(text.contains("−23.4 % (−24.8 to −22.0 %)"), interval, "{width}: {text}");
        assert_eq!(text.contains("interval where there is room"), !interval, "{width}: {text}");
        assert_eq!(text.contains("−24.8 to −22.0 %) slower"), interval && word, "{width}: {text}");
        assert_eq!(text.contains("costlier"), word, "{width}: {text}");
        assert_eq!(text.contains("▼ worse"), !word, "{width}: {text}");
    }
}

/// After two blocks an interval may have any width.
#[test]
fn what_is_hardly_known_does_not_break_the_table() {
    let mut report = report(&[LOCAL, NAS]);
    for metric in &mut report.comparisons {
        let comparison = &mut metric.comparison;
        comparison.interval.low = 1e-43;
        comparison.interval.high = 1.38e43;
        comparison.half_width = 1.38e43;
    }
    for datastore in &mut report.datastores {
        for value in &mut datastore.values {
            value.interval.as_mut().unwrap().high = 1e40;
        }
    }
    let text = terminal(&report, TerminalOptions { width: 80, ..TerminalOptions::default() });
    for line in text.lines().filter(|line| !line.starts_with("Repeat it")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for change in ["−23.4 % (−100 to > +1000 %)", "2.5 times (0 to > 1000 times)"] {
        assert!(text.contains(change), "{change}: {text}");
    }
}

#[test]
fn the_command_that_repeats_it_can_be_left_out() {
    let report = report(&[LOCAL, NAS]);
    let text = |repeat| terminal(&report, TerminalOptions { repeat, ..TerminalOptions::default() });
    assert!(text(true).contains("Repeat it:") && !text(false).contains("Repeat it:"));
}
