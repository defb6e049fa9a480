//! Trials of desktops on demand without a hypervisor: disks of a datastore stand for the desktops.
//!
//! One thread drives all of them, because there is one broker.

use std::sync::atomic::AtomicBool;

use stormeter_datastore::{Caching, CloseSummary, Datastore, DatastoreError, DiskSet, RealClock};
use stormeter_disk::Disks;
use stormeter_driver::{DiskDesktops, drive_desktops};
use stormeter_study::Timing;
use stormeter_trial::{DesktopCopy, DesktopLoad, DesktopTrial, Limits, Sample};

use crate::error::RunError;
use crate::progress::Progress;
use crate::threads::Start;
use crate::trial_end::TrialEnd;
use crate::watcher::Watcher;
use crate::workers::{Job, Windows, Workers, check_memory, open_disks};

/// What is in flight when the window closes has this long to end.
const SETTLE_NS: u64 = 30_000_000_000;

/// A trial of desktops.
#[derive(Debug, Clone, PartialEq)]
pub struct DesktopRun<'a> {
    /// The users and their broker.
    pub load: &'a DesktopLoad,
    /// Desktops for which there are disks.
    pub desktops: u32,
    /// Size of each disk, and of the template.
    pub disk_bytes: u64,
    /// Its ramp, window and intervals.
    pub timing: Timing,
    /// The seed of arrivals and sessions.
    pub seed: u64,
    /// The seed of written contents.
    pub content_seed: u64,
    /// The storage is disturbed on purpose: failures and silence are counted and do not end the trial.
    pub disturbed: bool,
}

impl DesktopRun<'_> {
    /// The trial.
    pub fn trial(&self) -> DesktopTrial {
        let Timing { ramp_ns, duration_ns, interval_ns } = self.timing;
        let mut limits = Limits::default();
        if self.disturbed {
            limits.stall_ns = limits.stall_ns.max(ramp_ns.saturating_add(duration_ns));
            limits.max_io_failures = u64::MAX;
        }
        let mut load = self.load.clone();
        if load.broker.desktop.storage_bytes == 0 {
            load.broker.desktop.storage_bytes = self.disk_bytes;
        }
        DesktopTrial {
            load,
            desktops: self.desktops,
            seed: self.seed,
            ramp_ns,
            duration_ns,
            interval_ns,
            limits,
        }
    }
}

/// Runs a trial of desktops on the disks of a datastore: one for each desktop, and the template after them.
pub(crate) fn run_desktops(
    run: &DesktopRun<'_>,
    datastore: &Datastore,
    (clock, cancel): (&RealClock, &AtomicBool),
    start: Start<'_>,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let copy = run.load.deployment.copy;
    if copy != DesktopCopy::Full {
        return Err(RunError::Order(format!(
            "disks without machines are made by a full copy, and not {} ones",
            copy.name()
        )));
    }
    let trial = run.trial();
    check_memory(std::iter::once(trial.buffer_needs()), 0)?;
    let (disk_bytes, content_seed) = (run.disk_bytes, run.content_seed);
    let job = OnDisks { trial, disk_bytes, content_seed, datastore };
    let Start { first_cpu, starter } = start;
    let (windows, interval_ns) = (Windows::Together, run.timing.interval_ns);
    let workers = Workers { datastore, clock, cancel, windows, interval_ns, first_cpu };
    workers.carry_out(vec![job], starter, progress)
}

struct OnDisks<'a> {
    trial: DesktopTrial,
    disk_bytes: u64,
    content_seed: u64,
    datastore: &'a Datastore,
}

impl Job for OnDisks<'_> {
    type Tools = DiskSet;

    fn open(&mut self) -> Result<DiskSet, DatastoreError> {
        let open = open_disks(self.trial.buffer_needs());
        let numbers: Vec<u32> = (0..=self.trial.desktops).collect();
        self.datastore.disks_of(&numbers, open, Caching::AsOpened)
    }

    fn work(
        self,
        disks: &mut DiskSet,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Option<Sample> {
        Some(match disks {
            DiskSet::Null(disks) => self.drive(start, disks, clock, watcher),
            DiskSet::Files(disks) => self.drive(start, disks, clock, watcher),
            DiskSet::Nfs(disks) => self.drive(start, disks, clock, watcher),
            DiskSet::Iscsi(disks) => self.drive(start, disks, clock, watcher),
            DiskSet::Rbd(disks) => self.drive(start, &mut **disks, clock, watcher),
        })
    }

    fn leave(mut disks: DiskSet, give_up: &dyn Fn() -> bool) -> CloseSummary {
        disks.finish(give_up)
    }
}

impl OnDisks<'_> {
    fn drive<D: Disks>(
        &self,
        start: impl FnOnce() -> Option<u64>,
        disks: &mut D,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Sample {
        let (bytes, seed) = (self.disk_bytes, self.content_seed);
        let mut desktops = DiskDesktops::new(&self.trial, bytes, seed, disks, clock.clone());
        let sample = drive_desktops(&self.trial, start, &mut desktops, clock, watcher);
        // What fails now failed in the trial, too, or is reported when the disks are closed.
        let _ = desktops.settle(SETTLE_NS);
        sample
    }
}
