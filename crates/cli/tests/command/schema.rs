//! The JSON that is printed against the schema that is printed.

use serde_json::{Value, json};

use crate::json_schema::violations;
use crate::place::Place;

/// Fails where `value` does not follow the schema that this program prints.
#[track_caller]
pub(crate) fn check(place: &Place, value: &Value) {
    let schema = place.run("schema comparison").expect(&[0]).json();
    let violations = violations(&schema, value);
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn a_value_that_does_not_follow_the_schema_is_seen() {
    let schema = Place::new().run("schema comparison").expect(&[0]).json();
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
    let comparison = place.run("schema comparison").expect(&[0]).stdout;
    assert_eq!(comparison, include_str!("../../../../docs/schema/comparison.schema.json"));
}
