//! The table of each study, to the letter. After an intended change, `UPDATE_GOLDEN=1 cargo test -p
//! stormeter-replicate` rewrites the files: read the diff.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use stormeter_replicate::{Published, STUDIES, replicate, terminal};

#[test]
fn each_study_on_a_terminal_of_100_columns() {
    for (name, text) in STUDIES {
        let study = Published::read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let table = replicate(&study, None, None).unwrap_or_else(|error| panic!("{error}"));
        let text = terminal(&table, 100);
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        assert!(golden == text, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now:\n{text}");
    }
}
