//! What the text and the JSON look like, to the letter. After a change that is meant,
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-report` writes the files anew: read the difference.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;

use std::path::Path;

use fixture::{LOCAL, LOOPBACK_ISCSI, LOOPBACK_NFS, MEMORY, NAS, SAN, report};
use stormeter_report::{TerminalOptions, json, terminal};

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(golden == text, "{name} differs; UPDATE_GOLDEN=1 writes it anew. Now:\n{text}");
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
fn two_datastores_in_json() {
    let mut text = serde_json::to_string_pretty(&json(&report(&[LOCAL, NAS]))).unwrap();
    text.push('\n');
    compare("two.json", &text);
}

#[test]
fn a_table_fits_a_terminal_and_colour_changes_nothing_else() {
    let report = report(&[LOCAL, NAS, SAN, MEMORY]);
    for width in [80, 100] {
        let plain = terminal(&report, TerminalOptions { color: false, width });
        for line in plain.lines().filter(|line| !line.starts_with("Repeat it")) {
            // A URL cannot be broken; all else can.
            let is_url = line.contains("iscsi://") || line.contains("/dev/shm/stormeter/a-dir");
            assert!(is_url || line.chars().count() <= width.max(88), "{line}");
        }
        let mut colored = terminal(&report, TerminalOptions { color: true, width });
        assert_ne!(colored, plain);
        while let Some(start) = colored.find('\x1b') {
            let end = start + colored[start..].find('m').unwrap();
            colored.replace_range(start..=end, "");
        }
        assert_eq!(colored, plain);
    }
}
