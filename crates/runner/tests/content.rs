//! No two blocks of a run are alike, on any of its datastores: a store that deduplicates, shared by two
//! datastores, would hold the second's disks for nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use stormeter_datastore::RealClock;
use stormeter_runner::{Place, Progress, Request, TrialStart, run};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing, profile};
use stormeter_trial::{Sample, TrialFailure};

const BLOCK: usize = 4096;

/// More contents than the four disks are filled with, and than overwriting all of their blocks once would yield.
const ENOUGH: usize = 2 * 4 * 256;

/// Looks at all disks before and after each trial, and stops the run when it has seen enough. How many blocks a trial
/// of a given length overwrites depends on the machine, so the run continues until they are enough.
struct Watch<'a> {
    directory: PathBuf,
    cancel: &'a AtomicBool,
    /// The fewest trials of blocks, and how many there were.
    least_trials: u32,
    trials: u32,
    /// Whether the present trial is one of a block.
    is_of_block: bool,
    /// Where each content was seen: disk and offset.
    seen: HashMap<Vec<u8>, (PathBuf, usize)>,
    disks: usize,
}

impl<'a> Watch<'a> {
    fn new(directory: &Path, cancel: &'a AtomicBool, least_trials: u32) -> Self {
        let directory = directory.into();
        Self {
            directory,
            cancel,
            least_trials,
            trials: 0,
            is_of_block: false,
            seen: HashMap::new(),
            disks: 0,
        }
    }

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

impl Progress for Watch<'_> {
    fn trial(&mut self, start: &TrialStart<'_>) {
        self.is_of_block = start.block.is_some();
        self.look();
    }

    fn trial_ended(&mut self, _place: Option<&Place<'_>>, outcome: Result<&Sample, &TrialFailure>) {
        self.look();
        self.trials += u32::from(self.is_of_block && outcome.is_ok());
        if self.trials >= self.least_trials && self.seen.len() > ENOUGH {
            self.cancel.store(true, Ordering::Relaxed);
        }
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
    let cancel = AtomicBool::new(false);
    let mut watch = Watch::new(directory.path(), &cancel, 4);
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
        precision: 0.001,
        margin: 0.05,
        level: 0.95,
        min_blocks: 2,
        max_blocks: 10_000,
        time_limit_ns: 600_000_000_000,
        equal_load: None,
        seed: 1,
        verify: false,
    };
    let request = Request::new(StudyPlan::from(&plan), directory.path().join("r.db"));
    run(&request, &RealClock::new(), &cancel, &mut watch).unwrap();
    assert_eq!(watch.disks, 4);
    assert!(watch.trials >= watch.least_trials, "{} trials", watch.trials);
    assert!(watch.seen.len() > ENOUGH, "{} contents: nothing was overwritten", watch.seen.len());
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
design: {{blocks: 10000}}
"
    );
    let request = request::request(directory.path(), &text);
    let cancel = AtomicBool::new(false);
    let mut watch = Watch::new(directory.path(), &cancel, 8);
    run(&request, &RealClock::new(), &cancel, &mut watch).unwrap();
    assert_eq!(watch.disks, 4);
    assert!(watch.trials >= watch.least_trials, "{} trials", watch.trials);
    assert!(watch.seen.len() > ENOUGH, "{} contents: nothing was overwritten", watch.seen.len());
}
