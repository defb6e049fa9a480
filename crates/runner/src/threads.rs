//! One trial on real threads: each opens its own disks, is pinned to a CPU and drives its share
//! of the VMs; all begin at the same instant.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use stormeter_datastore::{Datastore, DatastoreError, DiskSet, Farewell, OpenDisks, RealClock};
use stormeter_disk::units::format_bytes;
use stormeter_disk::{Clock, Disks};
use stormeter_driver::{
    CpuUsage, Ended, Expectations, Interval, LentExpectations, Limits, Observer, Sample, Trial,
    Workload, WorkloadError, drive, drive_verified,
};
use stormeter_results::{Incident, MonitorRow};
use stormeter_study::Timing;

use crate::error::RunError;
use crate::incidents::gather;
use crate::machine::{allowed_cpus, memory_bytes, pin_to};
use crate::monitor::Monitor;
use crate::progress::Progress;
use crate::target::{Opened, Target, TargetUnknown};
use crate::usage::Reading;

/// A trial over all its threads.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRun<'a> {
    /// The I/O of each VM.
    pub workload: &'a Workload,
    /// Virtual disks.
    pub vms: u32,
    /// Size of each.
    pub disk_bytes: u64,
    /// Driving threads; 0: one a CPU, but no more than there are VMs.
    pub threads: u32,
    /// How it passes in time.
    pub timing: Timing,
    /// Operations and contents follow from it.
    pub seed: u64,
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialEnd {
    /// What was measured, all threads together.
    pub sample: Sample,
    /// What it cost.
    pub cpu: CpuUsage,
    /// How far the driver's clock and the system's disagree about the length of the trial, as a
    /// share of it.
    pub clock_deviation: f64,
    /// What is worth knowing about how it ran.
    pub notes: Vec<String>,
    /// What happened on the way and was mended.
    pub incidents: Vec<Incident>,
    /// What the host did meanwhile, from just before the ramp.
    pub monitor: Vec<MonitorRow>,
}

/// The target of a trial, found when its disks are open: only then do the server's processes for
/// them exist. It is looked for anew each trial, because servers are restarted.
type FoundTarget = OnceLock<Result<Target, TargetUnknown>>;

/// The threads are given this long between "all are ready" and the common start.
const START_DELAY_NS: u64 = 2_000_000;

