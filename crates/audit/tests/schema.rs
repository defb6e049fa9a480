//! The JSON that an audit prints, and its schema.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use stormeter_audit::{PrintedAudit, audit_sheet, derived_schema};
use stormeter_replicate::Sheet;
use stormeter_testkit::{assert_golden, undescribed, violations};

#[test]
fn the_committed_schema_is_the_derived_one_and_describes_every_key() {
    let path = "../../docs/schema/audit.schema.json";
    assert_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &derived_schema());
    let parsed = serde_json::from_str(&derived_schema()).unwrap();
    assert_eq!(undescribed(&parsed), Vec::<String>::new());
}

#[test]
fn the_json_follows_its_schema() {
    let sheet = Sheet::read(include_str!("files/planted.yaml")).unwrap();
    let audit = PrintedAudit::new(vec!["a.yaml".into()], &audit_sheet(&sheet).unwrap());
    let schema = serde_json::from_str(&derived_schema()).unwrap();
    let found = violations(&schema, &serde_json::to_value(&audit).unwrap());
    assert!(found.is_empty(), "{found:?}");
}
