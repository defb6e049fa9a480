//! The tables of the published studies: what is found in them, to the letter.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use stormeter_audit::{PrintedAudit, audit_sheet};
use stormeter_replicate::{STUDIES, Sheet};
use stormeter_testkit::assert_golden;

#[test]
fn what_is_found_in_the_published_tables() {
    for (name, text) in STUDIES {
        let sheet = Sheet::read(text).unwrap();
        let findings = audit_sheet(&sheet).unwrap();
        let printed = PrintedAudit::new(vec![name.to_string()], &findings).terminal(100);
        let golden = format!("{}/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        assert_golden(Path::new(&golden), &printed);
    }
}
