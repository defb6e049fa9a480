//! The committed JSON Schema checked against what is really read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use stormeter_study::{
    Metric, key_lists, parse_study, study_profiles, study_schema, workloads_text,
};
use stormeter_testkit::{as_json, assert_same_keys, examples, violations};

fn schema() -> Value {
    serde_json::from_str(study_schema()).unwrap()
}

/// The study files of the tests, of the examples, and in the documents that explain them.
fn good_files() -> Vec<(String, String)> {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut files = examples(root, "tests/good", "../../docs/study-file.md");
    files.extend(examples(root, "../../examples", "../../docs/tutorial.md"));
    assert!(files.len() >= 8, "{}", files.len());
    files
}

#[test]
fn every_example_is_read_and_follows_the_schema() {
    for (name, text) in good_files() {
        if let Err(errors) = parse_study(&text) {
            panic!("{}", errors.in_file(name));
        }
        let violations = violations(&schema(), &as_json(&text));
        assert!(violations.is_empty(), "{name}: {violations:#?}");
    }
}

#[test]
fn every_profile_as_it_is_printed_follows_the_schema() {
    for profile in study_profiles() {
        let text = format!("datastores: {{a: /a}}\n{}", workloads_text(&[profile.workload]));
        let violations = violations(&schema(), &as_json(&text));
        assert!(violations.is_empty(), "{text}\n{violations:#?}");
    }
}

#[test]
fn the_schema_has_the_keys_that_are_read_and_no_others() {
    assert_same_keys(&schema(), "study", key_lists());
}

#[test]
fn every_word_of_the_schema_is_understood() {
    let schema = schema();
    let metrics = &schema["$defs"]["design"]["properties"]["metric"]["enum"];
    assert_eq!(*metrics, json!(Metric::ALL.map(Metric::name).to_vec()));
    // Section, key, and what stands before it so that the words make sense.
    let words = [
        ("disk", "prepare", "disk: {prepare: WORD}"),
        ("measure", "unit", "measure: {unit: WORD}"),
        ("design", "order", "design: {order: WORD}"),
        ("io", "arrivals", "workloads: [{profile: vm-4k, rate: 9, arrivals: WORD}]"),
        ("transfer", "direction", "workloads: [{name: x, transfer: {direction: WORD}}]"),
        ("transfer", "sink", "workloads: [{name: x, transfer: {sink: WORD}}]"),
    ];
    let understood = |form: &str, word: &str| {
        let text = format!("datastores: {{a: /a}}\n{}\n", form.replace("WORD", word));
        parse_study(&text).unwrap_or_else(|errors| panic!("{errors}"))
    };
    for (section, key, form) in words {
        for word in schema["$defs"][section]["properties"][key]["enum"].as_array().unwrap() {
            understood(form, word.as_str().unwrap());
        }
    }
    for word in schema["$defs"]["file-test"]["properties"]["file-test"]["anyOf"][0]["enum"]
        .as_array()
        .unwrap()
    {
        understood("workloads: [{name: x, file-test: WORD}]", word.as_str().unwrap());
    }
    for word in
        schema["$defs"]["design"]["properties"]["reset"]["anyOf"][0]["enum"].as_array().unwrap()
    {
        understood("design: {reset: WORD}", word.as_str().unwrap());
    }
}

#[test]
fn the_schema_sees_what_is_wrong() {
    for (text, at) in [
        ("study: none\n", "datastores"),
        ("datastores: {a: /a}\nlaod: {vms: 1}\n", "additionalProperties"),
        ("datastores: {a: [/a]}\n", "/datastores/a"),
        ("datastores: {a: /a}\nload: {vms: 0}\n", "/load/vms"),
        ("datastores: {a: /a}\ndisk: {size: 10}\n", "/disk/size"),
        ("datastores: {a: /a}\ndesign: {order: random}\n", "/design/order"),
        ("datastores: {a: /a}\nworkloads: [{name: x, raed: 75%}]\n", "/workloads"),
    ] {
        let violations = violations(&schema(), &as_json(text));
        assert!(violations.iter().any(|v| v.contains(at)), "{text}{violations:?}");
        assert!(parse_study(text).is_err(), "{text}");
    }
}
