//! The committed JSON Schema, and the document, checked against what is really read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use stormeter_lab::{key_lists, lab_schema, parse_lab};
use stormeter_testkit::{as_json, assert_same_keys, examples, violations};

fn schema() -> Value {
    serde_json::from_str(lab_schema()).unwrap()
}

#[test]
fn every_example_is_read_and_follows_the_schema() {
    let mut files = examples(env!("CARGO_MANIFEST_DIR"), "tests/good", "../../docs/lab.md");
    files.extend(examples(env!("CARGO_MANIFEST_DIR"), "../../examples/lab", "../../docs/lab.md"));
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    for entry in studies.read_dir().unwrap() {
        let Ok(folder) = entry.unwrap().path().read_dir() else { continue };
        let paths = folder.map(|entry| entry.unwrap().path());
        for rack in paths.filter(|path| path.to_string_lossy().ends_with("lab.yaml")) {
            files.push((rack.display().to_string(), fs::read_to_string(&rack).unwrap()));
        }
    }
    assert!(files.len() >= 12, "{}", files.len());
    for (name, text) in files {
        if let Err(errors) = parse_lab(&text) {
            panic!("{}", errors.in_file(name));
        }
        let violations = violations(&schema(), &as_json(&text));
        assert!(violations.is_empty(), "{name}: {violations:#?}");
    }
}

#[test]
fn the_schema_has_the_keys_that_are_read_and_no_others() {
    assert_same_keys(&schema(), "lab", key_lists());
}

#[test]
fn the_document_explains_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("../../docs/lab.md")).unwrap();
    for (list, keys) in key_lists() {
        for key in keys {
            assert!(document.contains(&format!("`{key}`")), "{key} of {list}");
        }
    }
}

#[test]
fn the_schema_sees_what_is_wrong() {
    let whole = include_str!("good/everything.yaml");
    for (good, bad, at) in [
        ("vms:\n", "vm:\n", "vm"),
        ("raid: 10", "raid: 7", "/storage/nas/disks/set/raid"),
        ("controller: lsi", "controller: buslogic", "/vms/block/disk/controller"),
        ("count: 4", "count: 0", "/storage/nas/disks/set/count"),
        ("protocol: fc", "protocol: fcoe", "/storage/san/luns/fabric"),
        ("version: 4.2", "version: 4.1", "/hosts/esx1/mounts/files4/version"),
        ("paths: 2", "paths: 5", "/hosts/esx1/mounts/fabric/paths"),
        ("network: user", "network: lan", "/vms/none/network"),
        ("mode: active-backup", "mode: lacp", "/networks/slow/aggregation/mode"),
    ] {
        let text = whole.replacen(good, bad, 1);
        let violations = violations(&schema(), &as_json(&text));
        assert!(violations.iter().any(|v| v.contains(at)), "{bad} {violations:?}");
        assert!(parse_lab(&text).is_err(), "{bad}");
    }
}