/// Runs a trial on prepared disks. With `expectations` of them, every read is held against what was
/// written.
///
/// # Errors
/// Disks that cannot be opened, threads that cannot be started, too little memory. What goes wrong
/// while it runs is in the sample.
pub fn run_trial(
    run: &TrialRun<'_>,
    datastore: &Datastore,
    expectations: Option<&mut Expectations>,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let cpus = allowed_cpus();
    let threads = match run.threads {
        0 => (cpus.len() as u32).min(run.vms),
        threads => threads.min(run.vms),
    }
    .max(1);
    let trials = split(run, threads, expectations.is_some());
    let mut lent = expectations.map(Expectations::lend);
    check_memory(&trials)?;
    let failed =
        |source| RunError::Datastore { url: datastore.description().url.to_string(), source };
    let mut clock_here = clock.clone();
    let (wall, begin_ns) = both_clocks(&mut clock_here);
    let (ready_in, ready) = mpsc::channel::<Result<(), DatastoreError>>();
    let (rows_in, rows) = mpsc::channel::<(usize, Interval)>();
    let target = FoundTarget::new();
    let (ends, monitor) = thread::scope(|scope| {
        let mut handles = Vec::new();
        let mut starters: Vec<Sender<u64>> = Vec::new();
        for (index, trial) in trials.iter().enumerate() {
            let (start_in, start) = mpsc::channel();
            let own = lent.take().map(|all| {
                let (own, others) = all.split(trial.disks);
                lent = Some(others);
                own
            });
            let worker = Worker {
                trial,
                datastore,
                expectations: own,
                clock: clock.clone(),
                cancel,
                cpu: cpus[index % cpus.len()],
                index,
                target: &target,
                ready: ready_in.clone(),
                rows: rows_in.clone(),
                start,
            };
            let handle = thread::Builder::new()
                .name(format!("driver-{index}"))
                .spawn_scoped(scope, move || worker.run())
                .map_err(|error| RunError::Thread(error.to_string()))?;
            handles.push(handle);
            starters.push(start_in);
        }
        // So that the end of the last thread, whatever its reason, ends the waits below.
        drop((rows_in, ready_in));
        // Each thread says once whether its disks are open; on an error the starters are dropped,
        // which sends the others home.
        for _ in 0..threads {
            ready.recv().map_err(|_| RunError::Thread("it ended early".into()))?.map_err(failed)?;
        }
        let _ = target.set(Target::at(&datastore.peers()));
        let monitor = Monitor::start(Duration::from_nanos(run.timing.interval_ns));
        let start_ns = clock_here.now_ns() + START_DELAY_NS;
        for starter in starters {
            // A thread that is gone is seen when it is joined.
            let _ = starter.send(start_ns);
        }
        // Ends when the last thread has dropped its sender.
        let mut latest = vec![None; trials.len()];
        while let Ok((thread, row)) = rows.recv() {
            latest[thread] = Some(row);
            // Told when the first thread reports; the others' rows are of the same time or the one
            // before.
            if thread == 0 {
                progress.interval(&sum(latest.iter().flatten()));
            }
        }
        let mut ends = Vec::new();
        for handle in handles {
            match handle.join() {
                Ok(Some(end)) => ends.push(end),
                Ok(None) => return Err(RunError::Thread("it was not started".into())),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let note = monitor.note().map(str::to_owned);
        Ok((ends, (monitor.stop(), note)))
    })?;
    let (wall_end, end_ns) = both_clocks(&mut clock_here);
    let clock_ns = (end_ns - begin_ns) as f64;
    let wall_ns = (wall_end - wall).as_nanos() as f64;
    let mut notes = datastore.engine_notes();
    let (monitor, unwatched) = monitor;
    notes.extend(unwatched);
    let (mut incidents, mut lost) = (Vec::new(), None);
    let mut joined: Option<(Sample, CpuUsage)> = None;
    for WorkerEnd { sample, cpu, pinned, farewell, target_unknown } in ends {
        incidents.extend(farewell.incidents);
        lost = lost.or(farewell.lost);
        notes.extend(target_unknown.filter(TargetUnknown::is_worth_a_note).map(|e| e.to_string()));
        let unpinned = "a driving thread could not be pinned to a CPU".to_owned();
        if !pinned && !notes.contains(&unpinned) {
            notes.push(unpinned);
        }
        match &mut joined {
            None => joined = Some((sample, cpu)),
            Some((all, usage)) => {
                all.merge(sample);
                usage.merge_thread(&cpu);
            }
        }
    }
    let (mut sample, cpu) = joined.ok_or_else(|| RunError::Thread("none was started".into()))?;
    if sample.ended == Ended::Completed
        && let Some(reason) = lost
    {
        sample.ended = Ended::Lost { reason };
    }
    let clock_deviation = (clock_ns / wall_ns - 1.0).abs();
    Ok(TrialEnd { sample, cpu, clock_deviation, notes, incidents: gather(incidents), monitor })
}

impl TrialEnd {
    /// Why this is no measurement, if it is none.
    pub fn failure(&self) -> Option<String> {
        /// A crystal is good to far better than this; more means that one of the clocks jumped.
        const CLOCKS_DISAGREE: f64 = 0.01;
        if self.clock_deviation > CLOCKS_DISAGREE {
            return Some(format!(
                "the processor's counter and the system's clock disagree by {:.1} % about the \
                 length of the trial, so no latency can be trusted; was the machine suspended or \
                 moved?",
                self.clock_deviation * 100.0
            ));
        }
        match &self.sample.ended {
            Ended::Completed => None,
            ended => {
                let first = self.sample.faults.first();
                let first = first.map(|fault| format!("; first: {fault}")).unwrap_or_default();
                let wrong =
                    self.sample.verified.as_ref().and_then(|found| found.corruptions.first());
                let wrong =
                    wrong.map(|it| format!("; a block was wrong: {it}")).unwrap_or_default();
                Some(format!("{ended}{first}{wrong}"))
            }
        }
    }
}

/// The system's clock and the driver's, read as nearly together as the machine allows: a
/// preemption between the two would look like a clock that jumped.
fn both_clocks(clock: &mut RealClock) -> (Instant, u64) {
    const TOGETHER: Duration = Duration::from_micros(20);
    let mut best: Option<(Duration, Instant, u64)> = None;
    for _ in 0..100 {
        let before = Instant::now();
        let now_ns = clock.now_ns();
        let apart = before.elapsed();
        if best.is_none_or(|(least, ..)| apart < least) {
            best = Some((apart, before, now_ns));
        }
        if apart < TOGETHER {
            break;
        }
    }
    best.map_or_else(|| (Instant::now(), clock.now_ns()), |(_, at, now_ns)| (at, now_ns))
}

/// What all threads did in about the same interval.
fn sum<'a>(rows: impl Iterator<Item = &'a Interval>) -> Interval {
    let mut all = Interval::default();
    for row in rows {
        all.start_ns = all.start_ns.max(row.start_ns);
        all.length_ns = all.length_ns.max(row.length_ns);
        all.reads.merge(&row.reads);
        all.writes.merge(&row.writes);
    }
    all
}

/// The VMs in equal, contiguous shares.
fn split(run: &TrialRun<'_>, threads: u32, verify: bool) -> Vec<Trial> {
    (0..threads)
        .map(|index| {
            let first_disk = (u64::from(run.vms) * u64::from(index) / u64::from(threads)) as u32;
            let end = (u64::from(run.vms) * u64::from(index + 1) / u64::from(threads)) as u32;
            Trial {
                workload: run.workload.clone(),
                first_disk,
                disks: end - first_disk,
                disk_bytes: run.disk_bytes,
                seed: run.seed,
                ramp_ns: run.timing.ramp_ns,
                duration_ns: run.timing.duration_ns,
                interval_ns: run.timing.interval_ns,
                limits: limits(run, verify),
                verify,
            }
        })
        .collect()
}

/// In an open loop the number of buffers is ours to choose: as many as half a gibibyte holds.
fn limits(run: &TrialRun<'_>, verify: bool) -> Limits {
    const OPEN_LOOP_BYTES: u32 = 512 << 20;
    let workload = run.workload;
    let mut room = (OPEN_LOOP_BYTES / (2 * workload.largest_bytes().max(4096))).clamp(16, 1024);
    if verify {
        // No more than can be kept from overlapping, were all of them on one disk.
        room = room.min(workload.most_outstanding_verified(run.disk_bytes));
    }
    Limits { open_loop_outstanding: room, ..Limits::default() }
}

fn check_memory(trials: &[Trial]) -> Result<(), RunError> {
    let mut needed = 0u64;
    let mut outstanding = 0u64;
    for needs in trials.iter().map(Trial::buffer_needs) {
        needed += u64::from(needs.count) * u64::from(needs.bytes.next_multiple_of(4096));
        outstanding += u64::from(needs.in_flight);
    }
    match memory_bytes("MemAvailable") {
        Some(available) if needed > available / 2 => Err(RunError::Memory {
            outstanding,
            needed: format_bytes(needed),
            available: format_bytes(available),
        }),
        _ => Ok(()),
    }
}

struct Worker<'a> {
    trial: &'a Trial,
    datastore: &'a Datastore,
    expectations: Option<LentExpectations<'a>>,
    clock: RealClock,
    cancel: &'a AtomicBool,
    cpu: usize,
    /// The first thread reads process, host and target too.
    index: usize,
    target: &'a FoundTarget,
    ready: Sender<Result<(), DatastoreError>>,
    rows: Sender<(usize, Interval)>,
    start: Receiver<u64>,
}

