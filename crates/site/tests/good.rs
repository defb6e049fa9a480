//! Sites that are right: what is read from them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_site::*;

const EVERYTHING: &str = include_str!("good/everything.yaml");

/// A site as its file says, whole: what stands there, what it is like, what is left out. Written
/// anew with `UPDATE_GOLDEN=1`; read it against the file then.
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
