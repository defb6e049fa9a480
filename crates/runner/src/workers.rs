//! Threads that drive a trial together: each opens its disks, is pinned to a CPU and reports ready; all start at the
//! same instant; their results are merged.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use stormeter_datastore::{CloseSummary, Datastore, DatastoreError, OpenDisks, RealClock};
use stormeter_disk::{Clock, Incidents};
use stormeter_trial::{
    BufferNeeds, CpuUsage, Ended, MonitorRow, NoteFact, Sample, TargetUnknown, TrialNote,
};
use stormeter_units::format_bytes;

use crate::account::{Account, FoundTarget, Moment, Reader, Whole};
use crate::error::RunError;
use crate::machine::{allowed_cpus, memory_bytes, pin_to};
use crate::monitor::Monitor;
use crate::progress::{Progress, Seen};
use crate::rows::Rows;
use crate::target::Target;
use crate::trial_end::TrialEnd;
use crate::watcher::{Watcher, WorkerEvent};

/// The time between "all threads are ready" and the common start.
const START_DELAY_NS: u64 = 2_000_000;
/// Different incidents listed of a trial.
const MOST_INCIDENTS: usize = 20;

/// Called when all threads are ready; returns the time of the start. On an error the threads end.
pub(crate) type Starter<'a> = &'a mut dyn FnMut(&mut RealClock) -> Result<u64, RunError>;

/// Starts as soon as all threads can have learned of it.
pub(crate) fn at_once(clock: &mut RealClock) -> Result<u64, RunError> {
    Ok(clock.now_ns() + START_DELAY_NS)
}

/// The work of one thread.
pub(crate) trait Job: Send {
    /// What it drives; opened on the thread itself.
    type Tools;

    /// Whether what was written may reach storage only when it is closed.
    const SETTLES: bool = true;

    /// Whether its thread is pinned to a CPU, and what that starts, too.
    const PINS: bool = true;

    /// Opens it.
    fn open(&mut self) -> Result<Self::Tools, DatastoreError>;

    /// Works from the start on, whose time it requests when all is ready. `None` if it could not start.
    fn work(
        self,
        tools: &mut Self::Tools,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Option<Sample>;

    /// Closes what it drives, after the windows of all threads: written data is on storage when it returns, unless
    /// `give_up` says that no trial follows that could be disturbed.
    fn leave(tools: Self::Tools, give_up: &dyn Fn() -> bool) -> CloseSummary;
}

/// When the windows of the threads close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Windows {
    /// All at the same instant, when the time is up.
    Together,
    /// Each when its work is done; the trial's window closes with the last one.
    OneByOne,
}

/// The context in which threads work.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    pub(crate) datastore: &'a Datastore,
    pub(crate) clock: &'a RealClock,
    pub(crate) cancel: &'a AtomicBool,
    pub(crate) windows: Windows,
    /// How often the host's activity is read.
    pub(crate) interval_ns: u64,
    /// The first thread's CPU, among those that this process may use: processes that share a machine must not all start
    /// with the first CPU.
    pub(crate) first_cpu: usize,
}

