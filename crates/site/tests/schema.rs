//! The committed JSON Schema checked against what is really read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use stormeter_site::{key_lists, parse_site, site_schema};
use stormeter_testkit::{as_json, assert_same_keys, examples, violations};

fn schema() -> Value {
    serde_json::from_str(site_schema()).unwrap()
}

/// Sites of the tests and of the document that explains them.
fn good_sites() -> Vec<(String, String)> {
    let files = examples(env!("CARGO_MANIFEST_DIR"), "tests/good", "../../docs/site-file.md");
    assert!(files.len() >= 3, "{}", files.len());
    files
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
    assert_same_keys(&schema(), "site", key_lists());
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
