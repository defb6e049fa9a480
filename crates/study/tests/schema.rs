//! The committed JSON Schema against what is really read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../report/tests/json_schema/mod.rs"]
mod json_schema;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use json_schema::violations;
use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Value, json};
use stormeter_study::{
    Metric, key_lists, parse_study, study_profiles, study_schema, workloads_text,
};

fn schema() -> Value {
    serde_json::from_str(study_schema()).unwrap()
}

/// What an editor that checks YAML by a JSON Schema sees.
fn as_json(text: &str) -> Value {
    fn value(yaml: &Yaml<'_>) -> Value {
        match yaml {
            Yaml::Value(Scalar::Null) => Value::Null,
            Yaml::Value(Scalar::Boolean(value)) => json!(value),
            Yaml::Value(Scalar::Integer(value)) => json!(value),
            Yaml::Value(Scalar::FloatingPoint(value)) => json!(value.into_inner()),
            Yaml::Value(Scalar::String(value)) => json!(value),
            Yaml::Sequence(items) => items.iter().map(value).collect(),
            Yaml::Mapping(entries) => entries
                .iter()
                .map(|(key, item)| (key.as_str().unwrap().to_owned(), value(item)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            other => panic!("{other:?}"),
        }
    }
    value(&Yaml::load_from_str(text).unwrap()[0])
}

/// The study files of the tests and of the document that explains them.
fn good_files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<(String, String)> = fs::read_dir(root.join("tests/good"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect();
    let document = fs::read_to_string(root.join("../../docs/study-file.md")).unwrap();
    for (index, block) in document.split("```yaml\n").skip(1).enumerate() {
        let text = block.split("```").next().unwrap();
        files.push((format!("docs/study-file.md, example {}", index + 1), text.to_owned()));
    }
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
    let schema = schema();
    let names = |value: &Value| {
        let properties = value["properties"].as_object();
        properties.map(|p| p.keys().cloned().collect::<Vec<String>>())
    };
    let mut in_schema: BTreeMap<String, Vec<String>> = BTreeMap::new();
    in_schema.insert("study".into(), names(&schema).unwrap());
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        if let Some(names) = names(definition) {
            assert_eq!(definition["additionalProperties"], json!(false), "{name}");
            in_schema.insert(name.clone(), names);
        }
    }
    let mut read: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, keys) in key_lists() {
        let mut keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
        keys.sort();
        read.insert(name.into(), keys);
    }
    for keys in in_schema.values_mut() {
        keys.sort();
    }
    assert_eq!(in_schema, read);
}

#[test]
fn every_word_of_the_schema_is_understood() {
    let schema = schema();
    let metrics = &schema["$defs"]["design"]["properties"]["metric"]["enum"];
    assert_eq!(*metrics, json!(Metric::OF_STUDIES.map(Metric::name)));
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
