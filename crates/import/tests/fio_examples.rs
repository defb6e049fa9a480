//! The example jobs that fio ships: each becomes a study that is read, or is refused with every key that it would
//! lose.
//!
//! They are fio's own files under its licence and are not part of this repository: Debian's package `fio-examples` has
//! them. `STORMETER_FIO_EXAMPLES` names a directory with them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stormeter_import::{
    FioJobError, Surroundings, fio_key_is_refused, known_fio_keys, study_of_fio_job,
};

/// Examples that become studies.
const TRANSLATED: &[&str] = &[
    "cpp_null.fio",
    "dedupe-global.fio",
    "fio-rand-RW.fio",
    "fio-rand-read.fio",
    "fio-rand-write.fio",
    "fio-seq-RW.fio",
    "fio-seq-read.fio",
    "fio-seq-write.fio",
    "fixed-rate-submission.fio",
    "iometer-file-access-server.fio",
    "nfs.fio",
    "null.fio",
    "poisson-rate-submission.fio",
    "ssd-steadystate.fio",
    "ssd-test.fio",
    "steadystate.fio",
    "tiobench-example.fio",
    "waitfor.fio",
    "xnvme-compare.fio",
    "zipf.fio",
];

/// Examples that do I/O on files, devices or storage that a study file has, and are refused: a key each that says why.
/// All others are of engines that no study file has.
const REFUSED: &[(&str, &str)] = &[
    ("aio-read.fio", "iodepth"),
    ("backwards-read.fio", "rw"),
    ("basic-verify.fio", "verify"),
    ("butterfly.fio", "flow"),
    ("cmdprio-bssplit.fio", "cmdprio_bssplit"),
    ("cmdprio-percentage.fio", "cmdprio_percentage"),
    ("cross-stripe-verify.fio", "verify_backlog"),
    ("disk-zone-profile.fio", "zonemode"),
    ("enospc-pressure.fio", "rw"),
    ("exitwhat.fio", "thinktime"),
    ("falloc.fio", "ioengine"),
    ("flow.fio", "flow"),
    ("fsx.fio", "size"),
    ("jesd219.fio", "random_distribution"),
    ("latency-profile.fio", "latency_target"),
    ("libiscsi.fio", "size"),
    ("numa.fio", "numa_cpu_nodes"),
    ("rand-zones.fio", "random_distribution"),
    ("rbd.fio", "size"),
    ("surface-scan.fio", "verify_pattern"),
    ("xnvme-zoned.fio", "zonemode"),
    ("zbd-rand-write.fio", "zonemode"),
    ("zbd-seq-read.fio", "zonemode"),
];

/// The directory with the examples; `None`: there is none, and the test says so.
fn directory() -> Option<PathBuf> {
    let named = std::env::var_os("STORMETER_FIO_EXAMPLES").map(PathBuf::from);
    let found = named.unwrap_or_else(|| "/usr/share/doc/fio/examples".into());
    if found.is_dir() {
        return Some(found);
    }
    let why = format!(
        "{} has no jobs of fio; install fio-examples, or name their directory in STORMETER_FIO_EXAMPLES",
        found.display()
    );
    assert!(std::env::var_os("CI").is_none_or(|ci| ci.is_empty()), "{why}");
    use std::io::Write;
    // Not println: the harness would keep it for itself.
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
    None
}

/// Names and texts, in the order of the names.
fn examples(directory: &Path) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "fio"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    examples.sort();
    examples
}

/// The keys of a job file with their lines, by a second and simpler reader.
fn keys(text: &str) -> Vec<(usize, String)> {
    let mut keys = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split(['#', ';']).next().unwrap().trim();
        if !line.is_empty() && !line.starts_with('[') {
            keys.push((index + 1, line.split('=').next().unwrap().trim().to_owned()));
        }
    }
    keys
}

/// Devices exist and have a terabyte.
fn size(path: &str) -> Option<u64> {
    path.starts_with("/dev/").then_some(1 << 40)
}

/// What the examples for xnvme take from the environment.
fn variable(name: &str) -> Option<String> {
    let values = [("FIO_RW", "randread"), ("FIO_IODEPTH", "1"), ("FIO_BS", "4k")];
    values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
}

#[test]
fn every_example_is_a_study_or_refused_by_name() {
    let Some(directory) = directory() else { return };
    let around = Surroundings { size: &size, variable: &variable, ..Surroundings::NONE };
    let examples = examples(&directory);
    assert!(!examples.is_empty(), "{} has no *.fio", directory.display());
    let known: BTreeSet<&str> = known_fio_keys().collect();
    let mut translated = Vec::new();
    for (name, text) in &examples {
        for (line, key) in keys(text) {
            assert!(known.contains(key.as_str()), "{name}, line {line}: {key} is in no table");
        }
        match study_of_fio_job(text, &around) {
            Ok(job) => {
                let plan = stormeter_study::parse_study(&job.study)
                    .unwrap_or_else(|errors| panic!("{name}: {errors}\n{}", job.study));
                assert!(!plan.workloads.is_empty());
                translated.push(name.as_str());
                for (line, key) in keys(text) {
                    assert!(!fio_key_is_refused(&key), "{name}, line {line}: {key} is lost");
                }
            }
            Err(FioJobError::Refused(refusals)) => {
                assert!(!refusals.is_empty());
                let lines: Vec<&str> = text.lines().collect();
                let expected = REFUSED.iter().find(|(other, _)| other == name);
                if let Some((_, key)) = expected {
                    assert!(refusals.iter().any(|one| one.key == *key), "{name}: {refusals:?}");
                }
                let refused: BTreeSet<(usize, String)> =
                    refusals.iter().map(|one| (one.place.line, one.key.clone())).collect();
                for refusal in &refusals {
                    // Its own line, or of a key that is missing the line of its section.
                    let line = lines[refusal.place.line - 1].trim();
                    let is_there = line.starts_with(&refusal.key) || line.starts_with('[');
                    assert!(is_there, "{name}: {refusal}: {line}");
                    assert!(!refusal.reason.is_empty() && !refusal.advice.is_empty());
                }
                for (line, key) in keys(text).into_iter().filter(|(_, key)| fio_key_is_refused(key))
                {
                    assert!(refused.contains(&(line, key.clone())), "{name}, line {line}: {key}");
                }
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
    // Another version of fio may have other examples; those of the tables have to be there as they say.
    let has = |name: &str| examples.iter().any(|(other, _)| other == name);
    for name in TRANSLATED.iter().filter(|name| has(name)) {
        assert!(translated.contains(name), "{name} is refused");
    }
    for (name, _) in REFUSED {
        assert!(!translated.contains(name), "{name} is a study now: move it to the other table");
    }
    println!("{} of {} examples of fio are studies", translated.len(), examples.len());
}
