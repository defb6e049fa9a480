//! Comparisons of two directories, and a hand that spoils disks and stops runs at a given moment.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_results::{Phase, TrialRecord};
use stormeter_runner::{BlockEnd, Progress, Request, TrialStart};
use stormeter_statistics::{Fact, LawFinding, Severity};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing};

pub(crate) const DISK_BYTES: u64 = 4 << 20;
pub(crate) const BLOCKS: u32 = 5;

/// The directories `a` and `b` below this one.
pub(crate) fn directories(place: &Path) -> [PathBuf; 2] {
    ["a", "b"].map(|name| {
        let path = place.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    })
}

/// A comparison of the two that ends after `BLOCKS` blocks, whatever it finds: reads at a rate that every
/// storage can bear.
pub(crate) fn request(place: &Path, output: &str) -> Request {
    let mut workload = stormeter_study::profile("vm-4k").unwrap().workload;
    workload.read_percent = 100.0;
    workload.arrivals = stormeter_trial::Arrivals::Poisson { rate_per_s: 300.0 };
    let plan = ComparisonPlan {
        datastores: directories(place).map(|path| path.display().to_string()).to_vec(),
        baseline: 0,
        workload,
        vms: 1,
        disk_bytes: DISK_BYTES,
        threads: 0,
        timing: Timing { ramp_ns: 20_000_000, duration_ns: 200_000_000, interval_ns: 20_000_000 },
        // No noise is small enough for this.
        metric: Metric::LatencyMax,
        precision: 1e-6,
        margin: 0.05,
        level: 0.95,
        min_blocks: BLOCKS,
        max_blocks: BLOCKS,
        time_limit_ns: 60_000_000_000,
        equal_load: None,
        seed: 1,
        verify: false,
    };
    Request::new(StudyPlan::from(&plan), place.join(output))
}

/// Carries it out.
pub(crate) fn run(request: &Request, hand: &mut Hand) -> Conclusion {
    let cancel = hand.cancel;
    stormeter_runner::run(request, &RealClock::new(), cancel, hand).unwrap()
}

/// What is done to a run from outside.
pub(crate) struct Hand {
    /// The datastore's directory whose disk is too short during trials of these blocks, each so often.
    pub(crate) spoils: Option<(PathBuf, Vec<(u32, u32)>)>,
    /// The number of blocks after which the run is cancelled.
    pub(crate) stop_after: Option<u32>,
    pub(crate) cancel: &'static AtomicBool,
}

impl Hand {
    pub(crate) fn still() -> Self {
        let cancel = Box::leak(Box::new(AtomicBool::new(false)));
        Self { spoils: None, stop_after: None, cancel }
    }

    pub(crate) fn spoiling(directory: &Path, blocks: &[(u32, u32)]) -> Self {
        Self { spoils: Some((directory.into(), blocks.to_vec())), ..Self::still() }
    }

    pub(crate) fn stopping_after(blocks: u32) -> Self {
        Self { stop_after: Some(blocks), ..Self::still() }
    }

    fn stop(&self, blocks: u32) {
        if self.stop_after == Some(blocks) {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }
}

fn set_disk_length(directory: &Path, bytes: u64) {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    for disk in entries.map(|folder| folder.join("disk-00000")).filter(|disk| disk.exists()) {
        OpenOptions::new().write(true).open(disk).unwrap().set_len(bytes).unwrap();
    }
}

impl Progress for Hand {
    fn trial(&mut self, start: &TrialStart<'_>) {
        let Some((directory, blocks)) = &mut self.spoils else { return };
        let left = blocks.iter_mut().find(|(block, _)| start.block == Some(*block));
        let is_theirs = directory.ends_with(start.datastore)
            || Path::new(start.datastore) == directory.as_path();
        let spoils = match left {
            Some((_, times)) if is_theirs && *times > 0 => {
                *times -= 1;
                true
            }
            _ => false,
        };
        set_disk_length(directory, if spoils { 0 } else { DISK_BYTES });
    }

    fn block_ended(&mut self, end: &BlockEnd) {
        self.stop(end.blocks);
    }
}

/// The trials of blocks.
pub(crate) fn main_trials(trials: &[TrialRecord]) -> Vec<&TrialRecord> {
    trials.iter().filter(|trial| trial.phase == Phase::Main).collect()
}

/// How bad the first of such findings is.
pub(crate) fn found<T>(
    findings: &[(T, LawFinding)],
    is_one: impl Fn(&Fact) -> bool,
) -> Option<Severity> {
    findings.iter().find(|(_, it)| is_one(&it.fact)).map(|(_, it)| it.severity)
}
