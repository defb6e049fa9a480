//! No two blocks of a run are alike, on any of its datastores: a store that deduplicates, shared by two
//! datastores, would hold the second's disks for nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use stormeter_datastore::RealClock;
use stormeter_runner::{Place, Progress, Request, TrialStart, run};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing, profile};
use stormeter_trial::{Sample, TrialFailure};

const BLOCK: usize = 4096;

/// Looks at all disks before and after each trial.
#[derive(Default)]
struct Watch {
    directory: PathBuf,
    /// Where each content was seen: disk and offset.
    seen: HashMap<Vec<u8>, (PathBuf, usize)>,
    disks: usize,
}

impl Watch {
    fn look(&mut self) {
        let disks: Vec<PathBuf> = files(&self.directory);
        self.disks = self.disks.max(disks.len());
        for disk in disks {
            let bytes = std::fs::read(&disk).unwrap();
            for (number, block) in bytes.chunks(BLOCK).enumerate() {
                let place = (disk.clone(), number * BLOCK);
                let first = self.seen.entry(block.to_vec()).or_insert_with(|| place.clone());
                assert_eq!(*first, place, "one content at two places");
            }
        }
    }
}

/// The disks of all datastores beneath.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path));
        } else if name.starts_with("disk-") {
            found.push(path);
        }
    }
    found
}

impl Progress for Watch {
    fn trial(&mut self, _start: &TrialStart<'_>) {
        self.look();
    }

    fn trial_ended(&mut self, _datastore: &str, _outcome: Result<f64, &TrialFailure>) {
        self.look();
    }

    fn study_trial_ended(&mut self, _place: &Place<'_>, _outcome: Result<&Sample, &TrialFailure>) {
        self.look();
    }
}

fn datastores(directory: &Path) -> [String; 2] {
    ["a", "b"].map(|name| {
        let path = directory.join(name);
        std::fs::create_dir(&path).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

#[test]
fn no_two_blocks_of_a_comparison_are_alike() {
    let directory = tempfile::tempdir().unwrap();
    let mut watch = Watch { directory: directory.path().into(), ..Watch::default() };
    let timing = Timing { ramp_ns: 5_000_000, duration_ns: 100_000_000, interval_ns: 10_000_000 };
    let mut workload = profile("vm-4k").unwrap().workload;
    workload.read_percent = 0.0;
    let plan = ComparisonPlan {
        datastores: datastores(directory.path()).to_vec(),
        baseline: 0,
        workload,
        vms: 2,
        disk_bytes: 1 << 20,
        threads: 2,
        timing,
        metric: Metric::Iops,
        precision: 1.0,
        margin: 0.05,
        level: 0.95,
        min_blocks: 2,
        max_blocks: 2,
        time_limit_ns: 60_000_000_000,
        equal_load: None,
        seed: 1,
        verify: false,
    };
    let request = Request::new(StudyPlan::from(&plan), directory.path().join("r.db"));
    run(&request, &RealClock::new(), &AtomicBool::new(false), &mut watch).unwrap();
    assert_eq!(watch.disks, 4);
    assert!(
        watch.seen.len() > 2 * 4 * 256,
        "{} contents: nothing was overwritten",
        watch.seen.len()
    );
}

#[test]
fn no_two_blocks_of_a_study_are_alike() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b] = datastores(directory.path());
    // The first workload reads only, and its content is not what is written.
    let text = format!(
        "datastores: {{a: {a}, b: {b}}}
workloads:
  - {{profile: vm-4k, name: reads, read: 100%, dedupable: 100%}}
  - {{profile: vm-4k, name: writes, read: 0%}}
disk: {{size: 1MiB}}
load: {{vms: [2]}}
measure: {{ramp: 5ms, duration: 100ms, interval: 10ms}}
design: {{blocks: 2}}
"
    );
    let request = request::request(directory.path(), &text);
    let mut watch = Watch { directory: directory.path().into(), ..Watch::default() };
    run(&request, &RealClock::new(), &AtomicBool::new(false), &mut watch).unwrap();
    assert_eq!(watch.disks, 4);
    assert!(
        watch.seen.len() > 2 * 4 * 256,
        "{} contents: nothing was overwritten",
        watch.seen.len()
    );
}
