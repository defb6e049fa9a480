//! Runs one trial on real threads: each opens its own disks, is pinned to a CPU and drives its share of the VMs; all
//! start at the same instant.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stormeter_datastore::{CloseSummary, Datastore, DatastoreError, DiskSet, RealClock};
use stormeter_disk::Disks;
use stormeter_driver::{Expectations, LentExpectations, drive, drive_verified};
use stormeter_study::Timing;
use stormeter_trial::{Limits, Sample, Trial, Workload, WorkloadError};

use crate::error::RunError;
use crate::machine::allowed_cpus;
use crate::progress::Progress;
use crate::trial_end::TrialEnd;
use crate::watcher::Watcher;
use crate::workers::{Job, Starter, Windows, Workers, at_once, check_memory, open_disks};

/// A trial over all its threads.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRun<'a> {
    /// The I/O of each VM.
    pub workload: &'a Workload,
    /// Virtual disks.
    pub vms: u32,
    /// Size of each disk.
    pub disk_bytes: u64,
    /// Driving threads; 0: one per CPU, but at most one per VM.
    pub threads: u32,
    /// Its ramp, window and intervals.
    pub timing: Timing,
    /// The seed of operations.
    pub seed: u64,
    /// The seed of written content.
    pub content_seed: u64,
    /// Where sequential streams start.
    pub start: stormeter_trial::Start,
    /// The storage is disturbed on purpose: errors and stalls are counted and do not end the trial.
    pub disturbed: bool,
}

/// Runs a trial on prepared disks. With `expectations`, every read is compared with what was written.
///
/// # Errors
/// Disks cannot be opened, threads cannot be started, or memory is short. Failures while it runs are in the sample.
pub fn run_trial(
    run: &TrialRun<'_>,
    datastore: &Datastore,
    expectations: Option<&mut Expectations>,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let start = Start { first_cpu: 0, starter: &mut at_once };
    run_trial_from(run, datastore, expectations, (clock, cancel), start, progress)
}

/// Where and when the threads of a trial start.
pub(crate) struct Start<'a> {
    /// See [`Workers::first_cpu`].
    pub(crate) first_cpu: usize,
    /// Decides the time of the start when all threads are ready.
    pub(crate) starter: Starter<'a>,
}

/// As [`run_trial`], with a given start.
pub(crate) fn run_trial_from(
    run: &TrialRun<'_>,
    datastore: &Datastore,
    expectations: Option<&mut Expectations>,
    (clock, cancel): (&RealClock, &AtomicBool),
    start: Start<'_>,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let threads = threads(run.threads, run.vms);
    let trials = split(run, threads, expectations.is_some());
    let mut lent = expectations.map(Expectations::lend);
    check_memory(trials.iter().map(Trial::buffer_needs), 0)?;
    let jobs = trials.iter().map(|trial| {
        let expectations = lent.take().map(|all| {
            let (own, others) = all.split(trial.disks);
            lent = Some(others);
            own
        });
        Timed { trial, datastore, expectations }
    });
    let interval_ns = run.timing.interval_ns;
    let Start { first_cpu, starter } = start;
    let windows = Windows::Together;
    let workers = Workers { datastore, clock, cancel, windows, interval_ns, first_cpu };
    workers.carry_out(jobs.collect(), starter, progress)
}

/// The number of threads that drive `vms` VMs: `wanted`, or one per CPU if that is 0.
pub(crate) fn threads(wanted: u32, vms: u32) -> u32 {
    let threads = match wanted {
        0 => allowed_cpus().len() as u32,
        threads => threads,
    };
    threads.min(vms).max(1)
}

/// The VMs in equal, contiguous shares: for each thread, the first VM and their number.
pub(crate) fn shares(vms: u32, threads: u32) -> impl Iterator<Item = (u32, u32)> {
    let first = move |index| (u64::from(vms) * u64::from(index) / u64::from(threads)) as u32;
    (0..threads).map(move |index| (first(index), first(index + 1) - first(index)))
}

