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
use stormeter_site::{key_lists, parse_site, site_schema};

fn schema() -> Value {
    serde_json::from_str(site_schema()).unwrap()
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

/// Sites of the tests and of the document that explains them.
fn good_sites() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let everything = fs::read_to_string(root.join("tests/good/everything.yaml")).unwrap();
    let mut sites = vec![("everything.yaml".to_owned(), everything)];
    let document = fs::read_to_string(root.join("../../docs/site-file.md")).unwrap();
    for (index, block) in document.split("```yaml\n").skip(1).enumerate() {
        let text = block.split("```").next().unwrap();
        sites.push((format!("docs/site-file.md, example {}", index + 1), text.to_owned()));
    }
    assert!(sites.len() >= 3, "{}", sites.len());
    sites
}

#[test]
fn every_example_is_read_and_follows_the_schema() {
    for (name, text) in good_sites() {
        if let Err(errors) = parse_site(&text) {
            panic!("{}", errors.in_file(name));
        }
        let violations = violations(&schema(), &as_json(&text));
        assert!(violations.is_empty(), "{name}: {violations:#?}");
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
    in_schema.insert("site".into(), names(&schema).unwrap());
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
fn the_document_explains_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("../../docs/site-file.md")).unwrap();
    for (list, keys) in key_lists() {
        for key in keys {
            assert!(document.contains(&format!("`{key}`")), "{key} of {list}");
        }
    }
    for (word, _) in stormeter_site::WORDS {
        assert!(document.contains(&format!("| `{word}=")), "{word}");
    }
}

#[test]
fn every_word_of_the_schema_is_understood() {
    let schema = schema();
    let rest = "hosts: {pc: {cores: 4, clock: 3GHz, adapters: {nic: {rate: 1GbE}}}}\n\
                stacks: {disk: {protocol: local}, other: {protocol: PROTOCOL}}\n\
                disk-groups: {ssd: {device: {like: sata-ssd-480gb}}, raid: {disks: 4, raid: RAID, \
                device: {like: sata-ssd-480gb}}}\n\
                controllers: {filer: {cores: 1, clock: 1GHz, disks: ssd, layout: LAYOUT, \
                ports: {e0: {rate: 1GbE AGGREGATION}}, costs: {nfs: {}}}}\n\
                datastores: {local: {hosts: pc, stack: disk, disks: ssd, placement: PLACEMENT}}\n";
    let defaults = [
        ("AGGREGATION", ""),
        ("PROTOCOL", "nfs"),
        ("RAID", "0"),
        ("LAYOUT", "in-place"),
        ("PLACEMENT", "spread"),
    ];
    let places = [
        ("adapter", "aggregation", "AGGREGATION", ", aggregation: WORD"),
        ("stack", "protocol", "PROTOCOL", "WORD"),
        ("disk-group", "raid", "RAID", "WORD"),
        ("controller", "layout", "LAYOUT", "WORD"),
        ("datastore", "placement", "PLACEMENT", "WORD"),
    ];
    for (list, key, place, form) in places {
        let words = &schema["$defs"][list]["properties"][key]["enum"];
        for word in words.as_array().unwrap() {
            let word = word.as_str().map_or_else(|| word.to_string(), str::to_owned);
            let mut text = rest.replace(place, &form.replace("WORD", &word));
            for (place, default) in defaults {
                text = text.replace(place, default);
            }
            parse_site(&text).unwrap_or_else(|errors| panic!("{errors}"));
        }
    }
}

#[test]
fn the_schema_sees_what_is_wrong() {
    let whole = include_str!("good/everything.yaml");
    for (good, bad, at) in [
        ("hosts:\n", "host:\n", "hosts"),
        ("mtu: 9000", "mtu: 90000", "/hosts/esx/adapters"),
        ("raid: dp", "raid: 7", "/disk-groups/aggregate/raid"),
        ("protocol: nfs", "protocol: smb", "/stacks/nfs/protocol"),
        ("vms-per-host: 20", "vms-per-host: 0", "/hosts/esx/vms-per-host"),
        ("memory: 2GB/s", "memroy: 2GB/s", "/client"),
    ] {
        let text = whole.replacen(good, bad, 1);
        let violations = violations(&schema(), &as_json(&text));
        assert!(violations.iter().any(|v| v.contains(at)), "{bad} {violations:?}");
        assert!(parse_site(&text).is_err(), "{bad}");
    }
}
