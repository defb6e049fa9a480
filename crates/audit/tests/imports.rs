//! Sound results of other tools raise no alarm, and damaged ones do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use stormeter_audit::{Finding, Law, Level, audit_runs, sentence};
use stormeter_import::{FioLogKind, Imported};

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn imported(path: &Path, text: &str) -> Imported {
    let kind = FioLogKind::of_file_name(path.file_name().unwrap().to_str().unwrap());
    let log = kind.and_then(|kind| stormeter_import::read_fio_log(text, kind));
    let read = log.or_else(|| stormeter_import::read(text));
    read.unwrap_or_else(|| panic!("{}: no format", path.display()))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn audited(path: &Path, text: &str) -> Vec<Finding> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    audit_runs(&[(name, imported(path, text))])
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/files")
}

#[test]
fn nothing_is_broken_in_what_tools_write() {
    let mut paths = Vec::new();
    files(&samples(), &mut paths);
    assert!(paths.len() > 20, "{}", paths.len());
    let mut broken = Vec::new();
    for path in paths {
        // A run that failed at its start has no figures.
        if path.ends_with("iperf3/error.json") {
            continue;
        }
        let found = audited(&path, &std::fs::read_to_string(&path).unwrap());
        for found in found.iter().filter(|finding| finding.level == Level::Broken) {
            broken.push(format!("{}: {}", found.place, sentence(found)));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn figures_that_were_changed_in_a_file_are_found() {
    let path = samples().join("fio/jobs.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let sound: Vec<Law> = audited(&path, &text).iter().map(|found| found.law).collect();
    let changed = |key: &str, factor: f64| -> Vec<Law> {
        let start = text.find(&format!("\"{key}\" : ")).unwrap() + key.len() + 5;
        let end = start + text[start..].find([',', '\n']).unwrap();
        let value: f64 = text[start..end].parse().unwrap();
        let other = format!("{}{:.6}{}", &text[..start], value * factor, &text[end..]);
        audited(&path, &other)
            .iter()
            .map(|found| found.law)
            .filter(|law| !sound.contains(law))
            .collect()
    };
    let found = changed("iops", 4.0);
    assert!(found.contains(&Law::Throughput), "{found:?}");
}