fn split(run: &TrialRun<'_>, threads: u32, verify: bool) -> Vec<Trial> {
    let trial = |(first_disk, disks)| Trial {
        workload: run.workload.clone(),
        first_disk,
        disks,
        disk_bytes: run.disk_bytes,
        seed: run.seed,
        start: run.start,
        content_seed: run.content_seed,
        ramp_ns: run.timing.ramp_ns,
        duration_ns: run.timing.duration_ns,
        interval_ns: run.timing.interval_ns,
        limits: limits(run, threads, verify),
        verify,
    };
    shares(run.vms, threads).map(trial).collect()
}

/// How long a thread is awake before a request falls due: the timer's slack of 50 µs (timer_slack_ns in prctl(2)) plus
/// the time to wake up in a virtual machine.
const AWAKE_NS: u64 = 150_000;

/// In an open loop we choose the number of buffers: as many as fit into half a gibibyte.
fn limits(run: &TrialRun<'_>, threads: u32, verify: bool) -> Limits {
    const OPEN_LOOP_BYTES: u32 = 512 << 20;
    let workload = run.workload;
    let mut room = (OPEN_LOOP_BYTES / (2 * workload.largest_bytes().max(4096))).clamp(16, 1024);
    if verify {
        // At most as many as cannot overlap, even if all of them are on one disk.
        room = room.min(workload.most_outstanding_verified(run.disk_bytes));
    }
    // A CPU is free if there are fewer threads than CPUs; other programs can use it.
    let is_free = allowed_cpus().len() as u32 > threads;
    let awake_ns = if workload.arrivals.rate_per_s().is_some() && is_free { AWAKE_NS } else { 0 };
    let limits = Limits { open_loop_outstanding: room, awake_ns, ..Limits::default() };
    if !run.disturbed {
        return limits;
    }
    let length_ns = run.timing.ramp_ns.saturating_add(run.timing.duration_ns);
    Limits { stall_ns: limits.stall_ns.max(length_ns), max_io_failures: u64::MAX, ..limits }
}

/// One thread's share of a timed trial.
struct Timed<'a> {
    trial: &'a Trial,
    datastore: &'a Datastore,
    expectations: Option<LentExpectations<'a>>,
}

impl Job for Timed<'_> {
    type Tools = DiskSet;

    fn open(&mut self) -> Result<DiskSet, DatastoreError> {
        let open = open_disks(self.trial.buffer_needs());
        let range = self.trial.first_disk..self.trial.first_disk + self.trial.disks;
        self.datastore.disks(range, open)
    }

    fn work(
        self,
        disks: &mut DiskSet,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Option<Sample> {
        let Timed { trial, expectations, .. } = self;
        // The loop is compiled for each kind of disks, so that the calls between them are inlined.
        // The plan was checked before any thread was started.
        match disks {
            DiskSet::Null(disks) => drive_with(trial, start, disks, clock, watcher, expectations),
            DiskSet::Files(disks) => drive_with(trial, start, disks, clock, watcher, expectations),
            DiskSet::Nfs(disks) => drive_with(trial, start, disks, clock, watcher, expectations),
            DiskSet::Iscsi(disks) => drive_with(trial, start, disks, clock, watcher, expectations),
            DiskSet::Rbd(disks) => {
                drive_with(trial, start, &mut **disks, clock, watcher, expectations)
            }
        }
        .ok()
    }

    fn leave(mut disks: DiskSet, give_up: &dyn Fn() -> bool) -> CloseSummary {
        disks.finish(give_up)
    }
}

fn drive_with<D: Disks>(
    trial: &Trial,
    start: impl FnOnce() -> Option<u64>,
    disks: &mut D,
    clock: &mut RealClock,
    watcher: &mut Watcher<'_>,
    expectations: Option<LentExpectations<'_>>,
) -> Result<Sample, WorkloadError> {
    match expectations {
        None => drive(trial, start, disks, clock, watcher),
        Some(expectations) => drive_verified(trial, start, disks, clock, watcher, expectations),
    }
}

/// The duration of a trial, with some time for opening and draining.
pub(crate) fn trial_length(timing: Timing) -> Duration {
    Duration::from_nanos(timing.ramp_ns + timing.duration_ns + 20_000_000)
}
