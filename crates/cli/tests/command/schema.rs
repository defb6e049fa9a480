//! The JSON that is printed against the schema that is printed.

use serde_json::{Value, json};
use stormeter_testkit::violations;

use crate::place::Place;

/// Fails where `value` does not follow the schema that this program prints.
#[track_caller]
pub(crate) fn check(place: &Place, value: &Value) {
    let schema = place.run("schema report").expect(&[0]).json();
    let violations = violations(&schema, value);
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn a_value_that_does_not_follow_the_schema_is_seen() {
    let schema = Place::new().run("schema report").expect(&[0]).json();
    assert!(!violations(&schema, &json!({})).is_empty());
    assert!(!violations(&schema, &json!([])).is_empty());
}

#[test]
fn the_schemas_that_are_printed_are_the_committed_ones() {
    let place = Place::new();
    let study = place.run("schema").expect(&[0]).stdout;
    assert_eq!(study, include_str!("../../../../docs/schema/study.schema.json"));
    assert_eq!(place.run("schema study").expect(&[0]).stdout, study);
    let site = place.run("schema site").expect(&[0]).stdout;
    assert_eq!(site, include_str!("../../../../docs/schema/site.schema.json"));
    for (name, text) in [
        ("lab", include_str!("../../../../docs/schema/lab.schema.json")),
        ("report", include_str!("../../../../docs/schema/report.schema.json")),
        ("replicate", include_str!("../../../../docs/schema/replicate.schema.json")),
        ("list", include_str!("../../../../docs/schema/list.schema.json")),
        ("sides", include_str!("../../../../docs/schema/sides.schema.json")),
        ("timeline", include_str!("../../../../docs/schema/timeline.schema.json")),
        ("gate", include_str!("../../../../docs/schema/gate.schema.json")),
        ("audit", include_str!("../../../../docs/schema/audit.schema.json")),
    ] {
        assert_eq!(place.run(&format!("schema {name}")).expect(&[0]).stdout, text, "{name}");
    }
    // None is committed that cannot be printed.
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");
    for entry in std::fs::read_dir(committed).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.strip_suffix(".schema.json").unwrap().to_owned();
        place.run(&format!("schema {name}")).expect(&[0]);
    }
    // Before there was one schema for all reports, there were two.
    for earlier in ["comparison", "study-report"] {
        let text = place.run(&format!("schema {earlier}")).expect(&[0]).stdout;
        assert_eq!(text, include_str!("../../../../docs/schema/report.schema.json"));
    }
}