struct WorkerEnd {
    sample: Sample,
    cpu: CpuUsage,
    pinned: bool,
    farewell: Farewell,
    /// Said by the first thread.
    target_unknown: Option<TargetUnknown>,
}

impl Worker<'_> {
    /// `None` if its disks could not be opened.
    fn run(mut self) -> Option<WorkerEnd> {
        let trial = self.trial;
        let needs = trial.buffer_needs();
        let open = OpenDisks {
            buffers: needs.count,
            buffer_bytes: needs.bytes,
            in_flight: needs.in_flight,
        };
        let range = trial.first_disk..trial.first_disk + trial.disks;
        let mut disks = match self.datastore.disks(range, open) {
            Ok(disks) => disks,
            Err(error) => {
                let _ = self.ready.send(Err(error));
                return None;
            }
        };
        // After the disks are open: the threads of the positional engine are not to be pinned with
        // this one.
        let pinned = pin_to(self.cpu);
        // Timers as exact as the system can make them: an open loop sleeps until a request is due.
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut watcher = Watcher {
            cancel: self.cancel,
            rows: &self.rows,
            thread: self.index,
            target: (self.index == 0).then_some(self.target),
            opened: Reading::default(),
            target_opened: None,
            used: None,
            target_unknown: None,
        };
        let (clock, expectations) = (&mut self.clock, self.expectations);
        let (ready, start) = (self.ready, self.start);
        let start = || {
            let _ = ready.send(Ok(()));
            // Who waits for the others must not wait for this one any longer.
            drop(ready);
            start.recv().ok()
        };
        // One loop is compiled for each kind of disks, so that the calls between them are inlined.
        let sample = match &mut disks {
            DiskSet::Null(disks) => {
                drive_with(trial, start, disks, clock, &mut watcher, expectations)
            }
            DiskSet::Files(disks) => {
                drive_with(trial, start, disks, clock, &mut watcher, expectations)
            }
            DiskSet::Nfs(disks) => {
                drive_with(trial, start, disks, clock, &mut watcher, expectations)
            }
            DiskSet::Iscsi(disks) => {
                drive_with(trial, start, disks, clock, &mut watcher, expectations)
            }
        }
        // The plan was checked before any thread was started.
        .ok()?;
        let cpu = watcher.used.unwrap_or_default();
        let target_unknown = watcher.target_unknown;
        Some(WorkerEnd { sample, cpu, pinned, farewell: disks.finish(), target_unknown })
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

struct Watcher<'a> {
    cancel: &'a AtomicBool,
    rows: &'a Sender<(usize, Interval)>,
    thread: usize,
    target: Option<&'a FoundTarget>,
    opened: Reading,
    target_opened: Option<Result<Opened<'a>, TargetUnknown>>,
    used: Option<CpuUsage>,
    target_unknown: Option<TargetUnknown>,
}