impl Workers<'_> {
    /// Runs the jobs, each on a thread, from the time that `starter` returns.
    pub(crate) fn carry_out<J: Job>(
        self,
        jobs: Vec<J>,
        starter: Starter<'_>,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let Workers { datastore, clock, cancel, windows, interval_ns, first_cpu } = self;
        let cpus = allowed_cpus();
        let count = jobs.len();
        let is_watched = progress.watches();
        let mut clock_here = clock.clone();
        let mut others = datastore.other_runs();
        let (wall, begin_ns) = both_clocks(&mut clock_here);
        let (ready_in, ready) = mpsc::channel::<Result<(), DatastoreError>>();
        let (events_in, events) = mpsc::channel::<WorkerEvent>();
        let target = FoundTarget::new();
        let (ends, account, (monitor, unwatched)) = thread::scope(|scope| {
            let mut handles = Vec::new();
            let mut starters: Vec<Sender<u64>> = Vec::new();
            let mut reader = Some(Reader::new(&target, Whole::now));
            // If all threads share one window, the first thread reports its ends to the reader of the accounts that
            // belong to all; if windows close one by one, this thread reads them after the last.
            let mut telling = None;
            let mut reading = None;
            if windows == Windows::Together
                && let Some(reader) = reader.take()
            {
                let (moments_in, moments) = mpsc::channel::<Moment>();
                telling = Some(moments_in);
                let handle = thread::Builder::new()
                    .name("account".into())
                    .spawn_scoped(scope, move || reader.wait(&moments))
                    .map_err(|error| RunError::Thread(error.to_string()))?;
                reading = Some(handle);
            }
            for (index, job) in jobs.into_iter().enumerate() {
                let (start_in, start) = mpsc::channel();
                let worker = Worker {
                    job,
                    clock: clock.clone(),
                    cancel,
                    cpu: cpus[(first_cpu + index) % cpus.len()],
                    is_watched,
                    reader: telling.take(),
                    ready: ready_in.clone(),
                    events: events_in.clone(),
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
            drop((events_in, ready_in));
            // Each thread reports once whether its disks are open; on an error the starters are dropped, which ends
            // the other threads.
            for _ in 0..count {
                let failed = |source| failed(datastore, source);
                let opened = ready.recv().map_err(|_| RunError::Thread("it ended early".into()))?;
                opened.map_err(failed)?;
            }
            let _ = target.set(Target::at(&datastore.peers()));
            let start_ns = starter(&mut clock_here)?;
            // Not earlier: the starter may wait for other hosts.
            if let Some(reader) = &mut reader {
                reader.open(Instant::now());
            }
            let ahead_ns = start_ns.saturating_sub(clock_here.now_ns());
            progress.load_starts(Instant::now() + Duration::from_nanos(ahead_ns));
            let (monitor, activity) = Monitor::start(Duration::from_nanos(interval_ns));
            for starter in &starters {
                // A thread that has ended is noticed when it is joined.
                let _ = starter.send(start_ns);
            }
            let mut rows = Rows::new(count);
            let mut open = count;
            let mut account = None;
            // Ends when the last thread drops its sender.
            while let Ok(event) = events.recv() {
                match event {
                    WorkerEvent::Row(row) => rows.add(&row, progress),
                    WorkerEvent::Latencies(bands) => progress.seen(None, &Seen::Latencies(bands)),
                    WorkerEvent::Closed => open = open.saturating_sub(1),
                }
                for row in activity.try_iter().filter(|_| is_watched) {
                    progress.seen(None, &Seen::Activity(row));
                }
                if open == 0
                    && let Some(reader) = &mut reader
                {
                    account = account.or_else(|| reader.close(Instant::now()));
                }
            }
            rows.finish(progress);
            // All windows are closed: now written data may be flushed to storage.
            drop(starters);
            let mut ends = Vec::new();
            for handle in handles {
                match handle.join() {
                    Ok(Some(end)) => ends.push(end),
                    Ok(None) => return Err(RunError::Thread("it was not started".into())),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            if let Some(reading) = reading {
                account = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            let note = monitor.note().cloned();
            Ok((ends, account, (monitor.stop(), note)))
        })?;
        let (wall_end, end_ns) = both_clocks(&mut clock_here);
        let clock_ns = (end_ns - begin_ns) as f64;
        let wall_ns = (wall_end - wall).as_nanos() as f64;
        let engine = datastore.engine_notes().into_iter();
        let engine = engine.map(|engine| NoteFact::Engine { engine }.into()).collect();
        let mut joined = Joined {
            trial: None,
            notes: engine,
            incidents: Incidents::new(MOST_INCIDENTS),
            lost: None,
            monitor,
        };
        joined.notes.extend(unwatched.map(TrialNote::from));
        if !cancel.load(Ordering::Relaxed) {
            others.extend(datastore.other_runs());
        }
        // A run that was seen before and after the trial counts once.
        others.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        others.dedup();
        others.into_iter().for_each(|other| joined.incidents.note(other.into()));
        // Only if windows differ: a trial that ended early on one thread keeps its own.
        let longest_ns = ends.iter().map(|end: &WorkerEnd| end.sample.window_ns).max();
        for mut end in ends {
            if windows == Windows::OneByOne {
                end.sample = end.sample.over(longest_ns.unwrap_or(0));
            }
            joined.add(end);
        }
        if let Some(account) = account {
            joined.add_account(account);
        }
        joined.end((clock_ns / wall_ns - 1.0).abs())
    }
}

/// The runner's error for a datastore that cannot be used.
pub(crate) fn failed(datastore: &Datastore, source: DatastoreError) -> RunError {
    RunError::Datastore { url: datastore.description().url.to_string(), source }
}

/// What a thread's disks are opened with.
pub(crate) fn open_disks(needs: BufferNeeds) -> OpenDisks {
    OpenDisks { buffers: needs.count, buffer_bytes: needs.bytes, in_flight: needs.in_flight }
}

/// Refuses buffers that take more than half of the available memory.
pub(crate) fn check_memory(
    buffers: impl Iterator<Item = BufferNeeds>,
    other_bytes: u64,
) -> Result<(), RunError> {
    let mut needed = other_bytes;
    let mut outstanding = 0u64;
    for needs in buffers {
        let one = u64::from(needs.bytes.next_multiple_of(4096));
        needed = needed.saturating_add(u64::from(needs.count) * one);
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

/// The system's clock and the driver's, read as close together as the machine allows: a preemption between the two
/// would look like a jump of a clock.
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

struct Worker<'a, J> {
    job: J,
    clock: RealClock,
    cancel: &'a AtomicBool,
    cpu: usize,
    is_watched: bool,
    /// The reader of the accounts that belong to all threads, if this thread reports the ends of the window to it.
    reader: Option<Sender<Moment>>,
    ready: Sender<Result<(), DatastoreError>>,
    events: Sender<WorkerEvent>,
    start: Receiver<u64>,
}

struct WorkerEnd {
    sample: Sample,
    cpu: CpuUsage,
    is_pinned: bool,
    close_summary: CloseSummary,
}

impl<J: Job> Worker<'_, J> {
    /// `None` if its disks could not be opened.
    fn run(mut self) -> Option<WorkerEnd> {
        let mut tools = match self.job.open() {
            Ok(tools) => tools,
            Err(error) => {
                let _ = self.ready.send(Err(error));
                return None;
            }
        };
        // After the disks are open: the threads of the positional engine must not inherit the pinning.
        let is_pinned = !J::PINS || pin_to(self.cpu);
        // Timers as exact as the system can make them: an open loop sleeps until a request is due.
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut watcher = Watcher::new(self.cancel, &self.events, self.is_watched, self.reader);
        let (ready, starter) = (self.ready, self.start);
        let start = || {
            let _ = ready.send(Ok(()));
            // Threads that wait for the others must no longer wait for this one.
            drop(ready);
            starter.recv().ok()
        };
        let mut sample = self.job.work(&mut tools, start, &mut self.clock, &mut watcher)?;
        let cpu = watcher.finish();
        // A flush while another thread still measures would be in its window.
        drop(self.events);
        let _ = starter.recv();
        let ended_ns = self.clock.now_ns();
        let close_summary = J::leave(tools, &|| self.cancel.load(Ordering::Relaxed));
        if J::SETTLES {
            sample.settled_ns = self.clock.now_ns().saturating_sub(ended_ns);
        }
        Some(WorkerEnd { sample, cpu, is_pinned, close_summary })
    }
}

/// The merged results of all threads.
struct Joined {
    trial: Option<(Sample, CpuUsage)>,
    notes: Vec<TrialNote>,
    incidents: Incidents,
    lost: Option<String>,
    monitor: Vec<MonitorRow>,
}

impl Joined {
    fn add(&mut self, end: WorkerEnd) {
        let WorkerEnd { sample, cpu, is_pinned, close_summary } = end;
        close_summary.incidents.into_iter().for_each(|incident| self.incidents.add(incident));
        self.lost = self.lost.take().or(close_summary.lost);
        let unpinned = TrialNote::from(NoteFact::NotPinned);
        if !is_pinned && !self.notes.contains(&unpinned) {
            self.notes.push(unpinned);
        }
        match &mut self.trial {
            None => self.trial = Some((sample, cpu)),
            Some((all, usage)) => {
                all.merge(sample);
                usage.merge_thread(&cpu);
            }
        }
    }

    /// Adds the accounts that belong to all threads, read by a thread that does not drive.
    fn add_account(&mut self, account: Account) {
        let Account { cpu, target_unknown } = account;
        let worth = target_unknown.filter(TargetUnknown::is_worth_a_note);
        self.notes.extend(worth.map(|why| NoteFact::TargetUnknown { why }.into()));
        let Some((_, usage)) = &mut self.trial else { return };
        usage.process_ns = cpu.process_ns;
        usage.tool_ns = cpu.tool_ns;
        usage.host = cpu.host;
        usage.pressure = cpu.pressure;
        usage.late_ns = cpu.late_ns;
        usage.target_ns = cpu.target_ns;
    }

    fn end(mut self, clock_deviation: f64) -> Result<TrialEnd, RunError> {
        let (mut sample, mut cpu) =
            self.trial.ok_or_else(|| RunError::Thread("none was started".into()))?;
        if sample.ended == Ended::Completed
            && let Some(reason) = self.lost
        {
            sample.ended = Ended::Lost { reason };
        }
        let incidents = self.incidents.take();
        let (notes, monitor) = (self.notes, self.monitor);
        cpu.take_off_spinning(sample.spun_ns);
        Ok(TrialEnd {
            sample,
            cpu,
            clock_deviation,
            notes,
            incidents,
            monitor,
            hosts: Vec::new(),
            guests: Vec::new(),
            modelled: None,
        })
    }
}
