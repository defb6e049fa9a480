//! The table of each study, to the letter. After an intended change, `UPDATE_GOLDEN=1 cargo test -p
//! stormeter-replicate` rewrites the files: read the diff.

use std::path::Path;

use stormeter_replicate::{Published, STUDIES, replicate, terminal};
use stormeter_testkit::assert_golden;

#[test]
fn each_study_on_a_terminal_of_100_columns() {
    for (name, text) in STUDIES {
        let study = Published::read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let table = replicate(&study, None, None).unwrap_or_else(|error| panic!("{error}"));
        let text = terminal(&table, 100);
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
        assert_golden(&path, &text);
    }
}