impl Observer for Watcher<'_> {
    fn window_opened(&mut self) {
        let found = self.target.and_then(OnceLock::get);
        self.target_opened =
            found.map(|found| found.as_ref().map_err(TargetUnknown::clone).and_then(Target::open));
        self.opened = Reading::now(self.thread == 0);
    }

    fn interval(&mut self, row: &Interval) {
        let _ = self.rows.send((self.thread, *row));
    }

    fn window_closed(&mut self) {
        let mut used = Reading::now(self.thread == 0).since(&self.opened);
        match self.target_opened.take().map(|opened| opened?.spent_ns()) {
            Some(Ok(spent_ns)) => used.target_ns = Some(spent_ns),
            Some(Err(unknown)) => self.target_unknown = Some(unknown),
            None => {}
        }
        self.used = Some(used);
    }

    fn cancelled(&mut self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// How long a trial lasts, with a little for opening and draining.
pub(crate) fn trial_length(timing: Timing) -> Duration {
    Duration::from_nanos(timing.ramp_ns + timing.duration_ns + 20_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::{SPENT_NS, TRIES, alone, busy_server};

    /// What the watcher of that thread says of a window in which `during` happened.
    fn watched(
        thread: usize,
        found: &FoundTarget,
        during: impl FnOnce(),
    ) -> (CpuUsage, Option<TargetUnknown>) {
        let (rows, _) = mpsc::channel();
        let mut watcher = Watcher {
            cancel: &AtomicBool::new(false),
            rows: &rows,
            thread,
            target: (thread == 0).then_some(found),
            opened: Reading::default(),
            target_opened: None,
            used: None,
            target_unknown: None,
        };
        watcher.window_opened();
        during();
        watcher.window_closed();
        (watcher.used.unwrap(), watcher.target_unknown)
    }

    #[test]
    fn the_first_thread_counts_what_the_target_spends_in_the_window() {
        let _alone = alone();
        let (_server, address) = busy_server();
        let until_it_spent = || {
            let target = Target::at(&[address]).unwrap();
            let opened = target.open().unwrap();
            for _ in 0..TRIES {
                if opened.spent_ns().unwrap() >= SPENT_NS {
                    return;
                }
                thread::yield_now();
            }
        };
        until_it_spent();
        let found = FoundTarget::new();
        found.set(Target::at(&[address])).unwrap();
        let (cpu, unknown) = watched(0, &found, until_it_spent);
        assert_eq!(unknown, None);
        assert!(cpu.target_ns >= Some(SPENT_NS), "{cpu:?}");
        let (cpu, unknown) = watched(1, &found, || {});
        assert_eq!((cpu.target_ns, unknown), (None, None));
    }

    #[test]
    fn without_a_target_the_trial_says_why() {
        let found = FoundTarget::new();
        found.set(Target::at(&[])).unwrap();
        let (cpu, unknown) = watched(0, &found, || {});
        assert_eq!((cpu.target_ns, unknown), (None, Some(TargetUnknown::NoServer)));
    }
}
