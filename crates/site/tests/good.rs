//! Valid sites and how they are read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_site::*;

const EVERYTHING: &str = include_str!("good/everything.yaml");

/// A whole site as read: what is written, what it is like, what is left out. Rewritten with
/// `UPDATE_GOLDEN=1`; compare it with the file then.
#[test]
fn a_site_is_read_whole() {
    let file = parse_site(EVERYTHING).unwrap_or_else(|errors| panic!("{errors}"));
    let read = serde_json::to_string_pretty(&file).unwrap() + "\n";
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/good/everything.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, &read).unwrap();
    }
    assert!(std::fs::read_to_string(golden).unwrap() == read, "{read}");
    assert_eq!(serde_json::from_str::<SiteFile>(&read).unwrap(), file);
}
