//! A datastore with prepared disks, a trial of fixed work on it, and the laws that what comes of it must obey.
//!
//! A trial of fixed work that does not end by itself is ended, and the test fails.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use stormeter_datastore::{Datastore, DatastoreUrl, DiskSpec, OpenOptions, Preparation, RealClock};
use stormeter_driver::ContentSource;
use stormeter_runner::{FixedWorkRun, Progress, RunError, TrialEnd, run_fixed_work};
use stormeter_server::{DirectoryServer, Running};
use stormeter_statistics::Severity;
use stormeter_statistics::laws::{TrialFacts, check_trial};
use stormeter_study::{WorkloadKind, profile};
use stormeter_trial::{Content, Interval, Limits, Sample, SizeShare, Workload};
use tempfile::TempDir;

pub(crate) const RUN: &str = "00000000000000c4";
pub(crate) const SEED: u64 = 23;
/// No fixed work here takes nearly as long.
const BOUND: Duration = Duration::from_secs(100);

/// Where the disks are.
pub(crate) struct Place {
    pub(crate) store: Datastore,
    directory: TempDir,
    pub(crate) server: Option<Running>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    Nfs,
}

pub(crate) const KINDS: [Kind; 2] = [Kind::Directory, Kind::Nfs];

impl Place {
    /// A datastore on which the fixed work's disks are prepared.
    pub(crate) fn prepared(kind: Kind, run: &FixedWorkRun<'_>) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut server = None;
        let url = match kind {
            Kind::Directory => directory.path().display().to_string(),
            Kind::Nfs => {
                let bound = DirectoryServer::bind(directory.path(), 0).unwrap();
                let port = bound.port();
                server = Some(bound.spawn().unwrap());
                format!("nfs://127.0.0.1:{port}/export?mountport={port}&timeout=1s")
            }
        };
        let url = DatastoreUrl::parse(&url).unwrap();
        let options = OpenOptions { run_id: RUN.into(), ..OpenOptions::default() };
        let mut store = Datastore::open(&url, options).unwrap();
        let content = ContentSource::new(Content::default(), SEED);
        store
            .prepare(Preparation {
                disks: DiskSpec {
                    count: run.disks().max(1),
                    size_bytes: run.disk_bytes,
                    granularity_bytes: run.granularity_bytes(),
                },
                content_id: 1,
                fill: &|disk, offset, bytes| content.fill(disk, offset, bytes),
                progress: &mut |_, _| {},
                cancelled: &|| false,
            })
            .unwrap();
        Self { store, directory, server }
    }

    /// What stands on a disk.
    pub(crate) fn disk(&self, disk: u32) -> Vec<u8> {
        fs::read(self.file(disk)).unwrap()
    }

    pub(crate) fn file(&self, disk: u32) -> PathBuf {
        self.directory.path().join(format!(".stormeter-{RUN}-0/disk-{disk:05}"))
    }

    pub(crate) fn run(&self, run: &FixedWorkRun<'_>) -> Result<TrialEnd, RunError> {
        self.run_with(run, |_| {}).0
    }

    /// Runs the fixed work; `act` is called for each interval and may cancel. Also returns the number of intervals.
    #[track_caller]
    pub(crate) fn run_with(
        &self,
        run: &FixedWorkRun<'_>,
        act: impl FnMut(&AtomicBool),
    ) -> (Result<TrialEnd, RunError>, u32) {
        let cancel = AtomicBool::new(false);
        let late = AtomicBool::new(false);
        let mut watch = Watch { cancel: &cancel, act, rows: 0 };
        let end = thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let (cancel, late) = (&cancel, &late);
            scope.spawn(move || {
                if end.recv_timeout(BOUND) == Err(RecvTimeoutError::Timeout) {
                    late.store(true, Ordering::Relaxed);
                    cancel.store(true, Ordering::Relaxed);
                }
            });
            let end = run_fixed_work(run, &self.store, &RealClock::new(), cancel, &mut watch);
            drop(ended);
            end
        });
        assert!(!late.into_inner(), "the fixed work did not end by itself");
        (end, watch.rows)
    }
}

struct Watch<'a, F> {
    cancel: &'a AtomicBool,
    act: F,
    rows: u32,
}

impl<F: FnMut(&AtomicBool)> Progress for Watch<'_, F> {
    fn interval(&mut self, _row: &Interval) {
        self.rows += 1;
        (self.act)(self.cancel);
    }
}

/// A trial of fixed work of `vms` VMs on disks of this size.
pub(crate) fn fixed_work(kind: &WorkloadKind, vms: u32, disk_bytes: u64) -> FixedWorkRun<'_> {
    FixedWorkRun {
        kind,
        vms,
        disk_bytes,
        outstanding: None,
        threads: 2,
        interval_ns: 20_000_000,
        seed: SEED,
        start: Default::default(),
        content_seed: 0,
        limits: Limits::default(),
    }
}

/// The laws of a trial, where each operation moves `bytes`.
#[track_caller]
pub(crate) fn assert_laws(sample: &Sample, bytes: u64) {
    let workload = Workload {
        sizes: vec![SizeShare { bytes: u32::try_from(bytes).unwrap(), share: 1.0 }],
        ..profile("vm-4k").unwrap().workload
    };
    let facts =
        TrialFacts { workload: &workload, sample, is_null: false, ceiling_iops: None, cpu: None };
    let mut found = check_trial(&facts);
    // Where no number of outstanding I/Os is promised, law 2 is bent by a machine that does not run the
    // generator for a moment: the machine's affair, and no contradiction in the figures.
    found.retain(|finding| (finding.fact.law(), finding.severity) != (Some(2), Severity::Warning));
    assert_eq!(found, [], "{sample:?}");
    let rows = sample.intervals.iter().map(|row| row.reads.bytes + row.writes.bytes);
    assert_eq!(rows.sum::<u64>(), sample.bytes());
}

/// What only a finished trial has.
#[track_caller]
pub(crate) fn assert_complete(end: &TrialEnd, vms: u32) {
    assert_eq!(end.failure(), None);
    let numbers: Vec<u32> = end.sample.disks.iter().map(|disk| disk.disk).collect();
    assert!(numbers.iter().copied().eq(0..vms), "{numbers:?}");
    // Process and host were read once, when the last one had ended.
    assert!(end.cpu.host.cpus > 0 && end.cpu.process_ns > 0, "{:?}", end.cpu);
    let threads_ns = end.cpu.threads_user_ns + end.cpu.threads_system_ns;
    assert!(threads_ns <= end.cpu.process_ns, "{:?}", end.cpu);
}
